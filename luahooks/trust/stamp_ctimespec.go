//go:build darwin || freebsd || netbsd

package trust

import (
	"io/fs"
	"syscall"
	"time"
)

// inodeOf returns what the system says of a file beyond its size: ok is false if it does not.
func inodeOf(info fs.FileInfo) (dev, ino uint64, changed time.Time, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, changed, false
	}
	return uint64(s.Dev), s.Ino, time.Unix(s.Ctimespec.Unix()), true
}
