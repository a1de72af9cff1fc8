package luavm

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxTraceLines = 10
	// maxLevels bounds every walk over a stack: a frame that was reached by
	// tail calls counts one level for each of them, which may be millions.
	maxLevels = 250
)

// where returns "file:line" of the first Lua function at or above a level of L's stack,
// 0 being the running function, that is of a hook; "" if there is none. It goes on in the
// thread that called pcall or resumed the coroutine. A function of a hook that has returned,
// or that called the running one last of all, has no frame any more: where the program's own
// code stands around it, the place is that in which it returns.
func where(L *lua.LState, level int) string {
	returned := ""
	for t := L; t != nil; t = t.Parent {
		for ; level < maxLevels; level++ {
			dbg, ok := t.GetStack(level)
			if !ok {
				break
			}
			_, _ = t.GetInfo("Sl", dbg, nil)
			if dbg.Source != "" && !isOwn(dbg.Source) {
				return fmt.Sprintf("%s:%d", dbg.Source, dbg.CurrentLine)
			}
			if returned == "" {
				returned = placeOfSource(t, dbg)
			}
		}
		level = 0
	}
	return returned
}

// placeOfSource returns where the function of a hook returns around which a frame's function
// was made; "" if that was made around none.
func placeOfSource(L *lua.LState, dbg *lua.Debug) string {
	v, _ := L.GetInfo("f", dbg, nil)
	fn, ok := v.(*lua.LFunction)
	if !ok {
		return ""
	}
	source := SourceOf(fn)
	if source == fn || source.IsG {
		return ""
	}
	return fmt.Sprintf("%s:%d", source.Proto.SourceName, LineOfResult(source.Proto, ""))
}

// placed puts a place before a message.
func placed(place, message string) string {
	if place == "" {
		return message
	}
	return place + ": " + message
}

// trace is a traceback of at most maxTraceLines Lua frames.
func trace(L *lua.LState) string {
	var b strings.Builder
	b.WriteString("stack traceback:")
	lines := 0
	for t := L; t != nil; t = t.Parent {
		for level := 0; level < maxLevels; level++ {
			dbg, ok := t.GetStack(level)
			if !ok {
				break
			}
			_, _ = t.GetInfo("nSl", dbg, nil)
			if dbg.Source == "" || isOwn(dbg.Source) {
				continue
			}
			if lines++; lines > maxTraceLines {
				b.WriteString("\n\t...")
				return b.String()
			}
			fmt.Fprintf(&b, "\n\t%s:%d: in %s", dbg.Source, dbg.CurrentLine, frameName(dbg))
		}
	}
	return b.String()
}

// frameName describes the function of a frame, for a traceback.
func frameName(dbg *lua.Debug) string {
	switch {
	case dbg.LineDefined == 0:
		return "main chunk"
	case dbg.Name == "" || strings.HasPrefix(dbg.Name, "<") || strings.HasPrefix(dbg.Name, "("):
		return fmt.Sprintf("function <%s:%d>", dbg.Source, dbg.LineDefined)
	}
	return "function '" + dbg.Name + "'"
}

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
