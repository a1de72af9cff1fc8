package luavm

import (
	"errors"
	"fmt"
	"strings"
)

// The patterns of Lua 5.1, %f[set] and %z among them. A pattern is compiled once
// into a row of items, each of which matches one thing; captures are numbered
// where they open, so that what a part of a pattern may refer to is known before
// anything is matched, and all that is wrong with a pattern is said at once.

const (
	maxCaptures = 32
	// maxRepeats bounds the items of a pattern that may match more or less, each
	// of which the matcher may have to come back to: it is the depth of its
	// recursion.
	maxRepeats = 1000
	// maxItems bounds a pattern itself, which is many times as large once compiled.
	maxItems = 1 << 16

	// specials are the bytes that have a meaning in a pattern. Where none of them is,
	// find looks for the text itself, and so a lone ) is no mistake there.
	specials = "^$*+?.([%-"
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }
func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }

func (s *byteSet) addRange(from, to byte) {
	for c := int(from); c <= int(to); c++ {
		s.add(byte(c))
	}
}

// inverted returns the set of all other bytes.
func (s byteSet) inverted() byteSet {
	for i := range s {
		s[i] = ^s[i]
	}
	return s
}

type patternOp uint8

const (
	opByte     patternOp = iota // one byte: the items that may be repeated
	opAny                       // any byte
	opSet                       // a byte of a set
	opOpen                      // a capture begins
	opPlace                     // () captures its place in the text
	opClose                     // a capture ends
	opAgain                     // %1: what a capture matched
	opBalance                   // %b()
	opFrontier                  // %f[set]
	opAtEnd                     // $
	opDone
)

type patternItem struct {
	op     patternOp
	repeat byte // 0, or one of *+-?
	b      byte // opByte, and where opBalance begins
	to     byte // where opBalance ends
	n      int  // of a capture
	set    byteSet
}

// pattern is a compiled pattern. It is never changed and may be used by many at
// once.
type pattern struct {
	items    []patternItem // none if isPlain
	anchored bool          // it began with ^
	captures []bool        // in order; true for places
	plain    string        // what it matches, if that is only one text
	isPlain  bool
}

// compilePattern compiles a pattern, or returns what is wrong with it. Without
// canAnchor, as for gmatch, a ^ at the beginning stands for itself.
func compilePattern(text string, canAnchor bool) (*pattern, error) {
	c := &patternReader{text: text, p: &pattern{}}
	if canAnchor && strings.HasPrefix(text, "^") {
		c.p.anchored, c.at = true, 1
	}
	if rest := text[c.at:]; !strings.ContainsAny(rest, specials+")") {
		c.p.plain, c.p.isPlain = rest, true
		return c.p, nil
	}
	for c.at < len(text) {
		if err := c.item(); err != nil {
			return nil, err
		}
		if len(c.p.items) > maxItems {
			return nil, fmt.Errorf("pattern too complex (limit %d items)", maxItems)
		}
	}
	if len(c.open) > 0 {
		return nil, errors.New("unfinished capture")
	}
	if c.repeats > maxRepeats {
		return nil, fmt.Errorf("pattern too complex (limit %d repetitions)", maxRepeats)
	}
	c.add(patternItem{op: opDone})
	return c.p, nil
}

type patternReader struct {
	text    string
	at      int
	p       *pattern
	open    []int // captures that did not end yet
	closed  [maxCaptures]bool
	repeats int
}

func (r *patternReader) add(i patternItem) { r.p.items = append(r.p.items, i) }

// next reads a byte; ok is false at the end.
func (r *patternReader) next() (c byte, ok bool) {
	if r.at >= len(r.text) {
		return 0, false
	}
	r.at++
	return r.text[r.at-1], true
}

// item compiles the next item of the pattern.
func (r *patternReader) item() error {
	c, _ := r.next()
	switch {
	case c == '(':
		return r.opening()
	case c == ')':
		return r.closing()
	case c == '$' && r.at == len(r.text):
		r.add(patternItem{op: opAtEnd})
		return nil
	case c == '%':
		return r.escaped()
	case c == '[':
		set, err := r.set()
		if err != nil {
			return err
		}
		r.single(patternItem{op: opSet, set: set})
	case c == '.':
		r.single(patternItem{op: opAny})
	default:
		r.single(patternItem{op: opByte, b: c})
	}
	return nil
}

