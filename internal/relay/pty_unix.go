//go:build linux || darwin || freebsd || netbsd || openbsd

package relay

import (
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// open makes a terminal whose line is treated as that of the user is: with the same
// keys for erasing and for signals.
func open(like *os.File) (master, slave *os.File, err error) {
	blocking, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	if mode, err := unix.IoctlGetTermios(int(like.Fd()), getTermios); err == nil {
		_ = unix.IoctlSetTermios(int(slave.Fd()), setTermios, mode)
	}
	fd, err := syscall.Dup(int(blocking.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
		err = syscall.SetNonblock(fd, true) // so that it can be closed while it is read
	}
	if err != nil {
		slave.Close()
		return nil, nil, err
	}
	return os.NewFile(uintptr(fd), blocking.Name()), slave, nil
}

// control calls f with the descriptor of a file, and leaves the file in its mode.
func control(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) { err = f(int(fd)) })
	if failed != nil {
		return failed
	}
	return err
}

// line is how the system treats what is typed at the command's terminal.
func line(master *os.File) (mode *unix.Termios, err error) {
	err = control(master, func(fd int) (err error) {
		mode, err = unix.IoctlGetTermios(fd, getTermios)
		return err
	})
	return mode, err
}

// foreground is the process group that the keys of the command's terminal are for.
func foreground(master *os.File) (group int, err error) {
	err = control(master, func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group, err
}

// unread returns what was typed and not read by the command.
func (r *run) unread() []byte {
	if r.keys.dropped {
		return nil
	}
	fd, err := unix.Open(r.slave, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	mode, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil
	}
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(fd, setTermios, mode); err != nil {
		return nil
	}
	typed := make([]byte, mostUnread)
	n, err := unix.Read(fd, typed)
	if err != nil || n < 0 {
		return nil
	}
	return typed[:n]
}

// mostUnread is as much as the system keeps of what nobody reads.
const mostUnread = 8 << 10
