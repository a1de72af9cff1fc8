package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"pi/internal/safefile"
)

// maxSize is far above any file written by hand; lines.go bounds how
// much a file may contain.
const maxSize = 256 << 10

// ReadFile reads a file of settings or keys, of at most maxSize bytes. Only regular files
// are read: reading a named pipe would never end. The error does not name the file; it
// wraps [fs.ErrNotExist] if there is none.
func ReadFile(file string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Size() > maxSize:
		err = tooLarge(info.Size())
	default:
		var data []byte
		if data, err = safefile.Read(file, maxSize); err == nil {
			return data, info, nil
		}
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) { // the file is named by the problem
		err = pathErr.Err
	}
	return nil, nil, fmt.Errorf("read settings: %w", err)
}

func tooLarge(size int64) error {
	return fmt.Errorf("%d bytes are too many, at most %d are read%s", size, maxSize, leftOut)
}

// leftOut ends each message about a file beyond the bounds.
const leftOut = "; the file is left out"

// OthersMayRead reports whether the mode of a file lets others than its owner read
// it. It is never so on Windows, whose permissions are no mode bits.
func OthersMayRead(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}
