// Package source checks whether the Lua parser and compiler can be given a text.
//
// Both recurse, and keep much for each level and each function: half a megabyte
// of opening brackets takes hundreds of megabytes before it turns out to be no
// program. The files of a project that nobody approved are parsed too, to
// describe them, so [Check] reads the tokens first, in one pass that keeps
// nothing, and refuses what no person writes.
package source

import (
	"bytes"
	"errors"
	"fmt"
)

// Bounds of a text, far above those of Lua's own compiler.
const (
	MaxSize      = 512 << 10
	MaxNested    = 1000 // brackets, blocks, and operators of one expression, inside each other
	MaxFunctions = 5000
)

// Errors of [Check].
var (
	ErrTooLarge  = fmt.Errorf("the file is larger than %d KiB", MaxSize>>10)
	ErrTooDeep   = errors.New("it is nested too deep")
	ErrFunctions = fmt.Errorf("it has more than %d functions", MaxFunctions)
)

// Normal drops what may stand before the first line of a program: a byte order
// mark, and a line for the shell, which becomes a comment.
func Normal(src []byte) []byte {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if bytes.HasPrefix(src, []byte("#")) {
		src = append([]byte("--"), src...)
	}
	return src
}

// Check reports what is too much in a text, and the line of it. It finds no mistakes:
// up to the first one it reads as the parser does, which reads no further then.
func Check(src []byte) (line int, err error) {
	if len(src) > MaxSize {
		return 1, ErrTooLarge
	}
	r := reader{src: src, line: 1, frames: []frame{{}}}
	for r.err == nil {
		t := r.next()
		if t.kind == end {
			return 0, nil
		}
		r.count(t)
	}
	return r.line, r.err
}

// count updates the depth for a token that opens, closes or continues something.
func (r *reader) count(t token) {
	switch t.kind {
	case name:
		if r.operand { // two in a row: a new statement
			r.reset()
		}
		r.operand = true
	case value:
		r.operand = true
	case text:
		if r.operand { // f"text"
			r.operator()
		}
		r.operand = true
	case opening:
		if r.operand { // f(…), f{…}, t[…]
			r.operator()
		}
		r.enter()
	case closing:
		r.exit()
	case separator:
		r.reset()
	case operator:
		r.operator()
	case word:
		r.keyword(string(t.text))
	}
}

// keyword counts a keyword.
func (r *reader) keyword(word string) {
	switch word {
	case "and", "or", "not":
		r.operator()
	case "nil", "true", "false":
		r.operand = true
	case "function":
		if r.functions++; r.functions > MaxFunctions {
			r.err = ErrFunctions
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

func (r *reader) top() *frame { return &r.frames[len(r.frames)-1] }

// deeper adds n levels; too many are an error.
func (r *reader) deeper(n int) {
	if r.depth += n; r.depth > MaxNested {
		r.err = ErrTooDeep
	}
}

// operator counts an operator as a level of the expression that is read.
func (r *reader) operator() {
	r.top().operators++
	r.deeper(1)
	r.operand = false
}

// reset begins a new expression in the innermost bracket or block: the levels of the
// last one, which are its operators, are taken off.
func (r *reader) reset() {
	r.depth -= r.top().operators
	r.top().operators = 0
	r.operand = false
}

// enter counts a bracket or a block that opens.
func (r *reader) enter() {
	r.frames = append(r.frames, frame{})
	r.deeper(1)
	r.operand = false
}

// exit takes off the levels of the bracket or block that ends. One that nothing opened,
// which is no Lua, is ignored.
func (r *reader) exit() {
	if len(r.frames) > 1 { // else it is no Lua
		r.depth -= 1 + r.top().operators + r.top().elseifs
		r.frames = r.frames[:len(r.frames)-1]
	}
	r.operand = true
}
