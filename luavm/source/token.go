package source

import (
	"bytes"
	"strings"
)

// kind is what a token means for the depth of a text.
type kind int

const (
	end       kind = iota
	name           // a word of the author's
	word           // a keyword
	value          // a number, or ...
	text           // a string of any kind
	opening        // ( { [
	closing        // ) } ]
	separator      // , ; = and the colons of a label
	operator       // whatever else
)

type token struct {
	kind kind
	text []byte // of a name or a keyword
}

// reader reads the tokens of a text and counts how deep they nest.
type reader struct {
	src  []byte
	pos  int
	line int
	from int // where the last token begins

	frames    []frame
	depth     int  // of all frames together
	operand   bool // the last token ended an operand
	functions int
	err       error
}

// next returns the next token that is no comment.
func (r *reader) next() token {
	for r.pos < len(r.src) {
		c := r.src[r.pos]
		r.from = r.pos
		switch {
		case c == '\n':
			r.line++
			r.pos++
		case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			r.pos++
		case bytes.HasPrefix(r.src[r.pos:], []byte("--")):
			r.comment()
		case isLetter(c):
			return r.word()
		case isDigit(c) || c == '.' && r.pos+1 < len(r.src) && isDigit(r.src[r.pos+1]):
			r.number()
			return token{kind: value}
		case c == '"' || c == '\'':
			r.quoted(c)
			return token{kind: text}
		case c == '[' && r.long():
			return token{kind: text}
		default:
			return r.symbol()
		}
	}
	return token{kind: end}
}

// comment skips a comment.
func (r *reader) comment() {
	r.pos += len("--")
	if r.pos < len(r.src) && r.src[r.pos] == '[' && r.long() {
		return
	}
	for r.pos < len(r.src) && r.src[r.pos] != '\n' {
		r.pos++
	}
}

// word reads a name or a keyword.
func (r *reader) word() token {
	start := r.pos
	for r.pos < len(r.src) && (isLetter(r.src[r.pos]) || isDigit(r.src[r.pos])) {
		r.pos++
	}
	w := r.src[start:r.pos]
	if isKeyword(w) {
		return token{word, w}
	}
	return token{name, w}
}

// isKeyword reports whether a word is one of Lua's own.
func isKeyword(w []byte) bool {
	switch string(w) {
	case "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
		"local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while":
		return true
	}
	return false
}

// number skips a number: letters, digits and dots. The sign of an exponent is left, and
// read as an operator, which does no harm.
func (r *reader) number() {
	for r.pos < len(r.src) && (isLetter(r.src[r.pos]) || isDigit(r.src[r.pos]) || r.src[r.pos] == '.') {
		if bytes.HasPrefix(r.src[r.pos:], []byte("..")) {
			return
		}
		r.pos++
	}
}

// quoted skips a string between quotes, or to the end of its line.
func (r *reader) quoted(quote byte) {
	for r.pos++; r.pos < len(r.src); r.pos++ {
		switch r.src[r.pos] {
		case quote:
			r.pos++
			return
		case '\\':
			r.pos++
			if r.pos < len(r.src) && r.src[r.pos] == '\n' {
				r.line++
			}
		case '\n': // it is no Lua
			return
		}
	}
	r.pos = len(r.src)
}

// long skips a string or comment in long brackets, [[…]] or [=[…]=], up to the end of
// the text if it is not closed. It returns false if none begins here.
func (r *reader) long() bool {
	level := r.pos + 1
	for level < len(r.src) && r.src[level] == '=' {
		level++
	}
	if level >= len(r.src) || r.src[level] != '[' {
		return false
	}
	close := "]" + strings.Repeat("=", level-r.pos-1) + "]"
	inside := r.src[level+1:]
	if at := bytes.Index(inside, []byte(close)); at >= 0 {
		r.line += bytes.Count(inside[:at], []byte("\n"))
		r.pos = level + 1 + at + len(close)
		return true
	}
	r.pos = len(r.src)
	return true
}

// symbol reads an operator, a bracket or a separator.
func (r *reader) symbol() token {
	rest := r.src[r.pos:]
	for _, s := range []struct {
		text string
		kind kind
	}{{"...", value}, {"..", operator}, {"==", operator}, {"::", separator}, {"=", separator}, {",", separator}, {";", separator}} {
		if bytes.HasPrefix(rest, []byte(s.text)) {
			r.pos += len(s.text)
			return token{kind: s.kind}
		}
	}
	two := len(rest) > 1 && rest[1] == '=' && strings.IndexByte("~<>", rest[0]) >= 0
	r.pos++
	switch {
	case two:
		r.pos++
		return token{kind: operator}
	case strings.IndexByte("({[", rest[0]) >= 0:
		return token{kind: opening}
	case strings.IndexByte(")}]", rest[0]) >= 0:
		return token{kind: closing}
	}
	return token{kind: operator}
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// frame is an open bracket or block. Some of its contents count as levels too: the
// operators of the expression that is read, and each elseif.
type frame struct{ operators, elseifs int }
