package tool

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// pattern matches lines. Every line that matches contains the literal, so that most
// lines never meet the regular expression, which is what makes a search in a large tree
// fast.
type pattern struct {
	re      *regexp.Regexp
	literal literal
}

// literal is a text that a match contains; with fold, in whatever case. Then it
// is in lower case and ASCII.
type literal struct {
	text []byte // may be empty
	fold bool
}

// newPattern prepares a regular expression for a search. Where no literal can be found
// in it, every line meets it.
func newPattern(re *regexp.Regexp) pattern {
	p := pattern{re: re}
	if tree, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		p.literal = required(tree.Simplify())
	}
	return p
}

// required returns the longest literal that every match of a regular expression
// contains, as far as its outermost parts tell.
func required(re *syntax.Regexp) (best literal) {
	switch re.Op {
	case syntax.OpLiteral:
		return literalOf(string(re.Rune), re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if l := required(sub); len(l.text) > len(best.text) {
				best = l
			}
		}
	}
	return best
}

// literalOf is a literal of s; an empty one if s cannot be compared byte by byte.
func literalOf(s string, fold bool) literal {
	if fold {
		s = strings.ToLower(s)
	}
	for _, r := range s {
		// A regular expression reads any broken UTF-8 as RuneError, so RuneError matches
		// more than its own bytes.
		if r == utf8.RuneError || fold && r >= utf8.RuneSelf {
			return literal{}
		}
	}
	return literal{[]byte(s), fold}
}

// hay is the text in which the literal is looked for, of the same length as data; nil if
// data has to be searched without it.
func (l literal) hay(data []byte, b *buffers) []byte {
	switch {
	case len(l.text) == 0:
		return nil
	case !l.fold:
		return data
	// Two characters outside of ASCII are the same as k and s in another case.
	case bytes.Contains(data, []byte("\u212A")), bytes.Contains(data, []byte("\u017F")):
		return nil
	}
	b.lower = append(b.lower[:0], data...)
	for i, c := range b.lower {
		if 'A' <= c && c <= 'Z' {
			b.lower[i] = c + 'a' - 'A'
		}
	}
	return b.lower
}

// lines returns the lines of data that match, at most limit. If ctx ends it returns
// those found until then.
func (p pattern) lines(ctx context.Context, data []byte, limit int, b *buffers) []span {
	var found []span
	hay := p.literal.hay(data, b)
	number := 1
	for start := 0; start < len(data) && len(found) < limit; number++ {
		if hay != nil {
			i := bytes.Index(hay[start:], p.literal.text)
			if i < 0 {
				break
			}
			skip := 1 + bytes.LastIndexByte(data[start:start+i], '\n')
			number += bytes.Count(data[start:start+skip], []byte("\n"))
			start += skip
		}
		end, next := len(data), len(data)
		if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
			end, next = start+i, start+i+1
		}
		if end > start && data[end-1] == '\r' {
			end--
		}
		if p.re.Match(data[start:end]) {
			found = append(found, span{number, start, end})
		}
		if number%4096 == 0 && ctx.Err() != nil {
			break
		}
		start = next
	}
	return found
}

// span is a line: its number and where it is in the file, without its ending.
type span struct{ number, start, end int }

// buffers are what a worker uses again for each file.
type buffers struct{ file, lower []byte }
