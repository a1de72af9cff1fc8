package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// look is one look at many files, which reads only those that differ by their stamp from
// a version that is known. It keeps what it found out about folders, so it is used at once
// and for one look only.
type look struct {
	home    *home
	folders map[string]seenFolder
}

// seenFolder is a folder on the way to a file.
type seenFolder struct {
	real string // with symbolic links resolved; "": it cannot be known
	why  string // somebody else may change it; "": only this user and root may
}

func (h *home) newLook() *look { return &look{h, map[string]seenFolder{}} }

// onDisk returns what a file is now: was, if its stamp says so, or else what is read.
func (l *look) onDisk(path string, was Version) Version {
	if l.isUnchanged(path, was) {
		return was
	}
	return l.home.onDisk(path)
}

// isUnchanged reports whether the stamp of a file is that of the version was, and the way to
// it the same.
func (l *look) isUnchanged(path string, was Version) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return !was.exists() && !was.stamp.tells() && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR))
	}
	if !was.stamp.tells() || was.Others != "" {
		return false
	}
	real := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(path); err == nil {
			real, err = filepath.EvalSymlinks(path)
		}
		if err != nil || l.folder(filepath.Dir(real)).why != "" {
			return false
		}
	}
	in := l.folder(filepath.Dir(path))
	if real == "" && in.real != "" {
		real = filepath.Join(in.real, filepath.Base(path))
	}
	ofKeys := path == l.home.keys // the way to it is no part of its version
	return in.why == "" && (ofKeys || real == was.real) && stampOf(info, l.home.now()) == was.stamp
}

// folder looks at a folder once.
func (l *look) folder(dir string) seenFolder {
	if f, seen := l.folders[dir]; seen {
		return f
	}
	var f seenFolder
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
	case info.Mode()&fs.ModeSymlink != 0:
		if f.real, err = filepath.EvalSymlinks(dir); err == nil {
			info, err = os.Stat(dir)
		}
	case dir == filepath.Dir(dir):
		f.real = dir
	default:
		if above := l.folder(filepath.Dir(dir)); above.real != "" {
			f.real = filepath.Join(above.real, filepath.Base(dir))
		}
	}
	if err != nil {
		f = seenFolder{}
	} else {
		f.why = OthersMayChange(info)
	}
	l.folders[dir] = f
	return f
}

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
