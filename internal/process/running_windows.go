package process

import (
	"errors"
	"syscall"
)

// Running reports whether there is a process with this id. One that may not be asked
// about counts.
func Running(pid int) bool {
	const queryLimitedInformation = 0x1000
	h, err := syscall.OpenProcess(queryLimitedInformation, false, uint32(pid))
	if err != nil {
		return errors.Is(err, syscall.ERROR_ACCESS_DENIED)
	}
	_ = syscall.CloseHandle(h)
	return true
}
