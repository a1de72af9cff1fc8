package tool

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
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

// rules are the ignore rules of one directory and, through parent, of those
// above it. They are immutable but for what they tell of files left out.
type rules struct {
	parent *rules
	dir    string // absolute, with slashes
	list   []rule
	total  int      // rules here and above
	left   *leftOut // of the whole search
}

// Bounds of ignore files. Each rule is tried on each file, so one that is larger
// is left out, and the model is told: it may have been put there to make a search endless.
const (
	maxIgnoreFile  = 256 << 10
	maxIgnoreRule  = 1 << 10 // bytes of a line
	maxIgnoreRules = 5_000   // of one directory and those above
)

// leftOut are ignore files that go beyond the bounds. A search walks in one
// goroutine and asks when it is through.
type leftOut struct{ files []string }

// notes is one line for the model that names the ignore files that were left out;
// nothing if there are none.
func (l *leftOut) notes() []string {
	if len(l.files) == 0 {
		return nil
	}
	text := strings.Join(l.files[:min(3, len(l.files))], ", ")
	if more := len(l.files) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("[ignore files larger than %s or %d rules are left out, so more is shown: %s]", size(maxIgnoreFile), maxIgnoreRules, text)}
}

type rule struct {
	glob    string // matched against the path below the rules' directory
	keep    bool   // the line began with !
	dirOnly bool
}

// ignoreFiles are read in this order; the later wins.
var ignoreFiles = [...]string{".git/info/exclude", ".gitignore", ".ignore"}

func noRules() *rules { return &rules{left: &leftOut{}} }

// with returns the rules for what is in dir: those of its ignore files, and r, those of
// its parent. Ignore files that are too large are not used but noted in r.left.
func (r *rules) with(dir string) *rules {
	n := &rules{parent: r, dir: filepath.ToSlash(dir), total: r.total, left: r.left}
	for _, name := range ignoreFiles {
		path := filepath.Join(dir, filepath.FromSlash(name))
		list, err := readRules(path, maxIgnoreRules-n.total)
		if err != nil { // most directories have none
			if errors.Is(err, errIgnoreSize) {
				r.left.files = append(r.left.files, oneLine(path))
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

var errIgnoreSize = errors.New("too large for an ignore file")

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
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile+1))
	if err != nil || len(data) > maxIgnoreFile {
		return nil, cmp.Or(err, errIgnoreSize)
	}
	for line := range bytes.Lines(bytes.TrimPrefix(data, utf8BOM)) {
		one, ok := parseRule(string(line))
		if !ok || len(line) > maxIgnoreRule {
			continue
		}
		if list = append(list, one); len(list) > most {
			return nil, errIgnoreSize
		}
	}
	return list, nil
}

// ignores decides on something whose directory is not ignored: the last rule
// that matches, of the nearest directory that has one, counts.
func (r *rules) ignores(full string, isDir bool) bool {
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

// rulesFor returns the rules that apply in dir, a real path: those of the
// repository it is in, or of the directories up to limit if it is in none. If
// they ignore dir itself, whoever named it wants to see it all the same, and
// the rules of the directories above do not count.
func rulesFor(dir, limit string) *rules {
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
	none := noRules()
	r := none
	for _, d := range slices.Backward(above) {
		if d != above[len(above)-1] && (r.ignores(d, true) || path.Base(filepath.ToSlash(d)) == ".git") {
			r = none
		}
		r = r.with(d)
	}
	return r
}
