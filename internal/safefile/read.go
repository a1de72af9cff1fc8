// Package safefile handles files that others may touch at any moment, or may have
// put there.
//
//	Read, Open      take regular files only, so that no named pipe is waited for and
//	                nothing without end is read
//	Lock, Unlock    one process at a time, for as long as it lives
//	Replace         a file as a whole: readers see the old one or the new one
//	Create, Place   a new file as a whole, which takes nobody's name
//	Exchange        a file or folder in the place of another one
//	LockPath        one at a time that reads a file and then replaces it
//	Change          what is in a file, without losing what others write meanwhile
//	Target          the file that a path leads to through links
//	SyncDir         what became of the files of a folder is on the disk
//
// It knows nothing of the rest of the program.
package safefile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
)

// ErrNotRegular says that a path does not lead to a regular file of the size that
// is expected there.
var ErrNotRegular = errors.New("not a regular file of a sensible size")

// Read reads a file of at most so many bytes that others may have put there. It does not
// wait for a named pipe, and a file without an end, as the system has some, is not read
// to it: those and larger ones are [ErrNotRegular].
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadMost(f, most)
}

// Open opens a regular file, and nothing else for longer than a moment; anything else is
// [ErrNotRegular]. The flags are those of os.OpenFile; it makes no file.
func Open(path string, flag int) (*os.File, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, ErrNotRegular // not opened at all: opening a device may have an effect
	}
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, ErrNotRegular)
	}
	return f, nil
}

// ReadMost reads an open file of at most so many bytes; [ErrNotRegular]: it has more.
func ReadMost(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil || info.Size() > most {
		return nil, errors.Join(err, ErrNotRegular)
	}
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead) // at once, unless it grows meanwhile
	if _, err = data.ReadFrom(io.LimitReader(f, most+1)); err == nil && int64(data.Len()) > most {
		return nil, ErrNotRegular
	}
	return data.Bytes(), err
}
