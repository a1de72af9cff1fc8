//go:build !unix

package tool

import (
	"os"
)

func exitOf(s *os.ProcessState) (exit *int, signal string) {
	code := s.ExitCode()
	return &code, ""
}

// Status is the exit code; nil if the command was stopped.
func (o *BashOutcome) Status() *int { return o.ExitCode }

// interrupt cannot be done here: the reader stays until the pipe is closed.
func interrupt(*os.File) bool { return false }

func readWaiting(*os.File) (waiting []byte, ended bool) { return nil, false }

func adopt(*os.File) {}
