//go:build unix

package repl

import "syscall"

// sessionLeader makes the pseudo-terminal the controlling one, so that its keys
// are signals.
func sessionLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true}
}
