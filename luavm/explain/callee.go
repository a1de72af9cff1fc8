package explain

import (
	"fmt"
	"regexp"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const notCallable = "attempt to call a non-function object"

// called adds to the message "attempt to call a non-function object" the names of what is
// called on that line and may be meant. Other messages, and lines where a call has no
// name or too many have one, are returned as they are.
func called(L *lua.LState, message string, h *Hints) string {
	if !strings.HasSuffix(message, notCallable) {
		return message
	}
	names := calleesHere(L)
	list := quoted(names)
	if list == "" {
		return strings.TrimSuffix(message, notCallable) + iterated(L)
	}
	hint := ""
	if !strings.Contains(list, " or ") {
		hint = h.hint(L, names[0])
	}
	return strings.TrimSuffix(message, notCallable) + "attempt to call " + list + ", which is no function" + hint
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
		name := written(fn.Proto, pc, argA(inst))
		if fn.Env.RawGetString(name).Type() == lua.LTFunction && !isLocal(fn.Proto, name) {
			continue
		}
		all = append(all, name)
	}
	return all
}

// iterated says what the loop of the current line goes through that is no function; the
// message of the interpreter if that is not known.
func iterated(L *lua.LState) string {
	fn, line := functionAt(L, 0)
	if fn == nil || fn.IsG {
		return notCallable
	}
	for pc, inst := range fn.Proto.Code {
		if opOf(inst) != lua.OP_TFORLOOP || fn.Proto.DbgSourcePositions[pc] != line {
			continue
		}
		if name := written(fn.Proto, pc, argA(inst)); name != "" {
			return fmt.Sprintf("attempt to loop over %q, which is no function; a list: for i, x in ipairs(%s) do", name, name)
		}
	}
	return notCallable
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
func undotted(L *lua.LState, message string, _ *Hints) string {
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
			name := constantArg(fn.Proto, argC(inst))
			itsArguments := regexp.MustCompile(`(bad argument #1 to '?|')([\w.]+\.)?` + regexp.QuoteMeta(name) + `\b`)
			if itsArguments.MatchString(message) {
				return message + "; call it with a dot: ." + name + "(…)"
			}
		}
		break
	}
	return message
}
