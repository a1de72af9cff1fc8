//go:build unix

package tool

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// copyOwner gives a new file the owner of the one it will replace, if this
// process may: a root shell must not become the owner of people's files.
func copyOwner(root *os.Root, name string, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = root.Chown(name, int(st.Uid), int(st.Gid))
	}
}

// isBusy reports whether a file could not be renamed because it is a mount.
func isBusy(err error) bool { return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) }
