package shown

// parser tells characters from control sequences.
type parser struct {
	state  state
	kind   []byte // of a control sequence: its prefix, and what precedes its last byte
	values []int
	digits bool // the last value has begun
}

type state uint8

const (
	stateText state = iota
	stateEscape
	stateCharset  // the byte that ends ESC ( and its like follows
	stateSequence // ESC [ …
	stateString   // ESC ] … and its like, up to BEL or ESC \
	stateStringEnd
)

// What of a sequence is kept; more of it is dropped.
const (
	mostValues  = 32
	mostKind    = 4
	largestPart = 1 << 16
)

// feed takes one character.
func (p *parser) feed(r *Recorder, c rune) {
	switch p.state {
	case stateText:
		p.text(r, c)
	case stateEscape:
		p.escape(r, c)
	case stateCharset:
		p.state = stateText
	case stateSequence:
		p.sequence(r, c)
	case stateString:
		switch c {
		case '\a', 0x18, 0x1a:
			p.state = stateText
		case 0x1b:
			p.state = stateStringEnd
		}
	case stateStringEnd:
		if p.state = stateText; c != '\\' {
			p.escape(r, c)
		}
	}
}

func (p *parser) text(r *Recorder, c rune) {
	switch {
	case c == 0x1b:
		p.state = stateEscape
	case r.alternate:
	case c < ' ':
		r.control(c)
	case c != 0x7f && (c < 0x80 || c > 0x9f):
		r.character(c)
	}
}

func (p *parser) escape(r *Recorder, c rune) {
	p.state = stateText
	switch c {
	case '[':
		p.state = stateSequence
		p.kind, p.values, p.digits = p.kind[:0], append(p.values[:0], 0), false
	case ']', 'P', 'X', '^', '_':
		p.state = stateString
	case ' ', '#', '%', '(', ')', '*', '+', '-', '.', '/':
		p.state = stateCharset
	case 0x1b:
		p.state = stateEscape
	default:
		r.escape(c)
	}
}

func (p *parser) sequence(r *Recorder, c rune) {
	last := &p.values[len(p.values)-1]
	switch {
	case c >= '0' && c <= '9':
		*last, p.digits = min(*last*10+int(c-'0'), largestPart), true
	case c == ';' || c == ':':
		if len(p.values) < mostValues {
			p.values = append(p.values, 0)
		}
	case c >= '<' && c <= '?' || c >= ' ' && c <= '/':
		if len(p.kind) < mostKind {
			p.kind = append(p.kind, byte(c))
		}
	case c >= '@' && c <= '~':
		p.state = stateText
		r.sequence(string(p.kind), p.values, c)
	case c == 0x1b:
		p.state = stateEscape
	case c == 0x18 || c == 0x1a:
		p.state = stateText
	case c < ' ':
		if !r.alternate {
			r.control(c)
		}
	default:
		p.state = stateText
	}
}
