//go:build unix

package repl

import "testing"

func TestWaitsOfSeveralRequestsAtOnceLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/waits")
	s.see("both waited")
	s.prompt("")
	s.enter("hello")
	s.see(`you said "hello"`)
	s.prompt("")
	s.typeKeys("\x04")
	if err := s.leave(); err != nil {
		t.Errorf("%v:\n%s", err, s.text())
	}
}
