package tool

import (
	"fmt"
	"os"
)

// mayWrite refuses what is protected: the same file under another name, too.
func (k *kit) mayWrite(p place) error {
	for _, protected := range k.Protect {
		real, err := realPath(protected)
		if err != nil {
			continue
		}
		if _, ok := below(real, p.real); ok || sameFile(real, p.real) {
			return fmt.Errorf("%s decides which hooks may run; only the person changes it, with pi trust", p.name)
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
