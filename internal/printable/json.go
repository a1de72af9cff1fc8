package printable

import (
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONWriter passes JSON on with every hidden character as an escape, so that it
// means the same and a terminal shows it. Bytes that are no UTF-8, which JSON may not
// hold, become U+FFFD. It is for one goroutine.
type JSONWriter struct {
	W       io.Writer
	partial []byte // the beginning of a character
}

// Write implements [io.Writer]. A character that the last write cut off is lost.
func (w *JSONWriter) Write(p []byte) (int, error) {
	text := append(w.partial, p...)
	var out []byte
	for len(text) > 0 && utf8.FullRune(text) {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\r': // dropped: it is white space between values; in strings JSON has it as an escape
		case !Hidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = appendEscape(appendEscape(out, high), low)
		default:
			out = appendEscape(out, r)
		}
		text = text[n:]
	}
	w.partial = append([]byte(nil), text...)
	if _, err := w.W.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func appendEscape(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