// single adds an item that matches one byte, with the repetition that follows.
func (r *patternReader) single(i patternItem) {
	if r.at < len(r.text) {
		switch c := r.text[r.at]; c {
		case '*', '+', '-', '?':
			i.repeat = c
			r.at++
			r.repeats++
		}
	}
	r.add(i)
}

// opening compiles what follows a (: the beginning of a capture, or () as a whole.
func (r *patternReader) opening() error {
	n := len(r.p.captures)
	if n >= maxCaptures {
		return errors.New("too many captures")
	}
	if strings.HasPrefix(r.text[r.at:], ")") {
		r.at++
		r.p.captures, r.closed[n] = append(r.p.captures, true), true
		r.add(patternItem{op: opPlace, n: n})
		return nil
	}
	r.p.captures, r.open = append(r.p.captures, false), append(r.open, n)
	r.add(patternItem{op: opOpen, n: n})
	return nil
}

// closing compiles a ): it ends the capture that was opened last.
func (r *patternReader) closing() error {
	last := len(r.open) - 1
	if last < 0 {
		return errors.New("invalid pattern capture")
	}
	n := r.open[last]
	r.open, r.closed[n] = r.open[:last], true
	r.add(patternItem{op: opClose, n: n})
	return nil
}

// escaped compiles what follows a %: %b, %f, a digit, a class of characters or a literal
// one.
func (r *patternReader) escaped() error {
	c, ok := r.next()
	switch {
	case !ok:
		return errors.New("malformed pattern (ends with '%')")
	case c == 'b':
		if r.at+2 > len(r.text) {
			return errors.New("unbalanced pattern")
		}
		r.add(patternItem{op: opBalance, b: r.text[r.at], to: r.text[r.at+1]})
		r.at += 2
	case c == 'f':
		if open, _ := r.next(); open != '[' {
			return errors.New("missing '[' after '%f' in pattern")
		}
		set, err := r.set()
		if err != nil {
			return err
		}
		r.add(patternItem{op: opFrontier, set: set})
	case c >= '0' && c <= '9':
		n := int(c) - '1'
		if n < 0 || n >= len(r.p.captures) || !r.closed[n] || r.p.captures[n] {
			return errors.New("invalid capture index")
		}
		r.add(patternItem{op: opAgain, n: n})
	default:
		if set, ok := byteClass(c); ok {
			r.single(patternItem{op: opSet, set: set})
		} else {
			r.single(patternItem{op: opByte, b: c})
		}
	}
	return nil
}

var errNoBracket = errors.New("malformed pattern (missing ']')")

// set reads a set such as [a-z], of which the [ was read. A ] that comes first, or
// behind a range that ends in %, stands for itself.
func (r *patternReader) set() (set byteSet, err error) {
	not := strings.HasPrefix(r.text[r.at:], "^")
	if not {
		r.at++
	}
	for itself := true; itself || !strings.HasPrefix(r.text[r.at:], "]"); {
		itself = false
		c, ok := r.next()
		if !ok {
			return set, errNoBracket
		}
		if c == '%' {
			if c, ok = r.next(); !ok {
				return set, errNoBracket
			}
			if class, ok := byteClass(c); ok {
				for i := range set {
					set[i] |= class[i]
				}
			} else {
				set.add(c)
			}
			continue
		}
		if rest := r.text[r.at:]; len(rest) >= 2 && rest[0] == '-' && rest[1] != ']' {
			set.addRange(c, rest[1])
			r.at += 2
			itself = rest[1] == '%'
			continue
		}
		set.add(c)
	}
	r.at++
	if not {
		set = set.inverted()
	}
	return set, nil
}

// byteClasses are the ranges of what %a, %d and so on match, first and last byte.
var byteClasses = map[byte]string{
	'a': "azAZ", 'c': "\x00\x1f\x7f\x7f", 'd': "09", 'l': "az", 'p': "!/:@[`{~", 's': "\t\r  ",
	'u': "AZ", 'w': "azAZ09", 'x': "09afAF", 'z': "\x00\x00",
}

// byteClass returns the bytes that a letter behind % stands for; a capital stands for
// all others. ok is false for a letter that names no class.
func byteClass(letter byte) (set byteSet, ok bool) {
	ranges, ok := byteClasses[letter|0x20]
	for i := 0; i < len(ranges); i += 2 {
		set.addRange(ranges[i], ranges[i+1])
	}
	if ok && letter < 'a' {
		set = set.inverted()
	}
	return set, ok
}
