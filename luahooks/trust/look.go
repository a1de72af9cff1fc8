package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
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
