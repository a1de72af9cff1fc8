package tool

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// rules are the ignore rules of one directory and, through parent, of those
// above it. They are immutable; nil has no rules.
type rules struct {
	parent *rules
	dir    string // absolute, with slashes
	list   []rule
}

type rule struct {
	glob    string // matched against the path below the rules' directory
	keep    bool   // the line began with !
	dirOnly bool
}

// ignoreFiles are read in this order; the later wins.
var ignoreFiles = [...]string{".git/info/exclude", ".gitignore", ".ignore"}

// with returns the rules for what is in dir, whose parent's rules are r.
func (r *rules) with(dir string) *rules {
	n := &rules{parent: r, dir: filepath.ToSlash(dir)}
	for _, name := range ignoreFiles {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			continue // most directories have none
		}
		for line := range bytes.Lines(bytes.TrimPrefix(data, utf8BOM)) {
			if one, ok := parseRule(string(line)); ok {
				n.list = append(n.list, one)
			}
		}
	}
	if n.list == nil {
		return r
	}
	return n
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

// parseRule reads a line of an ignore file. What git and the glob library
// understand differently is rewritten: a pattern without a slash matches at any
// depth, a/** does not match a itself, and braces mean nothing.
func parseRule(line string) (r rule, ok bool) {
	line = trimSpaces(strings.TrimRight(line, "\r\n"))
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

// trimSpaces takes spaces off the end, but not one after a backslash.
func trimSpaces(s string) string {
	t := strings.TrimRight(s, " ")
	if len(t) < len(s) && strings.HasSuffix(t, `\`) && !strings.HasSuffix(t, `\\`) {
		t += " "
	}
	return t
}

// rulesFor returns the rules that hold in dir, a real path: those of the
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
			above = upTo(above, limit)
			break
		}
	}
	var r *rules
	for _, d := range slices.Backward(above) {
		if d != above[len(above)-1] && (r.ignores(d, true) || path.Base(filepath.ToSlash(d)) == ".git") {
			r = nil
		}
		r = r.with(d)
	}
	return r
}

// upTo cuts a list of a directory and its parents after limit, or after the
// first if limit is not among them.
func upTo(dirs []string, limit string) []string {
	if i := slices.Index(dirs, limit); i >= 0 {
		return dirs[:i+1]
	}
	return dirs[:1]
}
