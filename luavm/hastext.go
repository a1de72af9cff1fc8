package luavm

import lua "github.com/yuin/gopher-lua"

// HasText reports whether a text stands as a string in a file that was compiled.
func HasText(file *lua.FunctionProto, text string) bool {
	for _, c := range file.Constants {
		if s, ok := c.(lua.LString); ok && string(s) == text {
			return true
		}
	}
	for _, inner := range file.FunctionPrototypes {
		if HasText(inner, text) {
			return true
		}
	}
	return false
}
