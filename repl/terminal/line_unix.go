//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lineMode is how the system treats what is typed: as lines that it edits, or as keys.
type lineMode struct{ termios unix.Termios }

// readLineMode returns the present mode of a terminal.
func readLineMode(tty *os.File) (lineMode, error) {
	mode, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
	if err != nil {
		return lineMode{}, fmt.Errorf("read terminal mode: %w", err)
	}
	return lineMode{*mode}, nil
}

// set puts a terminal into the mode.
func (m lineMode) set(tty *os.File) error {
	if err := unix.IoctlSetTermios(int(tty.Fd()), setTermios, &m.termios); err != nil {
		return fmt.Errorf("set terminal mode: %w", err)
	}
	return nil
}

// keys is the mode in which each key is sent at once, none is shown, and none is a signal.
func (m lineMode) keys() lineMode {
	t := &m.termios
	t.Iflag &^= unix.BRKINT | unix.ICRNL | unix.INLCR | unix.IGNCR | unix.INPCK | unix.ISTRIP | unix.IXON
	t.Cflag |= unix.CS8
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.IEXTEN | unix.ISIG
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return m
}

// silent is the mode in which the system sends each key and shows none. Ctrl+C is a signal,
// which drops nothing of what was typed before; Ctrl+Z is a key.
func (m lineMode) silent() lineMode {
	t := &m.termios
	t.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR | unix.ISTRIP
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.IEXTEN
	t.Lflag |= unix.ISIG | unix.NOFLSH
	t.Cc[unix.VMIN], t.Cc[unix.VTIME], t.Cc[unix.VSUSP] = 1, 0, noCharacter
	return m
}

// is reports whether a terminal is in the mode.
func (m lineMode) is(tty *os.File) bool {
	now, err := readLineMode(tty)
	return err == nil && now.termios.Lflag == m.termios.Lflag && now.termios.Iflag == m.termios.Iflag && now.termios.Oflag == m.termios.Oflag
}

// unread counts the bytes that were typed and not read yet.
func unread(tty *os.File) int {
	n, err := unix.IoctlGetInt(int(tty.Fd()), countUnread)
	if err != nil {
		return 0
	}
	return n
}
