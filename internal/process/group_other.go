//go:build !unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"time"
)

// Group does nothing: there are no process groups here.
func Group(*exec.Cmd) {}

// Session does nothing.
func Session(*exec.Cmd) {}

// Terminate ends a started command, not what it started. There is no asking here.
func Terminate(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// Kill is Terminate.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// Alive reports whether a process group has a process: here nobody can tell.
func Alive(int) bool { return false }

// Stop ends a process and its children. There is no asking first here.
func Stop(pid int, _ time.Duration) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() == nil {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// CommandOf is "": there are no groups here.
func CommandOf(int) string { return "" }

// Own are the process group of this program and its session: there are none.
func Own() []int { return nil }
