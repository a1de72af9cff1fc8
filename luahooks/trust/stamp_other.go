//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package trust

import (
	"io/fs"
	"time"
)

// inodeOf says that the system tells neither inode nor ctime, so that files are read.
func inodeOf(fs.FileInfo) (dev, ino uint64, changed time.Time, ok bool) {
	return 0, 0, changed, false
}
