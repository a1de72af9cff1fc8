package screentest

import (
	"os"

	"golang.org/x/sys/unix"
)

// setUTF8 says whether the line erases whole characters while it is not raw.
func setUTF8(tty *os.File, on bool) error {
	modes, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	modes.Iflag &^= unix.IUTF8
	if on {
		modes.Iflag |= unix.IUTF8
	}
	return unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, modes)
}
