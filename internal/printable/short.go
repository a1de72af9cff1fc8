package printable

import (
	"strings"
	"unicode"
)

// Cut is Text of at most n characters; the last one of a longer text is "…".
func Cut(text string, n int) string {
	runes := []rune(Text(text))
	if len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return string(runes)
}

// FirstLine is Cut for the first line of a text that has something in it.
func FirstLine(text string, n int) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return Cut(text, n)
}

// Short is a text of at most 200 bytes for one line of a terminal. A longer one is
// cut; each character that is not seen is shown as one that cannot be read.
func Short(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || Hidden(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
