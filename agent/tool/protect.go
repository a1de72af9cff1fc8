package tool

import (
	"fmt"
	"os"
	"path/filepath"
)

// mayWrite refuses what is protected: the same file or directory under another name
// too, as a file system has that ignores case.
func (k *kit) mayWrite(p place) error {
	for _, protected := range k.Protect {
		real, err := realPath(protected)
		if err != nil {
			continue
		}
		if _, ok := below(real, p.real); ok || leadsThrough(p.real, real) {
			return fmt.Errorf("%s decides which hooks may run; only the person changes it, with pi trust", p.name)
		}
	}
	return nil
}

// leadsThrough reports whether path is a file, or below the directory.
func leadsThrough(path, file string) bool {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if sameFile(path, file) {
			return true
		}
	}
	return false
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
