// Package gitignore tells which files of a project git ignores, and walks through the
// others.
//
// [For] reads the rules that apply in a directory: those of .gitignore, .ignore and
// .git/info/exclude, in it and above it. [Rules.With] adds those of a directory below,
// [Rules.Ignores] decides, and [Walk] does both for all that is below a directory.
//
// It knows nothing of the rest of the program.
package gitignore

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// Rules are the ignore rules of one directory and, through parent, of those above it.
// Only [Rules.With] changes something, the list of what is left out: one goroutine at a
// time may use rules that come from the same start.
type Rules struct {
	parent *Rules
	dir    string // absolute, with slashes
	list   []rule
	total  int        // rules here and above
	large  *oversized // of the whole walk
}

// Bounds of ignore files. Each rule is tried on each file, so a file of rules that is
// larger is left out ([Rules.Oversized]): it may have been put there to make a search endless.
const (
	MaxFile  = 256 << 10 // bytes
	MaxRule  = 1 << 10   // bytes of a line
	MaxRules = 5_000     // of one directory and those above
)

// oversized are the ignore files that go beyond the bounds.
type oversized struct{ files []string }

type rule struct {
	glob    string // matched against the path below the rules' directory
	keep    bool   // the line began with !
	dirOnly bool
}

// ignoreFiles are read in this order; the later wins.
var ignoreFiles = [...]string{".git/info/exclude", ".gitignore", ".ignore"}

// Names are the paths of ignore files below their directory.
func Names() []string { return ignoreFiles[:] }

// None are rules that ignore nothing, to begin a walk with.
func None() *Rules { return &Rules{large: &oversized{}} }

// Oversized are the ignore files that go beyond the bounds, as far as [Rules.With] has come
// by them.
func (r *Rules) Oversized() []string { return r.large.files }

// With returns the rules for what is in dir: those of its ignore files, and r, those of
// its parent. Ignore files that are too large are not used ([Rules.Oversized]).
func (r *Rules) With(dir string) *Rules {
	n := &Rules{parent: r, dir: filepath.ToSlash(dir), total: r.total, large: r.large}
	for _, name := range ignoreFiles {
		path := filepath.Join(dir, filepath.FromSlash(name))
		list, err := readRules(path, MaxRules-n.total)
		if err != nil { // most directories have none
			if errors.Is(err, errSize) && !slices.Contains(r.large.files, path) {
				r.large.files = append(r.large.files, path)
			}
			continue
		}
		n.list, n.total = append(n.list, list...), n.total+len(list)
	}
	if n.list == nil {
		return r
	}
	return n
}

var errSize = errors.New("too large for an ignore file")

// readRules reads an ignore file of at most so many rules. It does not wait for
// what is no regular file.
func readRules(path string, most int) (list []rule, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fs.ErrInvalid)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil || len(data) > MaxFile {
		return nil, cmp.Or(err, errSize)
	}
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))) {
		one, ok := parseRule(string(line))
		if !ok || len(line) > MaxRule {
			continue
		}
		if list = append(list, one); len(list) > most {
			return nil, errSize
		}
	}
	return list, nil
}

// Ignores decides on something whose directory is not ignored: the last rule
// that matches, of the nearest directory that has one, counts.
func (r *Rules) Ignores(full string, isDir bool) bool {
	full = filepath.ToSlash(full)
	for ; r != nil; r = r.parent {
		rel := strings.TrimPrefix(strings.TrimPrefix(full, r.dir), "/")
		for _, one := range slices.Backward(r.list) {
			if (isDir || !one.dirOnly) && match(one.glob, rel) {
				return !one.keep
			}
		}
	}
	return false
}

// match is false for a glob that is not one, as it is for git.
func match(glob, name string) bool {
	ok, err := doublestar.Match(glob, name)
	return ok && err == nil
}

// parseRule parses a line of an ignore file. Patterns that git and the glob library
// understand differently are rewritten: a pattern without a slash matches at any
// depth, a/** does not match a itself, and braces mean nothing.
func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	trimmed := strings.TrimRight(line, " ")
	if len(trimmed) < len(line) && strings.HasSuffix(trimmed, `\`) && !strings.HasSuffix(trimmed, `\\`) {
		trimmed += " " // a backslash protects one blank at the end
	}
	line = trimmed
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	if !strings.Contains(line, "/") {
		line = "**/" + line
	}
	line = strings.TrimPrefix(line, "/")
	if strings.HasSuffix(line, "/**") {
		line += "/*"
	}
	r.glob = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, `\\`, `\\`, "{", `\{`, "}", `\}`).Replace(line)
	return r, true
}

// For returns the rules that apply in dir, a real path: those of the
// repository it is in, or of the directories up to limit if it is in none. If
// they ignore dir itself, whoever named it wants to see it all the same, and
// the rules of the directories above do not count.
func For(dir, limit string) *Rules {
	var above []string
	for d := dir; ; d = filepath.Dir(d) {
		above = append(above, d)
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			break
		}
		if d == filepath.Dir(d) {
			above = above[:1+max(0, slices.Index(above, limit))] // up to limit; dir alone, if limit is not above it
			break
		}
	}
	none := None()
	r := none
	for _, d := range slices.Backward(above) {
		if d != above[len(above)-1] && (r.Ignores(d, true) || path.Base(filepath.ToSlash(d)) == ".git") {
			r = none
		}
		r = r.With(d)
	}
	return r
}
