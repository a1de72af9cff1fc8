package terminal

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS

	countUnread = unix.TIOCINQ

	noCharacter = 0 // in place of one that the system would act on
)
