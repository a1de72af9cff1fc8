// Package printable makes text that others wrote (models, tools, servers, files,
// hooks) fit to be shown to a user. Their result has no
// character that commands a terminal, changes the order of reading, or is a tag.
//
//	Text(s), Line(s)  a text, a text in one line
//	Short(s)          a few words of a file or a name, every sign that is not seen as one
//	Cut, FirstLine    a text of so many characters, the first line of one
//	Count(n, thing)   "1 line", "2 lines"; Bytes(n) "16 MiB"
//	URL(s)            an address without its passwords and keys
//	Cleaner           the same for a stream
//	Visible(s)        a text whose reader must see every byte that is there
//	JSONWriter        JSON with such characters as escapes, so that nothing is lost
//	Hidden            the table of what a user does not see
//	Belongs           what of that makes up what is seen, such as the joiners of an emoji
//	HiddenIn(s)       what a model would read in a text and a user would not
//	EndSequence       what ends a sequence that others left open in a terminal
//
// It knows nothing of the rest of the program.
package printable

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Cleaner takes terminal control out of text that others wrote: escape sequences
// vanish, other control characters vanish, line ends become "\n", and characters
// that nobody can see (see [Hidden]) are shown by their number, unless they belong
// to what is seen ([Belongs]), are for private use, where fonts have icons, or are
// blanks of Braille, of which plots are made. The result is valid UTF-8.
//
// Text that a hook made with the theme may have the colours of the theme: the sequences stay whose
// parameters Inks accepts.
//
// It works on a stream: a sequence or a character may be split over any number
// of writes. The zero value is ready; it is for one goroutine.
type Cleaner struct {
	Inks func(parameters string) bool // nil: none

	// Data is for text that a program reads: carriage returns vanish, and characters that
	// nobody can see stay.
	Data bool

	state   escapeState
	partial []byte // the beginning of a character, or one whose neighbour has to be seen
	cr      bool   // the last character was a carriage return, already written as "\n"
	before  rune   // the last character of the text; 0: none

	parameters []byte // of the sequence that is under way
}

type escapeState uint8

const (
	stateText     escapeState = iota
	stateEscape               // after ESC
	stateSequence             // inside ESC [ …
	stateString               // inside ESC ] … and its like, up to its end or the end of the line
)

// EndSequence ends what somebody has begun to say to a terminal and did not end: until then it
// would take all that follows as a part of that. CAN drops it; ST is for strings that some
// terminals (tmux) end at nothing else. Where nothing was begun it does nothing.
const EndSequence = "\x18\x1b\\"

// Text is a whole text, cleaned.
func Text(text string) string {
	if plainRun(text) == len(text) {
		return text
	}
	var c Cleaner
	return string(c.Finish(c.Append(nil, text)))
}

// Line is Text in one line, with every run of white space as one space.
func Line(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }

