package printable

import (
	"strings"
	"unicode"
)

// Short makes text of a file fit for one line of a terminal.
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
