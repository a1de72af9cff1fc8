//go:build unix && !linux

package screentest

import "time"

// CPU is the processor time that the program's threads have used; here it is not
// known, and the test is skipped.
func (s *Terminal) CPU() time.Duration {
	s.t.Skip("the processor time of another process is not known here")
	return 0
}

// Memory is the program's resident memory in bytes; here it is not known, and the
// test is skipped.
func (s *Terminal) Memory() int {
	s.t.Skip("the memory of another process is not known here")
	return 0
}
