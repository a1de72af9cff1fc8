package luavm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pi/internal/suggest"

	lua "github.com/yuin/gopher-lua"
)

// Messages of the interpreter and of the parser are made such that an author knows what to
// change: gopher-lua does not name what it could not call or index, and tells nobody who writes
// != that the word is ~=. The code of the line knows the names.
//
//	explain.go  what could not be called; arguments that are nil; a colon where a dot belongs;
//	            calls that returned nil and a message, or more values than one wants
//	operand.go  what could not be indexed, joined, added or compared, and what has no length
//	written.go  what the author wrote for a value of the code
//	scopes.go   where the scopes of locals end, which names depend on
//	syntax.go   what is no Lua, and how Lua says it
//
// [explained] is asked about each error that is raised, and gives back messages that it does
// not know as they are.

// hints is what messages are helped with. The zero value helps with names in the code alone.
type hints struct {
	// Instead says what to use in the place of a name that there is not, such as "io" or
	// "os.execute", or ".push" for a member of any value, or "ctx)" for a parameter that got
	// nothing; "" for nothing. It may be nil.
	Instead func(name string) string
	// Fails reports whether a function of the program, such as "fs.read", returns nil and a
	// message where it cannot do what it is for. It may be nil.
	Fails func(function string) bool

	chunks []*lua.FunctionProto
}

// note remembers the names in a file, among which a misspelt one may be found.
func (h *hints) note(file *lua.FunctionProto) { h.chunks = append(h.chunks, file) }

// explained returns the message of an error that the running Lua function, or a Go function
// that it called, raised.
func explained(L *lua.LState, message string, h *hints) string {
	for _, explain := range []func(*lua.LState, string, *hints) string{called, indexed, operated, measured, given, undotted, handedOn} {
		if better := explain(L, message, h); better != message {
			return better
		}
	}
	return message
}

// hint ends a message about a name that is nil: what to use instead, or the name that was
// meant.
func (h *hints) hint(L *lua.LState, written string) string {
	first, _, nested := strings.Cut(written, ".")
	if fn, _ := functionAt(L, 0); h.Instead != nil && isParameter(fn.Proto, written) {
		if said := h.Instead(written + ")"); said != "" {
			return "; " + said
		}
	}
	for _, name := range []string{written, first} {
		if h.Instead == nil {
			break
		}
		if instead := h.Instead(name); instead != "" && (name == written || isMissing(L, first)) {
			return "; " + instead
		}
	}
	if said := h.ofMember(written); said != "" {
		return said
	}
	if nested || strings.ContainsAny(written, "([") {
		return ""
	}
	return suggest.Hint(written, slices.DeleteFunc(h.names(L), func(known string) bool { return known == written }))
}

// ofMember ends a message about a member that is nil, as in list.push; "" where nothing is known.
func (h *hints) ofMember(written string) string {
	if strings.HasSuffix(written, "[0]") {
		return "; lists begin with 1"
	}
	dot := strings.LastIndexByte(written, '.')
	if dot < 0 || h.Instead == nil {
		return ""
	}
	if said := h.Instead(written[dot:]); said != "" {
		return "; " + said
	}
	return ""
}

// isParameter reports whether a name is that of a parameter of a function.
func isParameter(p *lua.FunctionProto, name string) bool {
	for i, l := range p.DbgLocals {
		if i < int(p.NumParameters) && l.Name == name {
			return true
		}
	}
	return false
}

// isMissing reports whether a name means a global that there is not.
func isMissing(L *lua.LState, name string) bool {
	fn, _ := functionAt(L, 0)
	return L.G.Global.RawGetString(name) == lua.LNil && !isLocal(fn.Proto, name)
}

// names lists the names of the locals of all files, and of the globals.
func (h *hints) names(L *lua.LState) (names []string) {
	for _, file := range h.chunks {
		names = appendLocals(names, file)
	}
	L.G.Global.ForEach(func(k, _ lua.LValue) {
		if name, ok := k.(lua.LString); ok {
			names = append(names, string(name))
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// appendLocals adds the names of the locals of a function and of those in it.
func appendLocals(names []string, p *lua.FunctionProto) []string {
	for _, l := range p.DbgLocals {
		if !strings.HasPrefix(l.Name, "(") { // of a loop
			names = append(names, l.Name)
		}
	}
	for _, inner := range p.FunctionPrototypes {
		names = appendLocals(names, inner)
	}
	return names
}

// maxNames bounds how many names a message offers.
const maxNames = 3

// quoted lists names for a message; "" if there is none, one has no name, or there are too
// many.
func quoted(names []string) string {
	var all []string
	for _, name := range names {
		if name == "" {
			return ""
		}
		if q := fmt.Sprintf("%q", name); !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	if len(all) > maxNames {
		return ""
	}
	return strings.Join(all, " or ")
}

const notCallable = "attempt to call a non-function object"

// called adds to the message "attempt to call a non-function object" the names of what is
// called on that line and may be meant. Other messages, and lines where a call has no
// name or too many have one, are returned as they are.
func called(L *lua.LState, message string, h *hints) string {
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
func undotted(L *lua.LState, message string, _ *hints) string {
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

// The patterns are made when the first message needs them: most programs end without one.
var notGiven = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`bad argument #(\d+) to '?([\w.]+)'? \(.* expected, got nil\)$`)
})

// given adds to the message about an argument that is nil what the author wrote for it, if the
// line calls but one function of that name and the argument has a name.
func given(L *lua.LState, message string, h *hints) string {
	if !strings.HasSuffix(message, "expected, got nil)") {
		return message
	}
	m := notGiven().FindStringSubmatch(message)
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

var (
	tooMany = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`'([\w.]+)' takes at most (\d+) arguments, got (\d+)$`)
	})
	badArgument = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`bad argument #(\d+) to '?([\w.]+)'? \(.*\)$`)
	})
)

