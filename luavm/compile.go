package luavm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"pi/luavm/source"
)

// Compile turns source into a prototype, which any number of VMs may run. It
// touches no VM and may run in parallel. Errors read "name:line: message".
func Compile(name string, src []byte) (*lua.FunctionProto, error) {
	if bytes.HasPrefix(src, []byte("\x1b")) {
		return nil, fmt.Errorf("%s:1: compiled Lua is not accepted, only source text", name)
	}
	if line, err := source.Check(src); errors.Is(err, source.ErrTooLarge) {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	} else if err != nil {
		return nil, fmt.Errorf("%s:%d: cannot be compiled: %w", name, line, err)
	}
	src = source.Normal(src)
	chunk, err := parse.Parse(bytes.NewReader(src), name)
	if err != nil {
		return nil, syntaxError(name, src, err)
	}
	if err := repair(chunk); err != nil {
		return nil, fmt.Errorf("%s:1: cannot be compiled: %w", name, err)
	}
	return compileChunk(name, func() (*lua.FunctionProto, error) { return lua.Compile(chunk, name) })
}

// compileChunk makes errors of the compiler's errors and of its panics.
func compileChunk(name string, compile func() (*lua.FunctionProto, error)) (proto *lua.FunctionProto, err error) {
	defer func() {
		if r := recover(); r != nil {
			proto, err = nil, fmt.Errorf("%s:1: cannot be compiled: %v", name, r)
		}
	}()
	proto, err = compile()
	var c *lua.CompileError
	if errors.As(err, &c) {
		return nil, fmt.Errorf("%s:%d: %s", name, c.Line, c.Message)
	}
	if err == nil {
		tighten(proto)
	}
	return proto, err
}

// tighten gives back what the compiler kept in reserve: 12 KB for each function,
// however small.
func tighten(p *lua.FunctionProto) {
	p.Code = append(make([]uint32, 0, len(p.Code)), p.Code...)
	p.DbgSourcePositions = append(make([]int, 0, len(p.DbgSourcePositions)), p.DbgSourcePositions...)
	for _, inner := range p.FunctionPrototypes {
		tighten(inner)
	}
}

func syntaxError(name string, src []byte, err error) error {
	var p *parse.Error
	if !errors.As(err, &p) {
		return fmt.Errorf("%s:1: %w", name, err)
	}
	message := strings.TrimSpace(p.Message)
	if p.Pos.Line == parse.EOF {
		line := bytes.Count(bytes.TrimRight(src, "\n"), []byte("\n")) + 1
		return fmt.Errorf("%s:%d: %s at the end of the file", name, line, message)
	}
	if p.Token != "" {
		message += fmt.Sprintf(" near '%s'", p.Token)
	}
	return fmt.Errorf("%s:%d: %s", name, p.Pos.Line, message)
}
