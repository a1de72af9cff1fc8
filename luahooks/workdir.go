package luahooks

import (
	"path/filepath"
	"strings"
)

// workdir is the working directory of a chain.
type workdir string

// shown is how a path is written in messages: relative below the working directory,
// whole elsewhere.
func (d workdir) shown(path string) string {
	if rel, err := filepath.Rel(string(d), path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return path
}
