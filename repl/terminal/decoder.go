package terminal

import (
	"bytes"
	"time"
	"unicode"
	"unicode/utf8"
)

// decoder makes keys of the bytes that a terminal sends, however they are cut. Its
// pending bytes are the beginning of a key whose rest has not come. It knows no
// time: expire is called when nothing came for as long as wait says.
type decoder struct {
	slow     bool // the line to the terminal is a slow one
	pending  []byte
	pasting  bool // between the two ends of a paste
	pasted   []byte
	halfway  bool   // a paste without its end was given up: what comes next may belong to it
	esc      bool   // pending is an Esc that waited long enough not to be Alt
	late     []byte // the beginning of a sequence that was given up a moment ago: its rest may come
	handlers decoded
	usesAlt  func(name string) bool // a key with Alt does something; nil: each may
	located  func() bool            // the terminal was asked where the cursor is; nil: never
}

// decoded takes what a decoder finds.
type decoded interface {
	key(Key)
	focus(in bool)
	reply(sequence string) // an answer of the terminal, whole
}

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	keyCtrlC   = 0x03
	keyEsc     = 0x1b
)

// How long the next byte may take.
const (
	waitAlt      = 30 * time.Millisecond   // of a key with Alt
	waitAltSlow  = 100 * time.Millisecond  // the same over a network
	waitArrow    = 75 * time.Millisecond   // of the sequence of an arrow, counted from its Esc
	waitSequence = 500 * time.Millisecond  // of a sequence that nobody types by hand
	waitPaste    = 1000 * time.Millisecond // of a paste
	waitTail     = 500 * time.Millisecond  // of a sequence whose Esc was given up
)

// wait is how long to wait for more before expire is called; 0 is for ever.
func (d *decoder) wait() time.Duration {
	switch {
	case d.pasting:
		return waitPaste
	case len(d.pending) == 0:
		return 0
	case d.late != nil && d.pending[0] != keyEsc:
		return waitAlt
	case d.esc:
		return waitArrow - waitAlt
	case d.pending[0] == keyEsc && len(d.pending) > 1 && d.pending[1] != keyEsc:
		return waitSequence
	case d.slow:
		return waitAltSlow
	}
	return waitAlt
}

// feed decodes more bytes.
func (d *decoder) feed(p []byte) {
	p = d.finishPaste(p)
	d.pending = append(d.pending, p...)
	if d.late != nil && len(d.pending) > 0 && d.pending[0] != keyEsc && !d.dropTail() {
		return
	}
	d.drain(false)
}

// expire decodes the pending bytes as they are, because their rest does not come.
func (d *decoder) expire() {
	switch {
	case d.pasting:
		d.pasted = append(d.pasted, d.pending...)
		d.pending, d.halfway = nil, true
		d.endPaste()
	case d.late != nil && len(d.pending) > 0 && d.pending[0] != keyEsc: // text after all
		d.late = nil
		d.drain(false)
	case len(d.pending) == 1 && d.pending[0] == keyEsc && !d.esc && !d.slow:
		d.esc = true
	default:
		d.drain(true)
	}
}

// drain decodes as many keys as there are; final says that the last one will
// not be completed.
func (d *decoder) drain(final bool) {
	for len(d.pending) > 0 {
		if d.pasting {
			if !d.paste() {
				return
			}
			continue
		}
		n := d.next(d.pending, final)
		if n == 0 {
			return
		}
		d.pending = d.pending[n:]
		d.esc = false
	}
}

// next decodes the first key of p and returns its length, 0 if more of it may come.
func (d *decoder) next(p []byte, final bool) int {
	switch c := p[0]; {
	case c == keyEsc:
		return d.escape(p, final)
	case c < 0x20 || c == 0x7f:
		d.handlers.key(Key{Name: nameControl(c)})
		return 1
	}
	if !utf8.FullRune(p) && !final {
		return 0
	}
	r, n := utf8.DecodeRune(p)
	if r < 0x80 || r > 0x9f { // those are control characters
		d.handlers.key(Key{Name: runeName(r), Text: string(r)}) // of bytes that are no character, the one that stands for such
	}
	return n
}

