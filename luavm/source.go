package luavm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Whether the parser and the compiler of Lua can be given a text. Both recurse, and keep much for each level and each function: half a megabyte
// of opening brackets takes hundreds of megabytes before it turns out to be no
// program. The files of a project that nobody approved are parsed too, to
// describe them, so [CheckSource] reads the tokens first, in one pass that keeps
// nothing, and refuses what no user writes.

// Bounds of a text, far above those of Lua's own compiler.
const (
	MaxSource    = 512 << 10
	maxNested    = 1000 // brackets, blocks, and operators of one expression, inside each other
	maxFunctions = 5000
)

// Errors of [CheckSource].
var (
	errTooLarge  = fmt.Errorf("the file is larger than %d KiB", MaxSource>>10)
	errTooDeep   = errors.New("it is nested too deep")
	errFunctions = fmt.Errorf("it has more than %d functions", maxFunctions)
)

// NormalSource drops what may stand before the first line of a program: a byte order
// mark, and a line for the shell, which becomes a comment.
func NormalSource(src []byte) []byte {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if bytes.HasPrefix(src, []byte("#")) {
		src = append([]byte("--"), src...)
	}
	return src
}

// CheckSource reports what is too much in a text, and the line of it. It finds no mistakes:
// up to the first one it reads as the parser does, which reads no further then.
func CheckSource(src []byte) (line int, err error) {
	if len(src) > MaxSource {
		return 1, errTooLarge
	}
	r := tokenReader{src: src, line: 1, frames: []frame{{}}}
	for r.err == nil {
		t := r.next()
		if t.kind == tokenEnd {
			return 0, nil
		}
		r.count(t)
	}
	return r.line, r.err
}

// count updates the depth for a token that opens, closes or continues something.
func (r *tokenReader) count(t token) {
	switch t.kind {
	case tokenName:
		if r.operand { // two in a row: a new statement
			r.reset()
		}
		r.operand = true
	case tokenValue:
		r.operand = true
	case tokenText:
		if r.operand { // f"text"
			r.operator()
		}
		r.operand = true
	case tokenOpening:
		if r.operand { // f(…), f{…}, t[…]
			r.operator()
		}
		r.enter()
	case tokenClosing:
		r.exit()
	case tokenSeparator:
		r.reset()
	case tokenOperator:
		r.operator()
	case tokenWord:
		r.keyword(string(t.text))
	}
}

// keyword counts a keyword.
func (r *tokenReader) keyword(word string) {
	switch word {
	case "and", "or", "not":
		r.operator()
	case "nil", "true", "false":
		r.operand = true
	case "function":
		if r.functions++; r.functions > maxFunctions {
			r.err = errFunctions
		}
		r.enter()
	case "do", "if", "repeat":
		r.reset()
		r.enter()
	case "end", "until":
		r.exit()
	case "elseif": // is nested in the branch before it
		r.reset()
		r.top().elseifs++
		r.deeper(1)
	default: // then, else, local, return, while, for, in, break: an expression begins
		r.reset()
	}
}

func (r *tokenReader) top() *frame { return &r.frames[len(r.frames)-1] }

// deeper adds n levels; too many are an error.
func (r *tokenReader) deeper(n int) {
	if r.depth += n; r.depth > maxNested {
		r.err = errTooDeep
	}
}

// operator counts an operator as a level of the expression that is read.
func (r *tokenReader) operator() {
	r.top().operators++
	r.deeper(1)
	r.operand = false
}

// reset begins a new expression in the innermost bracket or block: the levels of the
// last one, which are its operators, are taken off.
func (r *tokenReader) reset() {
	r.depth -= r.top().operators
	r.top().operators = 0
	r.operand = false
}

// enter counts a bracket or a block that opens.
func (r *tokenReader) enter() {
	r.frames = append(r.frames, frame{})
	r.deeper(1)
	r.operand = false
}

// exit takes off the levels of the bracket or block that ends. One that nothing opened,
// which is no Lua, is ignored.
func (r *tokenReader) exit() {
	if len(r.frames) > 1 { // else it is no Lua
		r.depth -= 1 + r.top().operators + r.top().elseifs
		r.frames = r.frames[:len(r.frames)-1]
	}
	r.operand = true
}

// tokenKind is what a token means for the depth of a text.
type tokenKind int

const (
	tokenEnd       tokenKind = iota
	tokenName                // a word of the author's
	tokenWord                // a keyword
	tokenValue               // a number, or ...
	tokenText                // a string of any kind
	tokenOpening             // ( { [
	tokenClosing             // ) } ]
	tokenSeparator           // , ; = and the colons of a label
	tokenOperator            // whatever else
)

type token struct {
	kind tokenKind
	text []byte // of a name or a keyword
}

// tokenReader reads the tokens of a text and counts how deep they nest.
type tokenReader struct {
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
func (r *tokenReader) next() token {
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
			return token{kind: tokenValue}
		case c == '"' || c == '\'':
			r.quoted(c)
			return token{kind: tokenText}
		case c == '[' && r.long():
			return token{kind: tokenText}
		default:
			return r.symbol()
		}
	}
	return token{kind: tokenEnd}
}

