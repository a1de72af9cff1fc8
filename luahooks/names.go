package luahooks

import (
	"strings"

	"pi/luavm"
)

// Names on the two sides. Lua sees snake_case for every field the core defines;
// session files and models keep camelCase. What hooks and models wrote keeps its
// keys.

// snake turns a camelCase field name of the core into snake_case.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// argumentNames are the arguments of core tools that have two spellings, by
// tool: the one on the wire and the one in Lua. The arguments of other tools
// stay as the model sent them.
var argumentNames = map[string]map[string]string{
	"edit": {"oldText": "old_text", "newText": "new_text", "replaceAll": "replace_all"},
	"grep": {"ignoreCase": "ignore_case"},
}

// argumentJSON is how the arguments of a tool are converted.
func argumentJSON(tool string) luavm.JSON {
	toLua := argumentNames[tool]
	if toLua == nil {
		return luavm.JSON{}
	}
	toWire := map[string]string{}
	for wire, name := range toLua {
		toWire[name] = wire
	}
	return luavm.JSON{ToLua: renamer(toLua), ToWire: renamer(toWire)}
}

func renamer(names map[string]string) func(string) string {
	return func(key string) string {
		if name, ok := names[key]; ok {
			return name
		}
		return key
	}
}
