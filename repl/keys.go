package repl

import "bytes"

// The line editor knows neither line ends nor tabs inside its line. They stand
// there as these signs and are put back when the line is sent.
const (
	signNewline = "⏎"
	signTab     = "␉"
)

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	keyCtrlC   = 0x03
	keyTab     = '\t'
	keyEsc     = 0x1b
)

// newlineKeys are the ways a terminal says "new line, but do not send".
func newlineKeys() []string {
	return []string{"\x1b\r", "\x1b\n", "\x1b[13;2u", "\x1b[27;2;13~", "\x1b[13;3u"}
}

// keyDecoder turns what the terminal sends into what the line editor takes: a
// bracketed paste becomes text of one line, the new-line keys a sign, and
// everything else stays as it is.
type keyDecoder struct {
	paste  bool
	lastCR bool
}

// next takes the first key, or run of text, of p: out is what the editor gets
// for its n bytes. n is 0 if p ends inside a key and more may come; final says
// that nothing more did. ends reports a key that ends the prompt.
func (d *keyDecoder) next(p []byte, final bool) (out []byte, n int, ends bool) {
	if d.paste {
		out, n = d.pasted(p, final)
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
	n = textRun(p)
	return p[:n], n, false
}

func (d *keyDecoder) pasted(p []byte, final bool) ([]byte, int) {
	if bytes.HasPrefix(p, []byte(pasteEnd)) {
		d.paste, d.lastCR = false, false
		return nil, len(pasteEnd)
	}
	if !final && bytes.HasPrefix([]byte(pasteEnd), p) {
		return nil, 0
	}
	wasCR := d.lastCR
	d.lastCR = p[0] == '\r'
	switch c := p[0]; {
	case c == '\n' && wasCR:
		return nil, 1
	case c == '\r', c == '\n':
		return []byte(signNewline), 1
	case c == '\t':
		return []byte(signTab), 1
	case c < 0x20, c == 0x7f:
		return nil, 1
	}
	n := textRun(p)
	return p[:n], n
}

// escape takes a sequence as a whole, for the editor would wait for its rest. A
// bare Esc is dropped: the editor would take the next key for its second half.
func (d *keyDecoder) escape(p []byte, final bool) ([]byte, int) {
	n := sequenceLength(p)
	if n == 0 {
		if !final {
			return nil, 0
		}
		return nil, len(p)
	}
	sequence := string(p[:n])
	if sequence == pasteStart {
		d.paste = true
		return nil, n
	}
	for _, key := range newlineKeys() {
		if sequence == key {
			return []byte(signNewline), n
		}
	}
	return p[:n], n
}

// sequenceLength is the length of the escape sequence p begins with, 0 if it is
// not complete.
func sequenceLength(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case 'O':
		if len(p) < 3 {
			return 0
		}
		return 3
	case '[':
		for i, c := range p[2:] {
			if c >= 0x40 && c <= 0x7e {
				return i + 3
			}
			if c < 0x20 || c > 0x7e {
				return i + 2
			}
		}
		return 0
	}
	return 2
}

func textRun(p []byte) int {
	for i, c := range p {
		if c < 0x20 || c == 0x7f {
			return i
		}
	}
	return len(p)
}
