package luavm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

var (
	notIndexable = regexp.MustCompile(`attempt to index a non-table object\((\w+)\) with key '((?s).*)'$`)
	notOperable  = regexp.MustCompile(`(?:cannot perform (\w+) operation between (\w+) and (\w+)|attempt to compare (\w+) with (\w+))$`)
)

// indexed names what was indexed and is no table, with the key as the author wrote it.
func indexed(L *lua.LState, message string, h *hints) string {
	if !strings.Contains(message, "attempt to index") { // most errors are others, and pcall catches many
		return message
	}
	m := notIndexable.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	head := strings.TrimSuffix(message, m[0])
	names := objectsHere(L, m[2])
	list := quoted(names)
	if list == "" {
		return fmt.Sprintf("%sattempt to index a %s value with key %q", head, m[1], m[2])
	}
	hint := ""
	if m[1] == "nil" && !strings.Contains(list, " or ") {
		hint = h.hint(L, names[0]) + h.ofFailed(L, 0, names[0])
	}
	return fmt.Sprintf("%sattempt to index %s, which is %s, with key %q%s", head, list, aValue(m[1]), m[2], hint)
}

// aValue is the name of a type as a part of a sentence: nil, a string.
func aValue(kind string) string {
	if kind == "nil" {
		return kind
	}
	return "a " + kind
}

// objectsHere lists the names of what the running Lua function indexes with a key on its
// current line, "" for something without a name; if there are none, what it indexes with a key
// that is not known.
func objectsHere(L *lua.LState, key string) []string {
	fn, line := functionAt(L, 0)
	if fn == nil || fn.IsG {
		return nil
	}
	p := fn.Proto
	var certain, possible []string
	for pc, inst := range p.Code {
		if p.DbgSourcePositions[pc] != line {
			continue
		}
		switch object, with := indexing(p, inst); {
		case object < 0:
		case with == key:
			certain = append(certain, written(p, pc, object))
		case with == "":
			possible = append(possible, written(p, pc, object))
		}
	}
	if certain == nil {
		return possible
	}
	return certain
}

// indexing returns the register that an instruction indexes and the key, "" for one that is
// no constant; object is -1 if it indexes nothing.
func indexing(p *lua.FunctionProto, inst uint32) (object int, key string) {
	switch opOf(inst) {
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		return argB(inst), constantArg(p, argC(inst))
	case lua.OP_SETTABLE, lua.OP_SETTABLEKS:
		return argA(inst), constantArg(p, argB(inst))
	}
	return -1, ""
}

// operated names the one operand on the line that the operator cannot take, if there is but
// one with a name, and says how Lua joins texts.
func operated(L *lua.LState, message string, h *hints) string {
	if !strings.Contains(message, "cannot perform") && !strings.Contains(message, "attempt to compare") {
		return message
	}
	m := notOperable.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	op, types := m[1], m[2:4]
	if op == "" {
		op, types = "compare", m[4:6]
	}
	if op == "add" && slices.Contains(types, "string") && !slices.Contains(types, "nil") {
		return message + "; .. joins texts"
	}
	if name := quoted(operandsHere(L, op)); name != "" && !strings.Contains(name, " or ") {
		kind := wrongType(op, types)
		hint := ""
		if kind == "nil" {
			hint = h.ofMember(strings.Trim(name, `"`)) + h.ofFailed(L, 0, strings.Trim(name, `"`))
		}
		return message + ": " + name + " is " + aValue(kind) + hint
	}
	return message
}

// wrongType is the type of the two that the operator cannot take.
func wrongType(op string, types []string) string {
	takes := []string{"number"}
	if op == "concat" {
		takes = []string{"number", "string"}
	}
	if op == "compare" && !slices.Contains(types, "number") {
		takes = []string{"string"}
	}
	if slices.Contains(takes, types[0]) {
		return types[1]
	}
	return types[0]
}

// operandsHere lists what the author wrote for the operands, but for constants, of the
// operators of a kind on the current line.
func operandsHere(L *lua.LState, op string) (all []string) {
	fn, line := functionAt(L, 0)
	if fn == nil || fn.IsG {
		return nil
	}
	for pc, inst := range fn.Proto.Code {
		if fn.Proto.DbgSourcePositions[pc] == line && slices.Contains(operators(op), opOf(inst)) {
			all = append(all, operands(fn.Proto, pc, inst)...)
		}
	}
	return all
}

// operators are the instructions of an operator as errors call it.
func operators(op string) []int {
	switch op {
	case "add":
		return []int{lua.OP_ADD}
	case "sub":
		return []int{lua.OP_SUB}
	case "mul":
		return []int{lua.OP_MUL}
	case "div":
		return []int{lua.OP_DIV}
	case "mod":
		return []int{lua.OP_MOD}
	case "pow":
		return []int{lua.OP_POW}
	case "concat":
		return []int{lua.OP_CONCAT}
	}
	return []int{lua.OP_LT, lua.OP_LE}
}

// operands lists what the author wrote for the operands of an instruction that are no
// constants, "" for one without a name.
func operands(p *lua.FunctionProto, pc int, inst uint32) (all []string) {
	if opOf(inst) == lua.OP_CONCAT {
		for register := argB(inst); register <= argC(inst); register++ {
			if !isConstant(p, pc, register) {
				all = append(all, written(p, pc, register))
			}
		}
		return all
	}
	for _, arg := range []int{argB(inst), argC(inst)} {
		if arg < firstConstant && !isConstant(p, pc, arg) {
			all = append(all, written(p, pc, arg))
		}
	}
	return all
}

const noLength = "__len undefined"

// measured names the operand of # that has no length, and says what it is.
func measured(L *lua.LState, message string, h *hints) string {
	head, isLength := strings.CutSuffix(message, noLength)
	if !isLength {
		return message
	}
	head += "attempt to get the length of "
	names, kind := measuredHere(L, false)
	if kind == "" {
		names, kind = measuredHere(L, true)
	}
	switch list := quoted(names); {
	case kind == "":
		return head + "what has none"
	case list == "":
		return head + "a " + kind + " value"
	case kind == "nil" && !strings.Contains(list, " or "):
		return head + list + ", which is nil" + h.hint(L, names[0]) + h.ofFailed(L, 0, names[0])
	default:
		return head + list + ", which is " + aValue(kind)
	}
}

// measuredHere lists the operands of # on the current line that have no length, "" for one
// without a name, and their type; "" if they have several or none. A number may be the length
// of an operand, which stands where that stood; with numbers those count too.
func measuredHere(L *lua.LState, numbers bool) (names []string, kind string) {
	fn, line := functionAt(L, 0)
	if fn == nil || fn.IsG {
		return nil, ""
	}
	var kinds []string
	for pc, inst := range fn.Proto.Code {
		register := argB(inst)
		if opOf(inst) != lua.OP_LEN || fn.Proto.DbgSourcePositions[pc] != line || register >= firstConstant {
			continue
		}
		switch v := L.Get(register + 1); v.Type() {
		case lua.LTString, lua.LTTable:
		case lua.LTNumber:
			if argA(inst) == register && !numbers {
				continue
			}
			fallthrough
		default:
			names, kinds = append(names, writtenSurely(fn.Proto, pc, register)), append(kinds, v.Type().String())
		}
	}
	if kinds = slices.Compact(kinds); len(kinds) != 1 {
		return nil, ""
	}
	return names, kinds[0]
}