// runeName names a character: a capital is its small letter with Shift.
func runeName(r rune) string {
	small := unicode.ToLower(r)
	switch {
	case r == ' ':
		return "space"
	case small != r && unicode.IsUpper(r):
		return "shift+" + string(small)
	}
	return string(r)
}

// escape decodes what begins with Esc.
func (d *decoder) escape(p []byte, final bool) int {
	if len(p) == 1 {
		if !final {
			return 0
		}
		d.late = []byte{keyEsc}
		d.handlers.key(Key{Name: "esc"})
		return 1
	}
	switch c := p[1]; {
	case c == '[' || c == 'O':
		return d.sequence(p, "", final)
	case d.esc: // Esc waited too long for this to be a key with Alt
		d.handlers.key(Key{Name: "esc"})
		return 1
	case c == keyEsc:
		return d.escapes(p, final)
	case c == ']' || c == 'P':
		return d.answer(p, final)
	}
	return d.alt(p, final)
}

// escapes decodes what begins with two Escs: a sequence with Alt, or Esc alone.
func (d *decoder) escapes(p []byte, final bool) int {
	switch {
	case len(p) == 2 && !final:
		return 0
	case len(p) > 2 && (p[2] == '[' || p[2] == 'O'):
		if n := d.sequence(p[1:], "alt+", final); n > 0 {
			return n + 1
		}
		return 0
	}
	d.handlers.key(Key{Name: "esc"})
	return 1
}

// alt decodes Esc and another key as one key with Alt, since terminals send Alt so, unless
// that key does nothing. Ctrl+C and a line end keep their meaning.
func (d *decoder) alt(p []byte, final bool) int {
	name, n := "", 2
	switch c := p[1]; {
	case c == keyCtrlC:
		d.handlers.key(Key{Name: "esc"})
		return 1
	case c == '\r' || c == '\n':
		name = "alt+enter"
	case c < 0x20 || c == 0x7f:
		name = addModifiers(2, nameControl(c))
	case !utf8.FullRune(p[1:]) && !final:
		return 0
	default:
		r, length := utf8.DecodeRune(p[1:])
		name, n = addModifiers(2, runeName(r)), 1+length
	}
	if d.usesAlt != nil && !d.usesAlt(name) {
		d.handlers.key(Key{Name: "esc"})
		return 1
	}
	d.handlers.key(Key{Name: name})
	return n
}

// sequence decodes ESC [ or ESC O and what follows. alt is put before the key's name.
func (d *decoder) sequence(p []byte, alt string, final bool) int {
	n, whole := sequenceLength(p)
	switch {
	case n == 0 && !final:
		return 0
	case len(p) == 2: // nothing more came: it is the key with Alt
		d.handlers.key(Key{Name: map[byte]string{'[': "alt+[", 'O': "alt+shift+o"}[p[1]]})
		return 2
	case n == 0:
		d.late = bytes.Clone(p) // the rest may come yet
		return len(p)
	case !whole:
		return n
	}
	d.whole(string(p[:n]), alt)
	return n
}

// whole decodes a whole sequence.
func (d *decoder) whole(s, alt string) {
	switch {
	case s == pasteStart:
		d.pasting, d.pasted, d.halfway = true, nil, false
	case s == "\x1b[I", s == "\x1b[O":
		d.handlers.focus(s == "\x1b[I")
	case isReply(s), d.located != nil && isPosition(s) && d.located():
		d.handlers.reply(s)
	default:
		if key, ok := sequenceKey(s); ok {
			if alt != "" {
				key.Name, key.Text = addModifiers(2, key.Name), ""
			}
			d.handlers.key(key)
		}
	}
}

// sequenceLength is the length of the sequence that p begins with, 0 if more of it may come.
// It is not whole if another key broke it off.
func sequenceLength(p []byte) (n int, whole bool) {
	switch {
	case len(p) < 3:
		return 0, false
	case p[1] == 'O':
		return functionLength(p)
	case p[2] == '[': // F1 to F5 of the console of Linux
		if len(p) < 4 {
			return 0, false
		}
		return 4, p[3] >= 'A' && p[3] <= 'E'
	case p[2] == 'M': // the mouse, with three bytes
		if len(p) < 6 {
			return 0, false
		}
		return 6, true
	}
	for i, c := range p[2:] {
		switch {
		case c < 0x20 || c > 0x7e:
			return i + 2, false
		case c >= 0x40, c == '$' && digits(p[2:i+2]): // the latter is Shift, in rxvt
			return i + 3, true
		}
	}
	return 0, false
}

