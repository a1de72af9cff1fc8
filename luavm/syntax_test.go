package luavm

import (
	"strings"
	"testing"
)

func TestWhatOtherLanguagesWriteIsSaidInLua(t *testing.T) {
	for _, c := range []struct {
		src   string
		line  int
		token string
		want  string
	}{
		{"if a != b then end", 1, "!", `; "not equal" is ~=`},
		{"if a && b then end", 1, "&", `; "and" is a word: and`},
		{"if a || b then end", 1, "|", `; "or" is a word: or`},
		{"if !a then end", 1, "!", `; "not" is a word: not`},
		{"n += 1", 1, "+", "; Lua changes a value as in n = n + 1"},
		{`s ..= "x"`, 1, "..", "; Lua changes a value as in n = n + 1"},
		{"n++", 1, "+", "; Lua has no ++: n = n + 1"},
		{"for i = 1, 2 do\n  if i then continue end\nend", 2, "end", "; " + noContinue},
		{"for i = 1, 2 do\n  if i then\n    continue\n\n  end\nend", 5, "end", "; " + noContinue},
		{"if a === 1 then end", 1, "=", "; values are compared with =="},
		{"local s = [===[", 1, "=", ""},
		{"local t = [1, 2]", 1, "[", "; a list is written { a, b }"},
		{"f([])", 1, "[", "; a list is written { a, b }"},
		{"return [", 1, "[", "; a list is written { a, b }"},
		{"local t = { a = 1 [2] = 3 }", 1, "[", ""},
		{"if a == 1 {\n  b()\n}", 1, "{", "; a block has no braces: if … then … end"},
		{"for i = 1, 2 { b() }", 1, "{", "; a block has no braces: for … do … end"},
		{"if a then b = 1 {2} end", 1, "{", ""},
		{"if a {\n  b()\n}", 3, "", "; a block has no braces: if … then … end"},
		{"if a {\n  b()\n}\nc()", 4, "c", "; a block has no braces: if … then … end"},
		{"while a {  \n  b()\n}\nc()", 4, "c", "; a block has no braces: while … do … end"},
		{"if a then\n  b()\n} else {\n", 3, "}", "; a block has no braces: if … then … else … end"},
		{"if f {\n  a = 1\n} then\n  b()\n", 5, "", `; "if" in line 1 has no end`},
		{"if f {\n  1 2\n} then\n  b()\nend", 2, "2", ""},
		{"if f{1}\n  b()\nend", 2, "b", ""},
		{"if a == 1 {2} then", 1, "{", ""},
		{"if a b {2}", 1, "b", ""},
		{"const a = 1", 1, "a", "; a variable begins with local"},
		{"pi.on('x', (e) => e)", 1, "=", "; a function is written function(x) … end"},
		{"// note", 1, "/", "; a comment begins with --"},
		{"local a = 7 // 2", 1, "/", "; Lua 5.1 has no //: math.floor(a / b)"},
		{`import fs from "pi.fs"`, 1, "fs", `; a module is taken with local name = require "pi.name"`},
		{"if a = 1 then end", 1, "=", "; values are compared with =="},
		{"local a = b ? 1 : 2", 1, "?", "; a choice is written a and b or c"},
		{`local t = { "a": 1 }`, 1, ":", "; a field of a table is written name = value"},
		{`local t = { a: 1 }`, 1, "1", "; a field of a table is written name = value"},
		{"f(function(x) {", 1, "{", "; a block has no braces: function(x) … end"},
		{"f(async function() end)", 1, "function", "; there is no async and await: what waits, waits"},
		{"f{\n  a = \"x\"\n  b = 1\n}", 3, "b", "; a comma is missing before it"},
		{"x = 1\ny = = 2", 2, "=", ""},
		{"f{\n  a = 1,\n  b = 1 c = 2\n}", 3, "c", ""},
		{"return 1\nprint(1)", 2, "print", "; return is the last of its block: if … then return … end"},
		{"return 1\n)", 2, ")", ""},
		{"local a <const> = 1", 1, "<", "; Lua 5.1 has no <const>"},
		{"try\n", 1, "try", "; Lua has none of try, switch and class: pcall(f) catches errors"},
		{`local s = "a != b" )`, 1, ")", ""},
		{"x = 1 )", 1, ")", ""},
		{"-- a != b\nx x", 2, "x", ""},
		{"f(function()\n  if x then\n    y()\nend)\n", 4, ")", `; "if" in line 2 has no end`},
		{"f(function()\n  y()\n", 2, "", `; "function" in line 1 has no end`},
		{"for i = 1, 2 do\n  y()\n", 2, "", `; "for" in line 1 has no end`},
		{"while a do\n  if b then\n    y()\nend\nz()", 5, "", `; "if" in line 2 has no end`},
		{"if a then\n  x()\nelse if b then\n  y()\nend\nz()", 6, "", `; "else if" opens a block of its own, elseif does not`},
		{"repeat\n  x()\nend", 3, "end", ``},
	} {
		if got := syntaxHint([]byte(c.src), c.line, c.token); got != c.want {
			t.Errorf("%s\nsays %q, want %q", c.src, got, c.want)
		}
	}
}

// Whatever a text is, the lines are the same, and nothing but blanks stands where a comment
// or the inside of a string did.
func FuzzSyntax(f *testing.F) {
	for _, src := range []string{"if a != b then", "f(function()\n if x then\nend)", "--[[ x\n]] y", `"a\` + "\n" + `b"`, "[==[\n]]]==]", "repeat until end ) end"} {
		f.Add(src, 2, ")")
	}
	f.Fuzz(func(t *testing.T, src string, line int, token string) {
		syntaxHint([]byte(src), line, token)
		lines := bareLines([]byte(src))
		if len(lines) != strings.Count(src, "\n")+1 {
			t.Fatalf("%d lines became %d", strings.Count(src, "\n")+1, len(lines))
		}
		for i, line := range strings.Split(src, "\n") {
			for j := range line {
				if c := lines[i][j]; c != ' ' && c != line[j] {
					t.Fatalf("%q became %q", line, lines[i])
				}
			}
		}
		unclosedBlock([]byte(src), line)
	})
}
