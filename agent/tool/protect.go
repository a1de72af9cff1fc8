package tool

import (
	"fmt"
	"os"
	"path/filepath"
)

// checkWritable fails for a file that the user has protected, or one in a protected
// directory, also under another name, as on a file system that ignores case.
func (k *kit) checkWritable(p place) error {
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

// checkSecret fails for a file of logins, whatever a tool wants of it.
func (k *kit) checkSecret(p place) error {
	for _, secret := range k.Secret {
		if real, err := realPath(secret); err == nil && (real == p.real || leadsThrough(p.real, real)) {
			return fmt.Errorf("%s has logins, and no tool reads or writes it", p.name)
		}
	}
	return nil
}

// leadsThrough reports whether path, or a directory it is in, is the same file or
// directory as file, under whatever name.
func leadsThrough(path, file string) bool {
	target, err := os.Stat(file)
	if err != nil {
		return false
	}
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if at, err := os.Stat(path); err == nil && os.SameFile(at, target) {
			return true
		}
	}
	return false
}
