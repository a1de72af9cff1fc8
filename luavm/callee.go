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

// named adds to the message "attempt to call a non-function object" the names of what is
// called on that line and may be meant. Other messages, and lines where a call has no
// name or too many have one, are returned as they are.
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

// calleesHere lists the names of what the running Lua function calls on its current
// line, "" for a call without a name. Globals that are functions are left out.
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

// functionAt returns the function at a level of the stack, 0 being the running one, and
// its current line; nil if there is none.
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

// undotted adds to a message about wrong arguments the advice to call the function with
// a dot, if the line calls one of that name with a colon: functions of hooks and modules
// do not expect themselves as first argument.
func undotted(L *lua.LState, message string) string {
	if !strings.Contains(message, "got table)") && !strings.Contains(message, " takes at most ") {
		return message
	}
	for level := range 2 { // level 0 may be the called Go function itself
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

// calleeAt finds the name of what the call instruction at pc calls: it goes back to the
// instruction that loaded the called register. Arguments are in higher registers. The
// callee is empty if that was an expression without a name.
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

// constant returns the i-th constant of a function as text; "" if there is none.
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
