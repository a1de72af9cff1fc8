package stdlib

import (
	"strings"

	"pi/internal/frontmatter"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// textOf is text.of: what a user reads of a message, whichever form its content has.
func textOf(L *lua.LState, v lua.LValue) (string, error) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), nil
	case *lua.LTable:
		return textOfTable(L, v), nil
	}
	return "", luavm.Misusef("a message, its content or a text expected, got %s", v.Type())
}

// textOfTable is the text of a message, or of the blocks of its content. A summary has its
// text in summary, a command of the user in output.
func textOfTable(L *lua.LState, t *lua.LTable) string {
	luavm.Materialise(L, t)
	for _, field := range []string{"content", "summary", "output"} {
		switch v := t.RawGetString(field).(type) {
		case lua.LString:
			return string(v)
		case *lua.LTable:
			return textOfBlocks(L, v)
		}
	}
	return textOfBlocks(L, t)
}

// textOfBlocks joins the texts of blocks with line ends. Thoughts, calls and images are
// left out.
func textOfBlocks(L *lua.LState, blocks *lua.LTable) string {
	luavm.Materialise(L, blocks)
	var texts []string
	size := 0
	for i := 1; i <= blocks.Len(); i++ {
		b, ok := blocks.RawGetInt(i).(*lua.LTable)
		if !ok {
			continue
		}
		luavm.Materialise(L, b)
		text, ok := b.RawGetString("text").(lua.LString)
		if kind := b.RawGetString("type"); ok && (kind == lua.LNil || kind == lua.LString("text")) {
			size += len(text) + 1
			luavm.Building(L, listSlot)
			texts = append(texts, string(text))
		}
	}
	luavm.Room(L, size)
	return strings.Join(texts, "\n")
}

// frontMatter is text.front_matter.
func frontMatter(L *lua.LState, s string) (fields, body, problems lua.LValue) {
	d := frontmatter.Parse(s)
	problems = lua.LNil
	if len(d.Problems) > 0 {
		problems = list(L, len(d.Problems), func(i int) lua.LValue { return lua.LString(d.Problems[i].Error()) })
	}
	return fieldTable(L, d.Fields), lua.LString(d.Body), problems
}

// fieldTable makes a table of fields by name: a text, a list, or a table of fields.
func fieldTable(L *lua.LState, fields []frontmatter.Field) *lua.LTable {
	t := luavm.NewRecord(L, len(fields))
	for _, f := range fields {
		switch {
		case f.Fields != nil:
			luavm.Set(t, f.Name, fieldTable(L, f.Fields))
		case f.List != nil:
			luavm.Set(t, f.Name, stringList(L, f.List))
		default:
			luavm.Set(t, f.Name, lua.LString(f.Text))
		}
	}
	return t
}
