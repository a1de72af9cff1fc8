package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxParts bounds how long a name like a.b.c is.
const maxParts = 5

// written returns what the author wrote for the value in a register at pc, such as
// "event.input.path" or "pi.exec(…)"; "" for an expression without a name.
func written(p *lua.FunctionProto, pc, register int) string {
	return writtenParts(p, pc, register, maxParts)
}

// writtenParts is written for a name of at most so many parts: it goes back to the
// instruction that loaded the register.
func writtenParts(p *lua.FunctionProto, pc, register, parts int) string {
	if name := localName(p, register, pc); name != "" || parts == 0 {
		return name
	}
	at := loadOf(p, pc, register)
	if at < 0 {
		return ""
	}
	inst := p.Code[at]
	switch opOf(inst) {
	case lua.OP_GETGLOBAL:
		return constant(p, int(inst&0x3ffff))
	case lua.OP_GETUPVAL:
		if i := argB(inst); i < len(p.DbgUpvalues) {
			return p.DbgUpvalues[i]
		}
	case lua.OP_MOVE, lua.OP_MOVEN:
		return localName(p, argB(inst), at)
	case lua.OP_GETTABLEKS, lua.OP_SELF:
		return fieldOf(writtenParts(p, at, argB(inst), parts-1), keyOf(p, at, argC(inst)))
	case lua.OP_GETTABLE:
		object, key := writtenParts(p, at, argB(inst), parts-1), keyOf(p, at, argC(inst))
		if key == "" {
			key = writtenParts(p, at, argC(inst), parts-1)
		}
		if object != "" && key != "" {
			return object + "[" + key + "]"
		}
	case lua.OP_CALL:
		if fn := writtenParts(p, at, argA(inst), parts-1); fn != "" {
			return fn + "(…)"
		}
	}
	return ""
}

// keyOf returns what an argument at pc that is a key was written as: a constant, in a register
// or not, or the name of a local; "" for another value.
func keyOf(p *lua.FunctionProto, pc, arg int) string {
	if arg >= firstConstant {
		return constantArg(p, arg)
	}
	if name := localName(p, arg, pc); name != "" {
		return name
	}
	if at := loadOf(p, pc, arg); at >= 0 && opOf(p.Code[at]) == lua.OP_LOADK {
		return constant(p, int(p.Code[at]&0x3ffff))
	}
	return ""
}

// fieldOf is the name of a field; of an object without a name, the field alone.
func fieldOf(object, field string) string {
	if object == "" {
		return field
	}
	return object + "." + field
}

// loadOf returns the instruction before pc that loaded a register; -1 if there is none.
func loadOf(p *lua.FunctionProto, pc, register int) int {
	for at := pc - 1; at >= 0; at-- {
		inst := p.Code[at]
		if argA(inst) == register && loads(opOf(inst)) ||
			opOf(inst) == lua.OP_LOADNIL && argA(inst) <= register && register <= argB(inst) {
			return at
		}
	}
	return -1
}

// loads reports whether an instruction changes its register A.
func loads(op int) bool {
	switch op {
	case lua.OP_SETGLOBAL, lua.OP_SETUPVAL, lua.OP_SETTABLE, lua.OP_SETTABLEKS, lua.OP_SETLIST, lua.OP_JMP,
		lua.OP_EQ, lua.OP_LT, lua.OP_LE, lua.OP_TEST, lua.OP_RETURN, lua.OP_CLOSE, lua.OP_NOP:
		return false
	}
	return true
}

// isConstant reports whether a register was loaded with a constant.
func isConstant(p *lua.FunctionProto, pc, register int) bool {
	if localName(p, register, pc) != "" {
		return false
	}
	at := loadOf(p, pc, register)
	return at >= 0 && opOf(p.Code[at]) == lua.OP_LOADK
}

// firstConstant is the first argument of an instruction that means a constant and no
// register.
const firstConstant = 256

func opOf(inst uint32) int { return int(inst >> 26) }
func argA(inst uint32) int { return int(inst>>18) & 0xff }
func argB(inst uint32) int { return int(inst) & 0x1ff }
func argC(inst uint32) int { return int(inst>>9) & 0x1ff }

// constantArg returns the constant that an argument means as text; "" for a register.
func constantArg(p *lua.FunctionProto, arg int) string {
	if arg < firstConstant {
		return ""
	}
	return constant(p, arg-firstConstant)
}

// constant returns the i-th constant of a function as text; "" if there is none.
func constant(p *lua.FunctionProto, i int) string {
	if i >= len(p.Constants) {
		return ""
	}
	return p.Constants[i].String()
}

// isLocal reports whether a function has a local or an upvalue of a name.
func isLocal(p *lua.FunctionProto, name string) bool {
	for _, l := range p.DbgLocals {
		if l.Name == name {
			return true
		}
	}
	for _, upvalue := range p.DbgUpvalues {
		if upvalue == name {
			return true
		}
	}
	return false
}

// localName is the name of the local variable that lives in a register at pc; "" for none, and for
// one that the author did not write: those of loops and of [repair] begin with a bracket.
func localName(p *lua.FunctionProto, register, pc int) string {
	for _, l := range p.DbgLocals {
		if l.StartPc > pc {
			break
		}
		if pc >= l.EndPc {
			continue
		}
		if register > 0 {
			register--
			continue
		}
		if strings.HasPrefix(l.Name, "(") {
			return ""
		}
		return l.Name
	}
	return ""
}

// LineOfResult returns the line in which a function writes a field of a table, or without a
// field the one in which it returns something; the line in which the function begins, if
// that is none or more than one.
func LineOfResult(p *lua.FunctionProto, field string) int {
	found := 0
	for pc, inst := range p.Code {
		if !writes(p, inst, field) || p.DbgSourcePositions[pc] == found {
			continue
		}
		if found != 0 {
			return p.LineDefined
		}
		found = p.DbgSourcePositions[pc]
	}
	return max(found, p.LineDefined)
}

// writes reports whether an instruction writes a field, or without a field returns something.
func writes(p *lua.FunctionProto, inst uint32, field string) bool {
	switch op := opOf(inst); {
	case field == "":
		return op == lua.OP_RETURN && argB(inst) != 1 || op == lua.OP_TAILCALL
	default:
		return (op == lua.OP_SETTABLEKS || op == lua.OP_SETTABLE) && constantArg(p, argB(inst)) == field
	}
}
