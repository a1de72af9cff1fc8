package tool

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// spelled makes text of any bytes from few characters, so that most of it means
// something.
func spelled(raw []byte, characters string) string {
	var b strings.Builder
	for _, c := range raw {
		b.WriteByte(characters[int(c)%len(characters)])
	}
	return b.String()
}

// unspelled is what spelled makes text of.
func unspelled(text, characters string) []byte {
	raw := make([]byte, len(text))
	for i := range text {
		raw[i] = byte(strings.IndexByte(characters, text[i]))
	}
	return raw
}

// FuzzGlobsMatchLikeTheReference compares globs with a matcher that tries
// everything. What is left out has no promise: alternatives that are empty, and
// whether a/** matches a itself, where the library is of two minds behind a star.
func FuzzGlobsMatchLikeTheReference(f *testing.F) {
	const globs, names = "ab.*?/{,}*/", "ab./c"
	unsettled := regexp.MustCompile(`//|\*\*\*|[{,][,}]|/\*\*([,}/]|$)`)
	for _, seed := range [][2]string{{"*.b", "a/b.b"}, {"a/*", "a/b"}, {"**/b", "a/b"}, {"{a,b}.b", "b.b"}, {"/a", "a"}, {"a/", "a"}, {"?", "c"}, {"a/**/b", "a/b"}} {
		f.Add(unspelled(seed[0], globs), unspelled(seed[1], names), true)
	}
	f.Fuzz(func(t *testing.T, rawGlob, rawName []byte, isDir bool) {
		if len(rawGlob) > 12 || len(rawName) > 12 {
			return
		}
		pattern, name := spelled(rawGlob, globs), path.Clean("/" + spelled(rawName, names))[1:]
		g, err := parseGlob(pattern, location{path: "/nowhere", real: "/nowhere"})
		if err != nil || name == "" || unsettled.MatchString(pattern) {
			return
		}
		want := false
		for _, p := range braced(g.pattern) {
			if strings.Contains(p, "**") && strings.Contains(pattern, "{") {
				return // stars of their own that came together
			}
			base := name
			if g.names {
				base = path.Base(name)
			}
			want = want || segmentsMatch(strings.Split(p, "/"), strings.Split(base, "/"))
		}
		want = want && (isDir || !g.dirsOnly)
		if got := g.matches(name, isDir); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, name, got, want)
		}
	})
}

// braced lists what a glob with braces stands for.
func braced(p string) []string {
	depth, open, from := 0, -1, 0
	var parts []string
	for i := range p {
		switch {
		case p[i] == '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case p[i] == ',' && depth == 1:
			parts, from = append(parts, p[from:i]), i+1
		case p[i] == '}' && depth > 0:
			if depth--; depth == 0 {
				var all []string
				for _, part := range append(parts, p[from:i]) {
					all = append(all, braced(p[:open]+part+p[i+1:])...)
				}
				return all
			}
		}
	}
	return []string{p}
}

func segmentsMatch(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return len(name) == 0
	case pattern[0] == "**":
		return segmentsMatch(pattern[1:], name) || len(name) > 0 && segmentsMatch(pattern, name[1:])
	}
	return len(name) > 0 && nameMatches(pattern[0], name[0]) && segmentsMatch(pattern[1:], name[1:])
}

func nameMatches(pattern, name string) bool {
	switch {
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return nameMatches(pattern[1:], name) || name != "" && nameMatches(pattern, name[1:])
	}
	return name != "" && (pattern[0] == '?' || pattern[0] == name[0]) && nameMatches(pattern[1:], name[1:])
}
