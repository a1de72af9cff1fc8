//go:build !unix

package tool

import (
	"os"
	"os/exec"
	"strconv"
	"time"
)

func ownGroup(*exec.Cmd) {}

// GroupAlive reports whether a process group has a process: here nobody can tell.
func GroupAlive(int) bool { return false }

// stopGroup ends a process and its children. There is no asking first here.
func stopGroup(pid int, _ time.Duration) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() == nil {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func ending(s *os.ProcessState) (exit *int, signal string) {
	code := s.ExitCode()
	return &code, ""
}

// interrupt cannot be done here: the reader stays until the pipe is closed.
func interrupt(*os.File) bool { return false }

func adopt(*os.File) {}

// OwnGroup is the process group of this program; 0: there are none.
func OwnGroup() int { return 0 }