// comment skips a comment.
func (r *tokenReader) comment() {
	r.pos += len("--")
	if r.pos < len(r.src) && r.src[r.pos] == '[' && r.long() {
		return
	}
	for r.pos < len(r.src) && r.src[r.pos] != '\n' {
		r.pos++
	}
}

// word reads a name or a keyword.
func (r *tokenReader) word() token {
	start := r.pos
	for r.pos < len(r.src) && (isLetter(r.src[r.pos]) || isDigit(r.src[r.pos])) {
		r.pos++
	}
	w := r.src[start:r.pos]
	if isKeyword(w) {
		return token{tokenWord, w}
	}
	return token{tokenName, w}
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
func (r *tokenReader) number() {
	for r.pos < len(r.src) && (isLetter(r.src[r.pos]) || isDigit(r.src[r.pos]) || r.src[r.pos] == '.') {
		if bytes.HasPrefix(r.src[r.pos:], []byte("..")) {
			return
		}
		r.pos++
	}
}

// quoted skips a string between quotes, or to the end of its line.
func (r *tokenReader) quoted(quote byte) {
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
func (r *tokenReader) long() bool {
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
func (r *tokenReader) symbol() token {
	rest := r.src[r.pos:]
	for _, s := range []struct {
		text string
		kind tokenKind
	}{{"...", tokenValue}, {"..", tokenOperator}, {"==", tokenOperator}, {"::", tokenSeparator}, {"=", tokenSeparator}, {",", tokenSeparator}, {";", tokenSeparator}} {
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
		return token{kind: tokenOperator}
	case strings.IndexByte("({[", rest[0]) >= 0:
		return token{kind: tokenOpening}
	case strings.IndexByte(")}]", rest[0]) >= 0:
		return token{kind: tokenClosing}
	}
	return token{kind: tokenOperator}
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// frame is an open bracket or block. Some of its contents count as levels too: the
// operators of the expression that is read, and each elseif.
type frame struct{ operators, elseifs int }

// openedBlock is a word that opens a block: "function", "if", "do", "for", "while" or "repeat",
// and the line in which it stands.
type openedBlock struct {
	Word string
	Line int
}

// opened is an openedBlock, or a bracket if it has no word, while it is open.
type opened struct {
	openedBlock
	indent int
}

// unclosedBlock returns the block that most likely lacks its end, in a text that the parser reads
// to the line upTo and no further; ok is false if none is open. It goes by what an author
// indents: an end that stands further left than the block that it would close belongs to
// another one.
func unclosedBlock(src []byte, upTo int) (block openedBlock, ok bool) {
	r := tokenReader{src: src, line: 1, frames: []frame{{}}}
	var open []opened
	head := "" // for or while, before its do
	for t := r.next(); t.kind != tokenEnd && r.line <= upTo; t = r.next() {
		switch {
		case t.kind == tokenOpening:
			open = append(open, opened{})
		case t.kind == tokenClosing:
			if top, isOpen := innermost(open); isOpen && len(open) > 0 && open[len(open)-1].Word != "" {
				return top, true
			}
			open = open[:max(len(open)-1, 0)]
		case t.kind != tokenWord:
		case string(t.text) == "for" || string(t.text) == "while":
			head = string(t.text)
		case bytes.Contains([]byte(" function if do repeat "), append(append([]byte(" "), t.text...), ' ')):
			name := string(t.text)
			if name == "do" && head != "" {
				name, head = head, ""
			}
			open = append(open, opened{openedBlock{name, r.line}, indentOf(src, r.pos)})
		case string(t.text) == "end" || string(t.text) == "until":
			if n := len(open); n > 0 {
				if top := open[n-1]; top.Word != "" && beginsLine(src, r.pos-len(t.text)) && indentOf(src, r.pos) < top.indent {
					return top.openedBlock, true
				}
				open = open[:n-1]
			}
		}
	}
	return innermost(open)
}

// innermost returns the block that was opened last and is no bracket.
func innermost(open []opened) (openedBlock, bool) {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i].Word != "" {
			return open[i].openedBlock, true
		}
	}
	return openedBlock{}, false
}

// lineStart returns where the line of a position begins.
func lineStart(src []byte, pos int) int { return bytes.LastIndexByte(src[:pos], '\n') + 1 }

// indentOf counts the blanks and tabs at the beginning of the line of a position.
func indentOf(src []byte, pos int) int {
	line := src[lineStart(src, pos):]
	return len(line) - len(bytes.TrimLeft(line, " \t"))
}

// beginsLine reports whether only blanks stand before a position in its line.
func beginsLine(src []byte, pos int) bool {
	return len(bytes.TrimSpace(src[lineStart(src, pos):pos])) == 0
}

// bareLines returns the lines of a text without its comments, and with nothing in its strings.
func bareLines(src []byte) [][]byte {
	r := tokenReader{src: src, line: 1, frames: []frame{{}}}
	bare := bytes.Clone(src)
	for i, c := range bare {
		if c != '\n' {
			bare[i] = ' '
		}
	}
	for {
		t := r.next()
		if t.kind == tokenEnd {
			return bytes.Split(bare, []byte("\n"))
		}
		from := r.from
		if t.kind == tokenText {
			bare[from], bare[r.pos-1] = src[from], src[r.pos-1]
			continue
		}
		copy(bare[from:r.pos], src[from:r.pos])
	}
}
