package screentest

import (
	"strings"
	"unicode/utf8"
)

// parser cuts a stream of bytes into characters and control sequences, which may
// come in pieces.
type parser struct {
	state   func(p *parser, e *Emulator, b byte)
	rune    []byte // the beginning of a character of several bytes
	pending []byte // the beginning of a sequence, behind ESC
}

const (
	escape     = 0x1b
	bell       = 0x07
	cancel     = 0x18
	substitute = 0x1a
)

func (p *parser) feed(e *Emulator, b byte) {
	if p.state == nil {
		p.state = (*parser).ground
	}
	p.state(p, e, b)
}

// ground reads text and single control characters.
func (p *parser) ground(e *Emulator, b byte) {
	if b >= 0x80 || len(p.rune) > 0 {
		p.character(e, b)
		return
	}
	switch {
	case b == escape:
		p.begin((*parser).escaped)
	case b < 0x20 || b == 0x7f:
		e.control(b)
	default:
		e.print(rune(b))
	}
}

// character collects the bytes of one that has several. What is no UTF-8 is shown as
// U+FFFD.
func (p *parser) character(e *Emulator, b byte) {
	if len(p.rune) > 0 && b&0xc0 != 0x80 {
		p.rune = p.rune[:0]
		e.print(utf8.RuneError)
		p.ground(e, b)
		return
	}
	p.rune = append(p.rune, b)
	if utf8.FullRune(p.rune) {
		r, size := utf8.DecodeRune(p.rune)
		rest := p.rune[size:]
		p.rune = nil
		e.print(r)
		for _, b := range rest {
			p.ground(e, b)
		}
	}
}

func (p *parser) begin(state func(*parser, *Emulator, byte)) {
	p.state, p.pending = state, nil
}

func (p *parser) end() { p.state, p.pending = (*parser).ground, nil }

// escaped reads the byte behind ESC.
func (p *parser) escaped(e *Emulator, b byte) {
	switch {
	case b == escape:
		p.pending = nil
	case b < 0x20:
		e.control(b)
	case b == '[':
		p.begin((*parser).csi)
	case b == ']':
		p.begin((*parser).osc)
	case b == 'P' || b == '_' || b == '^' || b == 'X':
		p.begin((*parser).ignored)
	case b < 0x30: // ESC ( B and its like: one more byte
		p.pending = append(p.pending, b)
	default:
		sequence := string(append(p.pending, b))
		p.end()
		e.escaped(sequence)
	}
}

// csi reads the parameters and the final byte of a control sequence.
func (p *parser) csi(e *Emulator, b byte) {
	switch {
	case b == escape:
		p.begin((*parser).escaped)
	case b == cancel || b == substitute:
		p.end()
	case b < 0x20:
		e.control(b)
	case b < 0x40:
		p.pending = append(p.pending, b)
	default:
		params := string(p.pending)
		p.end()
		e.sequence(params, b)
	}
}

// osc reads up to BEL or ST.
func (p *parser) osc(e *Emulator, b byte) {
	switch {
	case b == bell:
	case b == '\\' && strings.HasSuffix(string(p.pending), "\x1b"):
		p.pending = p.pending[:len(p.pending)-1]
	case b == cancel || b == substitute:
		p.end()
		return
	default:
		p.pending = append(p.pending, b)
		return
	}
	text := string(p.pending)
	p.end()
	e.command(text)
}

// ignored reads up to ST what no program here has to write.
func (p *parser) ignored(e *Emulator, b byte) {
	if b == '\\' && strings.HasSuffix(string(p.pending), "\x1b") {
		e.noteUnknown("string " + string(p.pending[:len(p.pending)-1]))
		p.end()
		return
	}
	p.pending = append(p.pending, b)
}
