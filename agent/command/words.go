package command

import "strings"

// Words cuts the arguments of a command into words as a shell quotes them:
// 'as it is', "with \\" and \\\\", and a backslash before a single character.
// Nothing is expanded. A quote that is not closed goes to the end.
func Words(s string) []string {
	words := []string{}
	var w strings.Builder
	open, quote := false, rune(0)
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				w.WriteByte('\\')
			}
			w.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			open, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			open, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			if open {
				words = append(words, w.String())
				w.Reset()
			}
			open = false
		default:
			open = true
			w.WriteRune(r)
		}
	}
	if escaped {
		w.WriteByte('\\')
	}
	if open {
		words = append(words, w.String())
	}
	return words
}
