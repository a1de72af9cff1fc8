//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// foreground makes a group of processes that of the terminal's foreground.
func foreground(group int) {
	_ = unix.IoctlSetPointerInt(int(os.Stdin.Fd()), unix.TIOCSPGRP, group)
}

// foregroundOf is the group of processes in the foreground of the terminal of a master.
func foregroundOf(master *os.File) (group int, err error) {
	conn, err := master.SyscallConn()
	if err != nil {
		return 0, err
	}
	if failed := conn.Control(func(fd uintptr) { group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) }); failed != nil {
		return 0, failed
	}
	return group, err
}
