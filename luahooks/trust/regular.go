package trust

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

// ReadRegular reads a file that others may have put there. It does not wait for a
// named pipe, and what has no end, as some files of the system, is not read to it.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readMost(f, most)
}

// openRegular opens a regular file, and nothing else for longer than a moment.
func openRegular(path string, flag int) (*os.File, error) {
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

func readMost(f *os.File, most int64) ([]byte, error) {
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
