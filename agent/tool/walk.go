package tool

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
)

// found is a file or directory that a walk came by.
type found struct {
	path  string // absolute
	rel   string // below the start, with slashes
	isDir bool
	file  bool // a regular file
}

// walk yields all that is below dir and not ignored, dotfiles included, in the
// byte order of the paths, where those of directories end in a slash. It does
// not follow links and does not enter .git. It skips directories that cannot be read.
//
// It goes from directory to directory rather than through many at once: the
// order comes for free, a search with a limit ends early, and each directory
// has the rules of the ones above at hand.
func walk(ctx context.Context, dir string, r *rules) iter.Seq[found] {
	return func(yield func(found) bool) {
		walkInto(ctx, dir, "", r, yield)
	}
}

// walkInto walks one directory below the start of a walk; rel is its path from there,
// with a slash at the end. It returns false if the walk is to end.
func walkInto(ctx context.Context, dir, rel string, r *rules, yield func(found) bool) bool {
	if ctx.Err() != nil {
		return false
	}
	entries, _ := os.ReadDir(dir)
	sort.Slice(entries, func(i, j int) bool { return sortKey(entries[i]) < sortKey(entries[j]) })
	for _, e := range entries {
		f := found{path: filepath.Join(dir, e.Name()), rel: rel + e.Name(), isDir: e.IsDir(), file: e.Type().IsRegular()}
		if f.isDir && e.Name() == ".git" || r.ignores(f.path, f.isDir) {
			continue
		}
		if !yield(f) {
			return false
		}
		if f.isDir && !walkInto(ctx, f.path, f.rel+"/", r.with(f.path), yield) {
			return false
		}
	}
	return true
}

// sortKey is the name of an entry, with a slash for a directory.
func sortKey(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}
