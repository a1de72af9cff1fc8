//go:build darwin || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA

	countUnread = 0x4004667f // FIONREAD

	noCharacter = 0xff // in place of one that the system would act on
)
