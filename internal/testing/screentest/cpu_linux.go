package screentest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// CPU is the processor time that the program's threads have used.
func (s *Terminal) CPU() time.Duration {
	s.t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		s.t.Fatalf("the processor time of the program is not known: %v", err)
	}
	var sum time.Duration
	for _, task := range tasks {
		if b, err := os.ReadFile(task); err == nil { // a thread may end meanwhile
			var ran int64
			fmt.Sscan(strings.Fields(string(b))[0], &ran)
			sum += time.Duration(ran)
		}
	}
	return sum
}

// Memory is the program's resident memory in bytes.
func (s *Terminal) Memory() int {
	s.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	var size, resident int
	fmt.Sscan(string(b), &size, &resident)
	return resident * os.Getpagesize()
}
