package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Target returns the file that path leads to through symbolic links, which need not be
// there: to replace that one leaves the links as they are. The error says that the links
// lead round.
func Target(path string) (string, error) {
	const most = 40 // as the systems have it
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			if _, lost := os.Lstat(path); lost != nil && !errors.Is(lost, fs.ErrNotExist) {
				return "", lost
			}
			return inRealFolder(path), nil
		}
		if !filepath.IsAbs(to) {
			folder, _ := filepath.Split(path)
			to = folder + to // not cleaned: what is before .. may be a link
		}
		path = to
	}
	return "", &fs.PathError{Op: "follow", Path: path, Err: errors.New("too many links")}
}

// inRealFolder returns path with the links of its folder followed, or as it is, if that
// is not there.
func inRealFolder(path string) string {
	folder, name := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(folder); err == nil && folder != "" {
		return filepath.Join(real, name)
	}
	return path
}
