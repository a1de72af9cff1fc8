package hooktest

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/internal/process"
)

// Isolate takes from the environment of the process what a case must not depend on, and what
// it must not reach: keys, the repository that git was told of, proxies, the time zone. It is
// for a process that does nothing but run tests, before it begins.
func Isolate() {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); name != "" && !isOfMachine(name) {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("TZ", "UTC")
	time.Local = time.UTC
}

// isOfMachine reports whether a variable says how programs run here at all. None of them is
// about a user.
func isOfMachine(name string) bool {
	if runtime.GOOS == "windows" && slices.Contains([]string{"SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "WINDIR"}, strings.ToUpper(name)) {
		return true
	}
	return slices.Contains([]string{"PATH", "LANG", "TERM", "TMPDIR", "TZ"}, name) || strings.HasPrefix(name, "LC_")
}

// leftover are the process groups of what a case starts. What of them still lives when the
// case has ended, such as a command in the background, is ended. Any goroutine may use it.
type leftover struct {
	mu     sync.Mutex
	groups []int
}

// note remembers a group.
func (l *leftover) note(group int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.groups, group) {
		l.groups = append(l.groups, group)
	}
}

// patienceToEnd is how long a process has between TERM and KILL.
const patienceToEnd = 200 * time.Millisecond

// end ends the groups, and returns when nothing of them lives.
func (l *leftover) end() {
	l.mu.Lock()
	groups := l.groups
	l.groups = nil
	l.mu.Unlock()
	var ends sync.WaitGroup
	for _, group := range groups {
		if process.Alive(group) {
			ends.Go(func() { process.Stop(group, patienceToEnd) })
		}
	}
	ends.Wait()
}
