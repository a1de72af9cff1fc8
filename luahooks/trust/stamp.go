package trust

import (
	"io/fs"
	"os"
	"time"
)

// stamp is what tells that a file was not changed, without reading it. The zero stamp tells
// nothing, so that the file is read.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // ns
}

// A file that is changed twice within one step of the clock of its file system has one time
// for both. So a file that changed a moment ago has no stamp; where whole seconds are
// written down, a moment is longer.
const (
	moment     = 100 * time.Millisecond
	longMoment = 2 * time.Second
)

// stampOf returns the stamp of a file that is looked at now.
func stampOf(info fs.FileInfo, now time.Time) stamp {
	dev, ino, changed, ok := inodeOf(info)
	wait := moment
	if changed.Nanosecond() == 0 {
		wait = longMoment
	}
	if !ok || now.Sub(changed) < wait {
		return stamp{}
	}
	return stamp{dev, ino, info.Size(), info.ModTime().UnixNano(), changed.UnixNano()}
}

// stampAt is stampOf for the file that path leads to.
func stampAt(path string, now time.Time) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stampOf(info, now)
}

// tells reports whether the stamp tells anything.
func (s stamp) tells() bool { return s != stamp{} }
