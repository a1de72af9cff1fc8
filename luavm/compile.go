package luavm

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// Compile turns source into a prototype, which any number of VMs may run. It
// touches no VM and may run in parallel. Errors read "name:line: message".
func Compile(name string, src []byte) (*lua.FunctionProto, error) {
	chunk, err := Parse(name, src)
	if err != nil {
		return nil, err
	}
	repair(chunk)
	numbers := number(chunk)
	return compileChunk(name, func() (*lua.FunctionProto, error) {
		proto, err := lua.Compile(chunk, name)
		if err != nil { // which has numbers where lines belong
			return compilePlain(name, src)
		}
		numbers.restore(proto, chunk, 0)
		return proto, nil
	})
}

// compilePlain is Compile for a text that the compiler refuses: it says why, with the lines.
func compilePlain(name string, src []byte) (*lua.FunctionProto, error) {
	chunk, err := Parse(name, src)
	if err != nil {
		return nil, err
	}
	repair(chunk)
	return lua.Compile(chunk, name)
}

// Parse returns the syntax tree of source as its author wrote it. Errors are those of Compile.
func Parse(name string, src []byte) ([]ast.Stmt, error) {
	if bytes.HasPrefix(src, []byte("\x1b")) {
		return nil, fmt.Errorf("%s:1: compiled Lua is not accepted, only source text", name)
	}
	if isUTF16(src) {
		return nil, fmt.Errorf("%s:1: the text is UTF-16; save it as UTF-8", name)
	}
	if line, err := CheckSource(src); errors.Is(err, errTooLarge) {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	} else if err != nil {
		return nil, fmt.Errorf("%s:%d: cannot be compiled: %w", name, line, err)
	}
	src = NormalSource(src)
	chunk, err := parse.Parse(bytes.NewReader(src), name)
	if err != nil {
		return nil, syntaxError(name, src, err)
	}
	return chunk, nil
}

// Code compiles files for VMs that share it: one with the same name and the same bytes is
// compiled once, as long as a VM has it ([VM.NewChunk]). What no VM has any more goes with
// the next collection of garbage, so versions that somebody has written over take no
// memory. The zero value is ready, and may be used from any goroutine.
type Code struct {
	mu    sync.Mutex // guards files
	files map[fileKey]weak.Pointer[lua.FunctionProto]
}

// fileKey is what the result of compiling depends on. The name is in it for messages.
type fileKey struct {
	name string
	sum  [sha256.Size]byte
}

// Compile is [Compile], except where the file is compiled already. What is wrong is found
// anew each time. A nil Code shares nothing.
func (c *Code) Compile(name string, src []byte) (*lua.FunctionProto, error) {
	if c == nil {
		return Compile(name, src)
	}
	key := fileKey{name, sha256.Sum256(src)}
	if proto := c.find(key); proto != nil {
		return proto, nil
	}
	proto, err := Compile(name, src) // in parallel with others
	if err != nil {
		return nil, err
	}
	return c.keep(key, proto), nil
}

// find returns a compiled file that is still there, or nil.
func (c *Code) find(key fileKey) *lua.FunctionProto {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files[key].Value()
}

// keep stores a compiled file, and returns the one that another goroutine has stored
// meanwhile, if any.
func (c *Code) keep(key fileKey, proto *lua.FunctionProto) *lua.FunctionProto {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.files[key].Value(); first != nil {
		return first
	}
	if c.files == nil {
		c.files = map[fileKey]weak.Pointer[lua.FunctionProto]{}
	}
	c.files[key] = weak.Make(proto)
	runtime.AddCleanup(proto, c.drop, key)
	return proto
}

// drop forgets a file that was collected, unless it was compiled again meanwhile.
func (c *Code) drop(key fileKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files[key].Value() == nil {
		delete(c.files, key)
	}
}

// isUTF16 reports whether a text looks like UTF-16: it has the byte order mark of that,
// or a zero in just one of the first two bytes.
func isUTF16(src []byte) bool {
	return bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) ||
		len(src) > 1 && (src[0] == 0) != (src[1] == 0)
}

// compileChunk calls the compiler, makes an error of a panic in it and adds the place to
// its errors, and frees the memory that the result has in reserve.
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

// tighten copies the lists of a function into memory of their exact size: the compiler
// reserves 17 KB for each function, however small.
func tighten(p *lua.FunctionProto) {
	p.Code, p.Constants = exact(p.Code), exact(p.Constants)
	p.DbgSourcePositions, p.DbgLocals = exact(p.DbgSourcePositions), exact(p.DbgLocals)
	p.DbgCalls, p.DbgUpvalues = exact(p.DbgCalls), exact(p.DbgUpvalues)
	p.FunctionPrototypes = exact(p.FunctionPrototypes)
	for _, inner := range p.FunctionPrototypes {
		tighten(inner)
	}
}

func exact[T any](list []T) []T { return slices.Clip(slices.Clone(list)) }

// syntaxError is an error of the parser as "name:line: message".
func syntaxError(name string, src []byte, err error) error {
	var p *parse.Error
	if !errors.As(err, &p) {
		return fmt.Errorf("%s:1: %w", name, err)
	}
	line, token, near := p.Pos.Line, p.Token, fmt.Sprintf(" near '%s'", p.Token)
	if line == parse.EOF {
		line, token, near = bytes.Count(bytes.TrimRight(src, "\n"), []byte("\n"))+1, "", " at the end of the file"
	} else if p.Token == "" {
		near = ""
	}
	message := strings.TrimSpace(p.Message)
	switch message {
	case "syntax error", "parse error", "Invalid token":
		message = "syntax error"
	}
	return fmt.Errorf("%s:%d: %s%s%s", name, line, message, near, syntaxHint(src, line, token))
}

// NewChunk makes the function of a file. Messages about misspelt names look among those of
// the file.
func (vm *VM) NewChunk(L *lua.LState, file *lua.FunctionProto) *lua.LFunction {
	hintsOf(vm.main).note(file)
	return L.NewFunctionFromProto(file)
}

// hintsKey is where the hints of a VM are in its registry.
const hintsKey = "pi.hints"

// hintsValue is what messages of a VM are helped with.
type hintsValue struct {
	opaque
	hints *hints
}

func setHints(L *lua.LState, h *hints) {
	L.Get(lua.RegistryIndex).(*lua.LTable).RawSetString(hintsKey, &hintsValue{hints: h})
}

// hintsOf returns the hints of the VM of a thread.
func hintsOf(L *lua.LState) *hints {
	v, ok := L.Get(lua.RegistryIndex).(*lua.LTable).RawGetString(hintsKey).(*hintsValue)
	if !ok {
		return new(hints)
	}
	return v.hints
}
