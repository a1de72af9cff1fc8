//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// keysNotSignals makes Ctrl+C and its like keys as any other in the mode that
// the terminal is in, so that they keep their place among the other keys.
func keysNotSignals(tty *os.File) error {
	mode, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
	if err == nil {
		mode.Lflag &^= unix.ISIG
		err = unix.IoctlSetTermios(int(tty.Fd()), setTermios, mode)
	}
	if err != nil {
		return fmt.Errorf("set terminal mode: %w", err)
	}
	return nil
}

// unread counts the bytes that were typed and not read yet.
func unread(tty *os.File) int {
	n, err := unix.IoctlGetInt(int(tty.Fd()), countUnread)
	if err != nil {
		return 0
	}
	return n
}
