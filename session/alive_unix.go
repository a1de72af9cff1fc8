//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// alive reports whether there is a process with this id.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := unix.Kill(pid, 0)
	return err == nil && !ended(pid) || errors.Is(err, unix.EPERM)
}

// ended reports a process that is only there until its parent asks how it ended. It
// is false where the system does not tell.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ") // the name may hold anything
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}
