package record

import (
	"cmp"
	"strings"

	"pi/agent/llm"
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

// detailNames are the same for the details of results of core tools, which the model does
// not see: the name in the session file and the one in Lua. Session files of earlier
// versions have the names of Lua; those stay as they are.
var detailNames = map[string]string{
	"fullOutputPath": "full_output_path", "exitCode": "exit_code", "firstChangedLine": "first_changed_line",
	"totalLines": "total_lines", "outputLines": "output_lines",
	// Only pi writes these.
	"totalBytes": "total_bytes", "outputBytes": "output_bytes", "truncatedBy": "truncated_by",
	"lastLinePartial": "last_line_partial", "firstLineExceedsLimit": "first_line_exceeds_limit",
	"maxLines": "max_lines", "maxBytes": "max_bytes", "linesTruncated": "lines_truncated",
	"matchLimitReached": "match_limit_reached", "resultLimitReached": "result_limit_reached", "entryLimitReached": "entry_limit_reached",
}

// argumentJSON is how the arguments of a tool are converted.
func argumentJSON(tool string) luavm.JSON { return renaming(argumentNames[tool]) }

// detailJSON is how the details of a tool's results are converted.
func detailJSON(tool string) luavm.JSON {
	switch tool {
	case "read", "bash", "edit", "write", "grep", "find", "ls":
		return renaming(detailNames)
	}
	return luavm.JSON{}
}

// renaming returns a conversion of keys by a table from their name on the wire to the one in
// Lua, and back; keys that are not in it stay. names may be nil.
func renaming(names map[string]string) luavm.JSON {
	if names == nil {
		return luavm.JSON{}
	}
	return luavm.JSON{
		ToLua: func(key string) string { return cmp.Or(names[key], key) },
		ToWire: func(key string) string {
			for wire, name := range names {
				if name == key {
					return wire
				}
			}
			return key
		},
	}
}

// DeltaType is how Lua names what a piece of an answer is: text, thinking or tool_call.
func DeltaType(k llm.DeltaKind) string {
	switch k {
	case llm.DeltaThinking:
		return "thinking"
	case llm.DeltaToolCall:
		return "tool_call"
	}
	return "text"
}
