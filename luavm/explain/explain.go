// Package explain makes messages of the interpreter and of the parser such that an author
// knows what to change: gopher-lua does not name what it could not call or index, and tells
// nobody who writes != that the word is ~=. The code of the line knows the names.
//
//	callee.go   what could not be called; a colon where a dot belongs
//	operand.go  what could not be indexed, joined, added or compared
//	length.go   what has no length; argument.go: arguments that are nil
//	failed.go   calls that returned nil and a message
//	written.go  what the author wrote for a value of the code
//	syntax.go   what is no Lua, and how Lua says it
//
// [Raised] is asked about each error that is raised, and gives back messages that it does
// not know as they are.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"pi/internal/suggest"

	lua "github.com/yuin/gopher-lua"
)

// Hints is what messages are helped with. The zero value helps with names in the code alone.
type Hints struct {
	// Instead says what to use in the place of a name that there is not, such as "io" or
	// "os.execute", or ".push" for a member of any value, or "ctx)" for a parameter that got
	// nothing; "" for nothing. It may be nil.
	Instead func(name string) string
	// Fails reports whether a function of the program, such as "fs.read", returns nil and a
	// message where it cannot do what it is for. It may be nil.
	Fails func(function string) bool

	chunks []*lua.FunctionProto
}

// Note remembers the names in a file, among which a misspelt one may be found.
func (h *Hints) Note(file *lua.FunctionProto) { h.chunks = append(h.chunks, file) }

// Raised returns the message of an error that the running Lua function, or a Go function
// that it called, raised.
func Raised(L *lua.LState, message string, h *Hints) string {
	for _, explain := range []func(*lua.LState, string, *Hints) string{called, indexed, operated, measured, given, undotted} {
		if better := explain(L, message, h); better != message {
			return better
		}
	}
	return message
}

// hint ends a message about a name that is nil: what to use instead, or the name that was
// meant.
func (h *Hints) hint(L *lua.LState, written string) string {
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
func (h *Hints) ofMember(written string) string {
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
func (h *Hints) names(L *lua.LState) (names []string) {
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
