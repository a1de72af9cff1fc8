//go:build unix

package tool

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of the one it will replace, if this
// process may: a root shell must not take people's files from them.
func keepOwner(root *os.Root, name string, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = root.Chown(name, int(st.Uid), int(st.Gid))
	}
}

func busy(err error) bool { return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) }
