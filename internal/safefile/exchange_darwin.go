package safefile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step; [errNoExchange]: the file system cannot.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return errNoExchange
	}
	return err
}
