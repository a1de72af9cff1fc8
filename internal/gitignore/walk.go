package gitignore

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
)

// Found is a file or directory that a walk came by.
type Found struct {
	Path  string // absolute
	Rel   string // below the start, with slashes
	IsDir bool
	File  bool // a regular file
}

// Walk yields all that is below dir and not ignored, dotfiles included, in the
// byte order of the paths, where those of directories end in a slash. It does
// not follow links and does not enter .git. It skips directories that cannot be read.
//
// It goes from directory to directory rather than through many at once: the
// order comes for free, a search with a limit ends early, and each directory
// has the rules of the ones above at hand.
func Walk(ctx context.Context, dir string, r *Rules) iter.Seq[Found] {
	return func(yield func(Found) bool) {
		walkInto(ctx, dir, "", r, yield)
	}
}

// walkInto walks one directory below the start of a walk; rel is its path from there,
// with a slash at the end. It returns false if the walk is to end.
func walkInto(ctx context.Context, dir, rel string, r *Rules, yield func(Found) bool) bool {
	if ctx.Err() != nil {
		return false
	}
	entries, _ := os.ReadDir(dir)
	sort.Slice(entries, func(i, j int) bool { return sortKey(entries[i]) < sortKey(entries[j]) })
	for _, e := range entries {
		f := Found{Path: filepath.Join(dir, e.Name()), Rel: rel + e.Name(), IsDir: e.IsDir(), File: e.Type().IsRegular()}
		if f.IsDir && e.Name() == ".git" || r.Ignores(f.Path, f.IsDir) {
			continue
		}
		if !yield(f) {
			return false
		}
		if f.IsDir && !walkInto(ctx, f.Path, f.Rel+"/", r.With(f.Path), yield) {
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
