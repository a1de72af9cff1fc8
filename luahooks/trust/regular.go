package trust

import (
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
	if info, err := f.Stat(); err != nil || info.Size() > most {
		return nil, errors.Join(err, ErrNotRegular)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, ErrNotRegular
	}
	return data, err
}
