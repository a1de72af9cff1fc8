package explain

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

var notGiven = regexp.MustCompile(`bad argument #(\d+) to '?([\w.]+)'? \(.* expected, got nil\)$`)

// given adds to the message about an argument that is nil what the author wrote for it, if the
// line calls but one function of that name and the argument has a name.
func given(L *lua.LState, message string, h *Hints) string {
	if !strings.HasSuffix(message, "expected, got nil)") {
		return message
	}
	m := notGiven.FindStringSubmatch(message)
	fn, line := functionAt(L, 1) // the function that raised is one of Go
	if m == nil || fn == nil || fn.IsG || strings.HasPrefix(fn.Proto.SourceName, "[") {
		return message
	}
	n, _ := strconv.Atoi(m[1])
	var names []string
	for pc, inst := range fn.Proto.Code {
		if op := opOf(inst); (op == lua.OP_CALL || op == lua.OP_TAILCALL) && fn.Proto.DbgSourcePositions[pc] == line &&
			lastPart(written(fn.Proto, pc, argA(inst))) == lastPart(m[2]) {
			names = append(names, argumentOf(fn.Proto, pc, n))
		}
	}
	name := quoted(names)
	if name == "" || strings.Contains(name, " or ") {
		return message
	}
	name = strings.Trim(name, `"`)
	return fmt.Sprintf("%s: %q is nil", message, name) + h.ofMember(name) + h.ofFailed(L, 1, name)
}

// lastPart is the name of a function without that of its table.
func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// argumentOf is what the author wrote for the n-th argument of the call at pc; "" for a
// constant, for what has no name, and for one of the values of a call behind the first.
func argumentOf(p *lua.FunctionProto, pc, n int) string {
	register := argA(p.Code[pc]) + n
	if count := argB(p.Code[pc]); count > 0 && n >= count || count == 0 && register > argA(p.Code[pc-1]) {
		return ""
	}
	return writtenSurely(p, pc, register)
}

// writtenSurely is written for a register that has the value of one expression, whatever way
// led to pc; "" behind and and or.
func writtenSurely(p *lua.FunctionProto, pc, register int) string {
	if name := localName(p, register, pc); name != "" && name[0] != '(' {
		return name
	}
	at := loadOf(p, pc, register)
	for from := 0; from < at; from++ {
		if target := from + 1 + jumpOf(p.Code[from]); opOf(p.Code[from]) == lua.OP_JMP && at < target && target <= pc {
			return ""
		}
	}
	return written(p, pc, register)
}

// jumpOf is how far an instruction jumps.
func jumpOf(inst uint32) int { return int(inst&0x3ffff) - 0x1ffff }
