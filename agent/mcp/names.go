package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode/utf8"

	"pi/internal/printable"
)

// prefix is how the names of all tools of servers begin.
const prefix = "mcp__"

// maxName is how long the name of a tool may be for providers.
const maxName = 64

// Name is the name of a tool of a server for models, gates and everybody else. It is made of
// the two names alone, so that no other tool has a say in it: where they had to be changed or
// cut, or could be read in two ways, it ends in six digits of their hash.
func Name(server, tool string) string {
	clean := strings.Map(func(r rune) rune {
		if isNoNameRune(r) {
			return '_'
		}
		return r
	}, tool)
	name := prefix + server + "__" + clean
	isSplitOnce := !strings.HasSuffix(server, "_") && !strings.HasPrefix(clean, "_")
	if clean == tool && clean != "" && len(name) <= maxName && isSplitOnce {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	end := "_" + hex.EncodeToString(sum[:3])
	return name[:min(len(name), maxName-len(end))] + end
}

// IsName reports whether a name is that of a tool of a server.
func IsName(name string) bool { return strings.HasPrefix(name, prefix) }

// AnyOf is the name by which is asked whether the model may look at what a server has: it may where
// it may call one of its tools, or mcp is named. No tool has such a name.
func AnyOf(server string) string { return prefix + server + "__*" }

// IsAnyOf reports whether a name is one of [AnyOf].
func IsAnyOf(name string) bool { return IsName(name) && strings.HasSuffix(name, "__*") }

// Reaches reports whether a pattern, as of [path.Match], can fit the name of a tool of the server
// that a name of [AnyOf] is about.
func Reaches(pattern, anyOf string) bool {
	begin := strings.TrimSuffix(anyOf, "*")
	head, _, hasStar := strings.Cut(pattern, "*")
	for i := range len(head) + 1 { // what follows in the pattern is for the name at the server
		if ok, _ := path.Match(head[:i], begin); ok {
			return true
		}
	}
	for i := range len(begin) { // the star is for the rest of the beginning
		if ok, _ := path.Match(head, begin[:i]); ok && hasStar {
			return true
		}
	}
	return false
}

// cleanText is foreign text without what controls a terminal and what nobody sees, of at most
// so many bytes.
func cleanText(text string, most int) string {
	text, _ = clean(text, most)
	return text
}

// clean is cleanText, and counts the characters that nobody sees.
func clean(text string, most int) (cleaned string, hidden int) {
	text = strings.ToValidUTF8(text[:min(len(text), 4*most)], "\uFFFD")
	var b strings.Builder
	before := rune(0)
	for i, r := range text {
		after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		const controls = 0xa0 // which the next step takes out, with the sequences that they begin
		if r >= controls && printable.Hidden(r) && !printable.Belongs(before, r, after) {
			hidden++
			before = utf8.RuneError // nothing belongs to what is not seen
			continue
		}
		before = r
		b.WriteRune(r)
	}
	cleaned = printable.Text(b.String())
	if len(cleaned) > most {
		cleaned = strings.ToValidUTF8(cleaned[:most], "") + "…"
	}
	return cleaned, hidden
}
