//go:build !unix

package luahooks

import (
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func handle(fd uintptr) syscall.Handle { return syscall.Handle(fd) }