// handedOn adds to a message about an argument that is wrong, or one too many, that it is a further
// value of the call which is the last argument, if the line has but one such call.
func handedOn(L *lua.LState, message string, h *hints) string {
	if m := tooMany().FindStringSubmatch(message); m != nil {
		most, _ := strconv.Atoi(m[2])
		got, _ := strconv.Atoi(m[3])
		at, name := lastCallHere(L, m[1], most+1)
		switch {
		case name == "":
		case L.Get(at) == lua.LNil && h.ofFailed(L, 1, name) != "":
			return message + h.ofFailed(L, 1, name)
		default:
			return fmt.Sprintf("%s; %s gives %d values, and in parentheses gives the first: (%s)", message, name, got-at+1, name)
		}
	} else if m := badArgument().FindStringSubmatch(message); m != nil {
		wrong, _ := strconv.Atoi(m[1])
		if at, name := lastCallHere(L, m[2], wrong); name != "" {
			return fmt.Sprintf("%s; it is value %d of %s, which in parentheses gives the first: (%s)", message, wrong-at+1, name, name)
		}
	}
	return message
}

// lastCallHere finds the call that is the last argument of the function of Go that raised, where the
// argument that is wrong is a further value of it: which argument is its first value, and what the
// author wrote for it; "" where that is not certain.
func lastCallHere(L *lua.LState, function string, wrong int) (at int, name string) {
	fn, line := functionAt(L, 1)
	if fn == nil || fn.IsG {
		return 0, ""
	}
	type last struct {
		at   int
		name string
	}
	var found []last
	for pc, inst := range fn.Proto.Code {
		isCall := opOf(inst) == lua.OP_CALL || opOf(inst) == lua.OP_TAILCALL
		if !isCall || argB(inst) != 0 || fn.Proto.DbgSourcePositions[pc] != line || opOf(fn.Proto.Code[pc-1]) != lua.OP_CALL {
			continue // all arguments are counted, or the last is ...
		}
		if lastPart(written(fn.Proto, pc, argA(inst))) != lastPart(function) {
			continue
		}
		if first := argA(fn.Proto.Code[pc-1]) - argA(inst); first < wrong {
			found = append(found, last{first, written(fn.Proto, pc, argA(inst)+first)})
		}
	}
	if len(slices.Compact(found)) != 1 {
		return 0, ""
	}
	return found[0].at, found[0].name
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
	if name := localName(p, register, pc); name != "" {
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

// ofFailed ends a message about the nil that a call of a function of the program returned: the
// call failed, and why is its second result, which is lost. level is that of the Lua function
// on the stack.
func (h *hints) ofFailed(L *lua.LState, level int, written string) string {
	name, isCall := strings.CutSuffix(written, "(…)")
	of, member, _ := strings.Cut(name, ".")
	if !isCall || h.Fails == nil || !h.Fails(name) {
		return ""
	}
	t, ok := valueAt(L, level, of).(*lua.LTable)
	if !ok {
		return ""
	}
	if fn, ok := t.RawGetString(member).(*lua.LFunction); !ok || !fn.IsG {
		return "" // one of the hook has the same name
	}
	return "; " + name + " returned nil and a message: local r, err = " + name + "(…), or assert(" + name + "(…))"
}

// valueAt is the value of a name in the Lua function at a level of the stack.
func valueAt(L *lua.LState, level int, name string) lua.LValue {
	dbg, ok := L.GetStack(level)
	fn, _ := functionAt(L, level)
	if !ok || fn == nil || fn.IsG {
		return lua.LNil
	}
	var found lua.LValue
	for i := 1; ; i++ {
		local, v := L.GetLocal(dbg, i)
		if local == "" {
			break
		}
		if local == name {
			found = v
		}
	}
	if found != nil {
		return found
	}
	for i, upvalue := range fn.Proto.DbgUpvalues {
		if upvalue == name && i < len(fn.Upvalues) {
			return fn.Upvalues[i].Value()
		}
	}
	return L.G.Global.RawGetString(name)
}
