package terminal

import (
	"bytes"
	"slices"
)

// The line editor knows neither line ends nor tabs inside its line. They are
// there as these signs and are put back when the line is sent.
const (
	signNewline = "⏎"
	signTab     = "␉"
)

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	keyCtrlC   = 0x03
	keyEsc     = 0x1b
)

// keyDecoder turns the keys of the terminal into those of the line editor: a
// bracketed paste becomes text of one line or a token, the new-line keys a sign,
// and everything else stays as it is.
type keyDecoder struct {
	pastes *pastes
	inside bool   // a paste has begun
	pasted []byte // its bytes so far
}

// next decodes the first key, or run of text, of p: out is what the editor gets for its
// n bytes. n is 0 if p ends inside a key and more may come; final says
// that nothing more did. ends reports a key that ends the prompt.
func (d *keyDecoder) next(p []byte, final bool) (out []byte, n int, ends bool) {
	if d.inside {
		out, n = d.paste(p, final)
		return out, n, false
	}
	switch c := p[0]; {
	case c == keyEsc:
		out, n = d.escape(p, final)
		return out, n, false
	case c == '\n':
		return []byte(signNewline), 1, false
	case c == '\r', c == keyCtrlC:
		return p[:1], 1, true
	case c < 0x20 || c == 0x7f:
		return p[:1], 1, false
	}
	n = bytes.IndexFunc(p, func(r rune) bool { return r < 0x20 || r == 0x7f })
	if n < 0 {
		n = len(p)
	}
	return p[:n], n, false
}

// paste collects the bytes inside of a bracketed paste and counts those that it used.
// out is empty until the paste ends; then it is the text, or the token, for the line.
func (d *keyDecoder) paste(p []byte, final bool) (out []byte, n int) {
	if bytes.HasPrefix(p, []byte(pasteEnd)) {
		out = []byte(d.pastes.paste(pastedText(d.pasted)))
		d.inside, d.pasted = false, nil
		return out, len(pasteEnd)
	}
	if !final && bytes.HasPrefix([]byte(pasteEnd), p) {
		return nil, 0
	}
	n = len(p)
	if i := bytes.IndexByte(p[1:], keyEsc); i >= 0 {
		n = i + 1
	}
	d.pasted = append(d.pasted, p[:n]...)
	return nil, n
}

// escape decodes a sequence as a whole, for the editor would wait for its rest. A
// bare Esc is dropped, and so is a sequence that another key broke off: the
// editor would take that key for a part of it.
func (d *keyDecoder) escape(p []byte, final bool) ([]byte, int) {
	newLine := []string{"\x1b\r", "\x1b\n", "\x1b[13;2u", "\x1b[27;2;13~", "\x1b[13;3u"} // keys that begin a new line of the input
	n, whole := sequence(p)
	switch key := string(p[:n]); {
	case n == 0 && !final:
		return nil, 0
	case n == 0:
		return nil, len(p)
	case slices.Contains(newLine, key):
		return []byte(signNewline), n
	case key == pasteStart:
		d.inside = true
		return nil, n
	case !whole:
		return nil, n
	}
	return p[:n], n
}

// sequence is the length of the escape sequence that p begins with, 0 if more of it may
// come. It is not whole if another key broke it off.
func sequence(p []byte) (n int, whole bool) {
	if len(p) < 2 {
		return 0, false
	}
	switch c := p[1]; {
	case c == '\r' || c == '\n':
		return 2, true
	case c < 0x20:
		return 1, false
	case c == 'O':
		return oneMore(p)
	case c == '[':
		return controlSequence(p)
	}
	return 2, true
}

// oneMore is sequence for those of ESC O and one more byte.
func oneMore(p []byte) (int, bool) {
	switch {
	case len(p) < 3:
		return 0, false
	case p[2] < 0x20:
		return 2, false
	}
	return 3, true
}

// controlSequence is sequence for those of ESC [, parameters and a final byte.
func controlSequence(p []byte) (int, bool) {
	for i, c := range p[2:] {
		switch {
		case c < 0x20 || c > 0x7e:
			return i + 2, false
		case c >= 0x40:
			return i + 3, true
		}
	}
	return 0, false
}
