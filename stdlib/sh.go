package stdlib

import (
	"strings"

	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openSh makes pi.sh, which reads shell command lines (of bash) and runs none.
//
//	commands(line) → {command, …}, or nil, "…" for a syntax error
//	quote(word or list) → text that the shell reads as just that
//
// commands lists the simple commands of a line in the order in which they are
// written, also those in pipelines, lists, groups, loops, conditions and
// substitutions. A command has
//
//	name       the program without its directory: "rm" of \rm, r''m and /bin/rm
//	args       the words after it
//	words      all words as the shell sees them, quotes and escapes taken away
//	text       as it is written
//	assigns    {{name, value}, …} before it
//	redirects  {{op, path, fd?}, …}
//	via        the command that runs it: sudo env xargs sh find …
//	unknown    true when this is not the whole truth
//
// A word that only the shell can know, because it has a variable, a pattern, a
// substitution or braces in it, is "?", and makes its command unknown; a name
// that is not known is nil. Commands that run their arguments (sudo, env, xargs,
// find -exec, sh -c '…', eval '…' and so on) are listed, and after them what
// they run, as a command of its own with via. What stands alone before or behind
// a group, such as > file, is a command without a name.
//
// The list has unknown = true when anything in the line is not understood to the
// end, with the piece (unknown_text) and the reason (unknown_why): then other
// commands than those listed may run. What is understood is a list of syntax, in
// shknown.go and told in docs/reference.md, and all other makes the line unknown. So
// do source, scripts given to a shell, text piped into one, code for an
// interpreter, aliases, PATH and its like. A gate takes such a line for
// dangerous. What a known program does with its arguments (make, git, tar
// --to-command) is not looked at.
func openSh(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "sh")
	m.fn("commands", func(L *lua.LState, line string) (lua.LValue, error) {
		luavm.Building(L, min(len(line), maxLine)*shellSize)
		commands, doubt, err := readShell(line)
		if err != nil {
			return nil, err
		}
		t := luavm.NewList(L, len(commands), func(i int) lua.LValue {
			luavm.Building(L, shellSize)
			return commands[i].value(L)
		})
		luavm.Set(t, "unknown", lua.LBool(doubt != nil))
		if doubt != nil {
			luavm.Set(t, "unknown_text", lua.LString(printable.Short(strings.Join(strings.Fields(doubt.text), " "))))
			luavm.Set(t, "unknown_why", lua.LString(doubt.why))
		}
		return t, nil
	})
	m.fn("quote", func(L *lua.LState, v lua.LValue) (string, error) {
		words, ok := luavm.Strings(L, v)
		if !ok {
			word, isString := v.(lua.LString)
			if !isString {
				luavm.RaiseArg(L, 1, "sh.quote", "string or list of strings expected, got %s", v.Type())
			}
			words = []string{string(word)}
		}
		return quoteWords(words)
	})
	return m.table()
}

// shellSize is about what reading a line takes for each of its bytes, and a command in Lua.
const shellSize = 512

// value returns the command as the table that sh.commands gives to Lua.
func (c *shellCommand) value(L *lua.LState) lua.LValue {
	words := make([]string, len(c.words))
	for i, w := range c.words {
		words[i] = w.String()
	}
	t := record(L, "words", stringList(L, words), "args", stringList(L, words[min(1, len(words)):]), "text", lua.LString(c.text), "unknown", lua.LBool(c.doubt != nil))
	if name := c.name(); name != "" {
		luavm.Set(t, "name", lua.LString(name))
	}
	if c.via != "" {
		luavm.Set(t, "via", lua.LString(c.via))
	}
	assigns := list(L, len(c.assigns), func(i int) lua.LValue {
		return record(L, "name", lua.LString(c.assigns[i].name), "value", lua.LString(c.assigns[i].value.String()))
	})
	redirects := list(L, len(c.redirects), func(i int) lua.LValue {
		r := c.redirects[i]
		t := record(L, "op", lua.LString(r.op), "path", lua.LString(r.path.String()))
		if r.fd != "" {
			luavm.Set(t, "fd", lua.LString(r.fd))
		}
		return t
	})
	luavm.Set(t, "assigns", assigns)
	luavm.Set(t, "redirects", redirects)
	return t
}

// quoteWords quotes each word for a shell where it has to be, and joins them with
// blanks. A zero byte is an error.
func quoteWords(words []string) (string, error) {
	quoted := make([]string, len(words))
	for i, w := range words {
		if strings.Contains(w, "\x00") {
			return "", luavm.Misusef("a word of a command cannot contain a zero byte")
		}
		quoted[i] = quoteWord(w)
	}
	return strings.Join(quoted, " "), nil
}

// quoteWord puts a word between single quotes, unless the shell reads it as it is.
func quoteWord(w string) string {
	plain := w != "" && !isAmong(reserved, w)
	for i := 0; i < len(w) && plain; i++ {
		c := w[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:@%+,", c) >= 0
	}
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// reserved are the words with which the shell begins something else than a command.
const reserved = "if then elif else fi for while until do done case esac in function select time coproc"
