package repl

import (
	"fmt"
	"unicode/utf8"
)

// sanitizer takes terminal control out of text that others wrote: escape
// sequences vanish, other control characters vanish, line ends become "\n", and
// characters that nobody can see (bidirectional marks, zero-width characters,
// tags) are shown by their number. What is left is valid UTF-8.
//
// What a hook made with the theme may keep the colours of the theme: with inks set,
// their sequences stay.
//
// It works on a stream: a sequence or a character may be split over any number
// of writes. The zero value is ready; it is for one goroutine.
type sanitizer struct {
	state   escapeState
	partial []byte // the beginning of a character
	cr      bool   // the last character was a carriage return, already written as "\n"
	joins   bool   // a joiner may follow: the last character was no ASCII

	inks       map[string]bool // parameters of colour sequences that stay; nil: none
	parameters []byte          // of the sequence that is under way
}

type escapeState uint8

const (
	stateText     escapeState = iota
	stateEscape               // after ESC
	stateSequence             // inside ESC [ …
	stateString               // inside ESC ] … and its like, up to its end or the end of the line
)

// clean is the text of one whole string.
func clean(text string) string {
	var s sanitizer
	return string(s.finish(s.append(nil, text)))
}

// append adds to dst what is left of text.
func (s *sanitizer) append(dst []byte, text string) []byte {
	if len(s.partial) > 0 {
		text = string(s.partial) + text
		s.partial = s.partial[:0]
	}
	for i := 0; i < len(text); {
		if s.state == stateText && !s.cr {
			if n := plainRun(text[i:]); n > 0 {
				dst = append(dst, text[i:i+n]...)
				s.joins = false
				i += n
				continue
			}
		}
		if !utf8.FullRuneInString(text[i:]) {
			s.partial = append(s.partial, text[i:]...)
			break
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		dst = s.rune(dst, r)
		i += n
	}
	return dst
}

// finish ends the stream: what was cut off in the middle of a character is
// shown as one that cannot be read.
func (s *sanitizer) finish(dst []byte) []byte {
	if len(s.partial) > 0 && s.state == stateText {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	*s = sanitizer{partial: s.partial[:0], inks: s.inks}
	return dst
}

// plainRun counts the leading bytes that need no look: printable ASCII and line
// ends.
func plainRun(text string) int {
	for i := range len(text) {
		if c := text[i]; (c < 0x20 || c > 0x7e) && c != '\n' && c != '\t' {
			return i
		}
	}
	return len(text)
}

func (s *sanitizer) rune(dst []byte, r rune) []byte {
	switch s.state {
	case stateEscape:
		return s.escape(dst, r)
	case stateSequence:
		return s.sequence(dst, r)
	case stateString:
		return s.controlString(dst, r)
	}
	return s.text(dst, r)
}

func (s *sanitizer) text(dst []byte, r rune) []byte {
	wasCR, joins := s.cr, s.joins
	s.cr, s.joins = false, r > 0x7e
	switch {
	case r == '\n' && wasCR:
		return dst
	case r == '\r':
		s.cr = true
		return append(dst, '\n')
	case r == '\n', r == '\t':
		return append(dst, byte(r))
	case r == 0x1b:
		s.state = stateEscape
		return dst
	case r >= 0x80 && r <= 0x9f:
		s.introduce(r - 0x40)
		return dst
	case r < 0x20, r == 0x7f:
		return dst
	case joiner(r) && joins:
		return utf8.AppendRune(dst, r)
	case hidden(r):
		return fmt.Appendf(dst, "<U+%04X>", r)
	}
	return utf8.AppendRune(dst, r)
}

// introduce begins the sequence that ESC r stands for.
func (s *sanitizer) introduce(r rune) {
	switch r {
	case '[':
		s.state = stateSequence
		s.parameters = s.parameters[:0]
	case ']', 'P', 'X', '^', '_':
		s.state = stateString
	default:
		s.state = stateText
	}
}

func (s *sanitizer) escape(dst []byte, r rune) []byte {
	switch {
	case r >= 0x20 && r <= 0x2f: // an intermediate byte: the final one follows
		return dst
	case r >= 0x30 && r <= 0x7e:
		s.introduce(r)
		return dst
	}
	s.state = stateText
	return s.text(dst, r)
}

func (s *sanitizer) sequence(dst []byte, r rune) []byte {
	switch {
	case r >= 0x20 && r <= 0x3f:
		if s.inks != nil && len(s.parameters) < 32 {
			s.parameters = append(s.parameters, byte(r))
		}
		return dst
	case r >= 0x40 && r <= 0x7e:
		s.state = stateText
		if r == 'm' && s.inks[string(s.parameters)] {
			dst = fmt.Appendf(dst, "\x1b[%sm", s.parameters)
		}
		return dst
	}
	s.state = stateText
	return s.text(dst, r)
}

// controlString swallows a title, a link target and the like. One without an
// end takes no more than the rest of its line, so that it cannot hide an answer.
func (s *sanitizer) controlString(dst []byte, r rune) []byte {
	switch r {
	case 0x07, 0x9c, 0x18, 0x1a:
		s.state = stateText
	case 0x1b:
		s.state = stateEscape
	case '\n', '\r':
		s.state = stateText
		return s.text(dst, r)
	}
	return dst
}

// joiner reports characters that are invisible but make up others: in emoji and
// in many scripts they follow a character that is no ASCII.
func joiner(r rune) bool {
	return r == 0x200c || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f
}

// hidden reports characters that change what is seen without being seen.
func hidden(r rune) bool {
	switch {
	case joiner(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // overrides and isolates
		return true
	case r == 0x200b, r == 0x200e, r == 0x200f, r == 0x061c, r == 0xfeff, r == 0x00ad, r == 0x180e:
		return true
	case r >= 0x2060 && r <= 0x2064, r >= 0x206a && r <= 0x206f, r == 0x2028, r == 0x2029:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
