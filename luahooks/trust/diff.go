package trust

import (
	"pi/internal/diff"
	"pi/internal/printable"
)

// Diff is the unified difference between two versions of a file, with hidden
// characters visible, to its end: what is approved is all of it. A version that does
// not exist is nil.
func Diff(name string, old, now []byte) string {
	return DiffAs(name, old, now, "in force", "on disk")
}

// DiffAs is [Diff] of versions that are called from and to, unless they do not exist.
func DiffAs(name string, old, now []byte, from, to string) string {
	if old == nil {
		from = "not there"
	}
	if now == nil {
		to = "not there"
	}
	name = printable.VisibleLine(name)
	u := diff.Unified{From: name + " (" + from + ")", To: name + " (" + to + ")", Context: 3}
	text := u.Text(lf(old), lf(now))
	if text == "" {
		return name + ": " + from + " and " + to + " differ in nothing that can be shown\n"
	}
	return printable.Visible(text)
}

// lf returns code with a newline at its end, so that the difference says nothing about a
// missing one. Other line ends stay, and are made visible.
func lf(code []byte) string {
	if len(code) > 0 && code[len(code)-1] != '\n' {
		return string(code) + "\n"
	}
	return string(code)
}
