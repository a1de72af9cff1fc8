package cli

import (
	"syscall"
	"testing"
)

func TestTheFirstSignalDecidesAboutTheStatus(t *testing.T) {
	for _, tt := range []struct {
		name    string
		signals []syscall.Signal
		status  int
	}{
		{"none", nil, 0},
		{"HUP", []syscall.Signal{syscall.SIGHUP}, 129},
		{"INT", []syscall.Signal{syscall.SIGINT}, 130},
		{"TERM", []syscall.Signal{syscall.SIGTERM}, 143},
		{"HUP, then TERM at a terminal", []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}, 129},
	} {
		ended := 0
		s := newSignals(nil, func() { ended++ })
		for _, got := range tt.signals {
			s.handle(got)
		}
		if got := s.status(); got != tt.status || ended != min(len(tt.signals), 1) {
			t.Errorf("%s: the status is %d, want %d; the run was ended %d times", tt.name, got, tt.status, ended)
		}
	}
}