// Append appends the cleaned text to dst. The end of text is kept for the next call if
// it may be the beginning of a character, or has to be judged together with what
// follows.
func (c *Cleaner) Append(dst []byte, text string) []byte {
	if len(c.partial) > 0 {
		text = string(c.partial) + text
		c.partial = c.partial[:0]
	}
	for i := 0; i < len(text); {
		if c.state == stateText && !c.cr {
			if n := plainRun(text[i:]); n > 0 {
				dst = append(dst, text[i:i+n]...)
				i += n
				c.before = rune(text[i-1])
				continue
			}
		}
		if !utf8.FullRuneInString(text[i:]) {
			c.partial = append(c.partial, text[i:]...)
			break
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if c.state != stateString && dependent(r) && !utf8.FullRuneInString(text[i+n:]) {
			c.partial = append(c.partial, text[i:]...)
			break
		}
		after, _ := utf8.DecodeRuneInString(text[i+n:])
		dst = c.rune(dst, r, after)
		i += n
	}
	return dst
}

// Finish ends the stream: it appends what Append kept to dst, a character that was cut
// off as U+FFFD, and makes the Cleaner ready for another stream.
func (c *Cleaner) Finish(dst []byte) []byte {
	if len(c.partial) > 0 && c.state == stateText {
		r, n := utf8.DecodeRune(c.partial)
		if dst = c.rune(dst, r, 0); n < len(c.partial) && dependent(r) {
			dst = utf8.AppendRune(dst, utf8.RuneError)
		}
	}
	*c = Cleaner{partial: c.partial[:0], Inks: c.Inks, Data: c.Data}
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

// rune appends to dst what is shown of r in the present state, inside or outside of an
// escape sequence; after is the character behind it.
func (c *Cleaner) rune(dst []byte, r, after rune) []byte {
	switch c.state {
	case stateEscape:
		return c.escape(dst, r, after)
	case stateSequence:
		return c.sequence(dst, r, after)
	case stateString:
		return c.controlString(dst, r, after)
	}
	return c.text(dst, r, after)
}

// text appends to dst what is shown of r, a character outside of escape sequences; after
// is the one that follows. Line ends become \n, control characters are dropped, and hidden
// characters are written out as <U+XXXX> unless they belong to a visible neighbour.
func (c *Cleaner) text(dst []byte, r, after rune) []byte {
	wasCR, before := c.cr, c.before
	c.cr, c.before = false, r
	switch {
	case r == '\n' && wasCR:
		return dst
	case r == '\r' && c.Data:
		return dst
	case r == '\r':
		c.cr = true
		return append(dst, '\n')
	case r == '\n', r == '\t':
		return append(dst, byte(r))
	case r == 0x1b:
		c.state = stateEscape
		return dst
	case r >= 0x80 && r <= 0x9f:
		c.introduce(r - 0x40)
		return dst
	case r < 0x20, r == 0x7f:
		return dst
	case c.Data, private(r), r == blankBraille, !Hidden(r), Belongs(before, r, after):
		return utf8.AppendRune(dst, r)
	}
	dst = fmt.Appendf(dst, "<U+%04X>", r)
	c.before = rune(dst[len(dst)-1]) // r was replaced, so the next character cannot belong to it
	return dst
}

// dependent reports whether the character may be shown or not because of the one behind
// it.
func dependent(r rune) bool {
	return r == zeroWidthNonJoiner || r == zeroWidthJoiner || r == textSelector || r == emojiSelector
}

// introduce sets the state for what follows ESC r: a control sequence, a string such as
// a title, or text if r was the whole of the sequence.
func (c *Cleaner) introduce(r rune) {
	switch r {
	case '[':
		c.state = stateSequence
		c.parameters = c.parameters[:0]
	case ']', 'P', 'X', '^', '_':
		c.state = stateString
	default:
		c.state = stateText
	}
}

// escape handles the character after ESC: it is dropped, and says by which rules what
// follows is dropped. One that cannot be there is text again.
func (c *Cleaner) escape(dst []byte, r, after rune) []byte {
	switch {
	case r >= 0x20 && r <= 0x2f: // an intermediate byte: the final one follows
		return dst
	case r >= 0x30 && r <= 0x7e:
		c.introduce(r)
		return dst
	}
	c.state = stateText
	return c.text(dst, r, after)
}

// sequence handles a character of a control sequence (ESC [ …). The sequence is dropped,
// unless it sets one of the colours in Inks: then it is appended when it ends. A
// character that cannot be in one is text again.
func (c *Cleaner) sequence(dst []byte, r, after rune) []byte {
	switch {
	case r >= 0x20 && r <= 0x3f:
		if c.Inks != nil && len(c.parameters) < 32 {
			c.parameters = append(c.parameters, byte(r))
		}
		return dst
	case r >= 0x40 && r <= 0x7e:
		c.state = stateText
		if r == 'm' && c.Inks != nil && c.Inks(string(c.parameters)) {
			dst = fmt.Appendf(dst, "\x1b[%sm", c.parameters)
		}
		return dst
	}
	c.state = stateText
	return c.text(dst, r, after)
}

// controlString swallows a title, a link target and the like. One without an
// end takes no more than the rest of its line, so that it cannot hide an answer.
func (c *Cleaner) controlString(dst []byte, r, after rune) []byte {
	switch r {
	case 0x07, 0x9c, 0x18, 0x1a:
		c.state = stateText
	case 0x1b:
		c.state = stateEscape
	case '\n', '\r':
		c.state = stateText
		return c.text(dst, r, after)
	}
	return dst
}
