package printable

import (
	"strings"
	"unicode"
)

// Short is a text of at most 200 bytes for one line of a terminal. What is longer
// is cut; each character that is not seen is shown as one that cannot be read.
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
