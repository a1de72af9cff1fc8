package luavm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua does not name what it could not call, which is nearly always a
// function whose name is misspelt. The code of the line knows the names.

const notCallable = "attempt to call a non-function object"

// maxCallees bounds how many names a message offers.
const maxCallees = 3

// named adds to message the names of what is called on the line where it was
// raised.
func named(L *lua.LState, message string) string {
	if !strings.HasSuffix(message, notCallable) {
		return message
	}
	var names []string
	for _, name := range calleesHere(L) {
		if name == "" {
			return message
		}
		if quoted := fmt.Sprintf("%q", name); !slices.Contains(names, quoted) {
			names = append(names, quoted)
		}
	}
	if len(names) == 0 || len(names) > maxCallees {
		return message
	}
	return strings.TrimSuffix(message, notCallable) + "attempt to call " + strings.Join(names, " or ") + ", which is no function"
}

// callee is what one call instruction calls; without a name it is the result of
// an expression.
type callee struct {
	name   string
	global bool
}

// calleesHere lists what the Lua function that runs calls on its current line,
// by name, without the globals that can be called.
func calleesHere(L *lua.LState) (all []string) {
	fn, line := functionAt(L, 0)
	if fn == nil || fn.IsG {
		return nil
	}
	for pc, inst := range fn.Proto.Code {
		if op := opOf(inst); op != lua.OP_CALL && op != lua.OP_TAILCALL || fn.Proto.DbgSourcePositions[pc] != line {
			continue
		}
		c := calleeAt(fn.Proto, pc)
		if c.global && fn.Env.RawGetString(c.name).Type() == lua.LTFunction {
			continue
		}
		all = append(all, c.name)
	}
	return all
}

// functionAt is the function at a level of the stack and its current line; nil
// where there is none.
func functionAt(L *lua.LState, level int) (*lua.LFunction, int) {
	dbg, ok := L.GetStack(level)
	if !ok {
		return nil, 0
	}
	v, err := L.GetInfo("fl", dbg, lua.LNil)
	fn, ok := v.(*lua.LFunction)
	if err != nil || !ok {
		return nil, 0
	}
	return fn, dbg.CurrentLine
}

// undotted adds to a message about arguments that the function was called with a
// colon: the functions of hooks and modules are called with a dot.
func undotted(L *lua.LState, message string) string {
	if !strings.Contains(message, "got table)") && !strings.Contains(message, " takes at most ") {
		return message
	}
	for level := range 2 { // the function itself may be on the stack
		fn, line := functionAt(L, level)
		if fn == nil || fn.IsG {
			continue
		}
		for pc, inst := range fn.Proto.Code {
			if opOf(inst) != lua.OP_SELF || fn.Proto.DbgSourcePositions[pc] != line {
				continue
			}
			name := constant(fn.Proto, int(inst>>9)&0xff)
			itsArguments := regexp.MustCompile(`(bad argument #1 to '?|')([\w.]+\.)?` + regexp.QuoteMeta(name) + `\b`)
			if itsArguments.MatchString(message) {
				return message + "; call it with a dot: ." + name + "(…)"
			}
		}
		break
	}
	return message
}

// calleeAt looks for the instruction that loaded the function that is called at
// pc. What is loaded in between, the arguments, is in higher registers.
func calleeAt(p *lua.FunctionProto, pc int) callee {
	a := argA(p.Code[pc])
	for at := pc - 1; at >= 0; at-- {
		inst := p.Code[at]
		if argA(inst) != a {
			continue
		}
		switch opOf(inst) {
		case lua.OP_GETGLOBAL:
			return callee{name: constant(p, int(inst&0x3ffff)), global: true}
		case lua.OP_GETTABLEKS, lua.OP_SELF:
			return callee{name: constant(p, int(inst>>9)&0xff)}
		case lua.OP_MOVE:
			return callee{name: localName(p, int(inst&0x1ff), at)}
		case lua.OP_GETUPVAL:
			if i := int(inst & 0x1ff); i < len(p.DbgUpvalues) {
				return callee{name: p.DbgUpvalues[i]}
			}
			return callee{}
		case lua.OP_CALL, lua.OP_GETTABLE, lua.OP_CLOSURE:
			return callee{}
		}
	}
	return callee{}
}

func opOf(inst uint32) int { return int(inst >> 26) }
func argA(inst uint32) int { return int(inst>>18) & 0xff }

func constant(p *lua.FunctionProto, i int) string {
	if i >= len(p.Constants) {
		return ""
	}
	return p.Constants[i].String()
}

// localName is the name of the local variable that lives in a register at pc.
func localName(p *lua.FunctionProto, register, pc int) string {
	for _, l := range p.DbgLocals {
		if l.StartPc > pc {
			break
		}
		if pc >= l.EndPc {
			continue
		}
		if register == 0 {
			return l.Name
		}
		register--
	}
	return ""
}
