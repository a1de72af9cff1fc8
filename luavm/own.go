package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Lua code of the program itself, such as a module that translates for hooks written
// for another program, has a name in brackets. Like functions of Go it has no lines as far
// as a hook's author is concerned: what it raises, or does wrong, is at the line of the
// hook that called it, and a function that it makes around one of a hook is defined where
// that one is.

const ownPrefix = "[pi."

// CompileOwn is [Compile] for code of the program itself. name begins with "pi.".
func CompileOwn(name string, src []byte) (*lua.FunctionProto, error) {
	return Compile("["+name+"]", src)
}

// isOwn reports whether code with this name is the program's own.
func isOwn(source string) bool { return strings.HasPrefix(source, ownPrefix) }

// sourceName is the name of the local variable in which a function of the program's own
// Lua has the function of a hook that it was made for.
const sourceName = "source"

// maxWrapped bounds how many functions are made one around the other.
const maxWrapped = 10

// SourceOf returns the function of a hook that fn was made for: where fn is one of the
// program's own Lua code, what its upvalue named source holds, otherwise fn itself.
func SourceOf(fn *lua.LFunction) *lua.LFunction {
	for range maxWrapped {
		inner := wrapped(fn)
		if inner == nil {
			break
		}
		fn = inner
	}
	return fn
}

// wrapped returns the function that fn was made around; nil if there is none.
func wrapped(fn *lua.LFunction) *lua.LFunction {
	if fn.IsG || !isOwn(fn.Proto.SourceName) {
		return nil
	}
	for i, name := range fn.Proto.DbgUpvalues {
		if name == sourceName && i < len(fn.Upvalues) {
			inner, _ := fn.Upvalues[i].Value().(*lua.LFunction)
			return inner
		}
	}
	return nil
}

// replaced returns a message that begins with a place in the program's own code with
// the place of the hook's code that called it instead.
func replaced(L *lua.LState, message string) string {
	if place := placeBefore(message, ": "); isOwn(place) {
		return placed(where(L, 0), message[len(place)+len(": "):])
	}
	return message
}
