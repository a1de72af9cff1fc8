//go:build unix

package process

import (
	"errors"
	"syscall"
)

// Running reports whether there is a process with this id that has not ended. One that
// may not be asked about counts; one that nobody waits for does not, where that can be
// told.
func Running(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil && !isZombie(pid) || errors.Is(err, syscall.EPERM)
}