// functionLength is sequenceLength for ESC O, a modifier that some terminals put there,
// and a letter.
func functionLength(p []byte) (n int, whole bool) {
	i := 2
	for i < len(p) && p[i] >= '0' && p[i] <= '9' {
		i++
	}
	switch {
	case i == len(p):
		return 0, false
	case p[i] < 0x20 || p[i] > 0x7e:
		return i, false
	}
	return i + 1, true
}

func digits(p []byte) bool {
	return len(p) > 0 && bytes.IndexFunc(p, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// answer decodes ESC ] or ESC P: an answer of the terminal up to its end, or a key with Alt
// where it cannot be one.
func (d *decoder) answer(p []byte, final bool) int {
	switch {
	case len(p) == 2 && !final:
		return 0
	case len(p) == 2, p[1] == ']' && !digits(p[2:3]), p[1] == 'P' && !bytes.ContainsAny(p[2:3], "0123456789>|$!+"):
		return d.alt(p, final)
	}
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c == 0x07:
			d.handlers.reply(string(p[:i]))
			return i + 1
		case c == keyEsc && i+1 < len(p):
			if p[i+1] == '\\' {
				d.handlers.reply(string(p[:i]))
				return i + 2
			}
			return i // another key broke it off
		case c == '\r' || c == '\n' || c == keyCtrlC:
			return i
		}
	}
	if final {
		return len(p)
	}
	return 0
}

// dropTail removes the rest of a sequence whose beginning was given up a moment ago. It
// reports false if the pending bytes may be the beginning of such a rest.
func (d *decoder) dropTail() bool {
	whole := append(bytes.Clone(d.late), d.pending...)
	if c := whole[1]; c != '[' && c != 'O' {
		d.late = nil
		return true
	}
	n, ok := sequenceLength(whole)
	if n == 0 {
		return false
	}
	rest := whole[n:]
	if ok && (len(rest) == 0 || rest[0] == keyEsc) {
		if _, ok := sequenceKey(string(whole[:n])); ok {
			d.pending = rest
		}
	}
	d.late = nil
	return true
}

// paste collects the bytes of a paste. It reports false if more has to come first.
func (d *decoder) paste() bool {
	if i := bytes.Index(d.pending, []byte(pasteEnd)); i >= 0 {
		d.pasted = append(d.pasted, d.pending[:i]...)
		d.pending = d.pending[i+len(pasteEnd):]
		d.endPaste()
		return true
	}
	kept := endsLike(d.pending, pasteEnd)
	d.pasted = append(d.pasted, d.pending[:len(d.pending)-kept]...)
	d.pending = append([]byte(nil), d.pending[len(d.pending)-kept:]...)
	return false
}

// endsLike counts the bytes at the end of p that are a beginning of mark, but not all of it.
func endsLike(p []byte, mark string) int {
	for n := min(len(mark)-1, len(p)); n > 0; n-- {
		if bytes.HasSuffix(p, []byte(mark[:n])) {
			return n
		}
	}
	return 0
}

// endPaste hands the collected text on as one key.
func (d *decoder) endPaste() {
	text := string(d.pasted)
	d.pasting, d.pasted = false, nil
	d.handlers.key(Key{Name: "paste", Text: text})
}

// finishPaste hands on what belongs to a paste that was given up before its end came, and
// returns the rest: all up to the end, or what is too much to be typed by hand.
func (d *decoder) finishPaste(p []byte) []byte {
	const byHand = 16
	if !d.halfway || len(p) == 0 {
		return p
	}
	d.halfway = false
	i := bytes.Index(p, []byte(pasteEnd))
	if i < 0 && (len(p) <= byHand || bytes.IndexByte(p, keyEsc) >= 0) {
		return p
	}
	d.pasting = true
	return p
}
