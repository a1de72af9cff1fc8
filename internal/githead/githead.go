// Package githead reads which branch of git a directory is on, without running git.
package githead

import (
	"os"
	"path/filepath"
	"strings"

	"pi/internal/printable"
	"pi/internal/safefile"
)

// Branch reads the branch of the git repository that dir is in, without running git;
// "" if it is in none. Without a branch it is the beginning of the commit's hash.
func Branch(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil {
			return headOf(git, info.IsDir())
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// headOf reads the branch from HEAD of a git directory, or of the one that the file of
// a linked work tree names; "" if that cannot be read.
func headOf(git string, isDir bool) string {
	const most = 4 << 10 // bytes; none of these files is larger
	if !isDir {
		b, err := safefile.Read(git, most)
		if err != nil {
			return ""
		}
		target := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(git), target)
		}
		git = target
	}
	b, _ := safefile.Read(filepath.Join(git, "HEAD"), most)
	head := strings.TrimSpace(string(b))
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return printable.Line(branch)
	}
	return printable.Line(head[:min(len(head), 8)])
}
