package luavm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// A local whose scope has ended gives its name to none that lives in its place later.
func TestALocalBehindAScopeThatEndedIsNamed(t *testing.T) {
	for src, want := range map[string]string{
		`for i = 1, 3 do end local a, b, z return z.x`:                                          `attempt to index "z", which is nil, with key "x"`,
		`for i = 1, 3 do end local a, z return #z`:                                              `attempt to get the length of "z", which is nil`,
		`for i = 1, 3 do end local a, z return "a" .. z`:                                        `cannot perform concat operation between string and nil: "z" is nil`,
		`for i = 1, 3 do end local a, b, z = 1, 2, {} return z.deep.x`:                          `attempt to index "z.deep", which is nil, with key "x"`,
		`for _, v in ipairs({}) do local w end local a, b, z z()`:                               `attempt to call "z", which is no function`,
		`while false do local a, b end local x, y return y + 1`:                                 `cannot perform add operation between nil and number: "y" is nil`,
		`repeat local a = true until a local b return b.x`:                                      `attempt to index "b", which is nil, with key "x"`,
		`repeat local a until a.x`:                                                              `attempt to index "a", which is nil, with key "x"`,
		`do local a, b end do local c, d do local e return e.x, d end end`:                      `attempt to index "e", which is nil, with key "x"`,
		`if true then local a, b end local c, d return d.x`:                                     `attempt to index "d", which is nil, with key "x"`,
		`if false then local a else local b, c return c.x end`:                                  `attempt to index "c", which is nil, with key "x"`,
		`local a = {} do local a = 1 end return a.b.c`:                                          `attempt to index "a.b", which is nil, with key "c"`,
		`local a = {} do local a return a.b end`:                                                `attempt to index "a", which is nil, with key "b"`,
		`for i = 1, 2 do local a = i end for j = 1, 2 do local b return b.x end`:                `attempt to index "b", which is nil, with key "x"`,
		`local function f(p, ...) for i = 1, 2 do end local q return q.x, p end return (f(1))`:  `attempt to index "q", which is nil, with key "x"`,
		`local t = {} function t:go(p) do local a, b end local q return q.x, p end t:go(1)`:     `attempt to index "q", which is nil, with key "x"`,
		`local t = {} t.f = function(p) do local a end local q return p.x, q end t.f()`:         `attempt to index "p", which is nil, with key "x"`,
		`local s = "a" for w in (s .. "b"):gmatch(".") do local u end local a, b, z return z.x`: `attempt to index "z", which is nil, with key "x"`,
	} {
		h := newHook(t, Options{})
		if e := h.failure(t, src); e.Message != want {
			t.Errorf("%s\nsays %q\nwant %q", src, e.Message, want)
		}
	}
}

// Whatever a program looks like, a register is named as the local that the line uses.
func TestRegistersAreNamedAsTheLocalsOfTheirLines(t *testing.T) {
	for seed := range uint64(300) {
		g := &programs{rand: rand.New(rand.NewPCG(seed, 29))}
		g.block(nil, 4)
		src := strings.Join(g.lines, "\n")
		proto, err := Compile("x.lua", []byte(src))
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		everyFunction(proto, func(p *lua.FunctionProto) {
			for pc, inst := range p.Code {
				line := p.DbgSourcePositions[pc]
				if line > len(g.lines) { // the end of the text
					continue
				}
				if want, isUse := strings.CutPrefix(g.lines[line-1], "use("); isUse && opOf(inst) == lua.OP_MOVE {
					if got := localName(p, argB(inst), pc) + ")"; got != want {
						t.Fatalf("seed %d: in line %d %q is named %q\n%s", seed, line, want, got, src)
					}
				}
			}
		})
	}
}

// programs writes programs that say use(NAME), in a line of its own, of each local that is in
// scope.
type programs struct {
	rand  *rand.Rand
	lines []string
	names int
}

func (g *programs) line(format string, args ...any) {
	g.lines = append(g.lines, fmt.Sprintf(format, args...))
}

// fresh returns a name that no other local has.
func (g *programs) fresh() string {
	g.names++
	return fmt.Sprintf("v%d", g.names)
}

// block writes some statements, which see the locals of the function that are given.
func (g *programs) block(locals []string, deep int) {
	locals = locals[:len(locals):len(locals)]
	for range 1 + g.rand.IntN(3) {
		if len(locals) > 0 {
			g.line("use(%s)", locals[g.rand.IntN(len(locals))])
		}
		kind := g.rand.IntN(10)
		if deep == 0 {
			kind = 0
		}
		a, b := g.fresh(), g.fresh()
		switch kind {
		case 0, 1:
			g.line("local %s, %s = call()", a, b)
			locals = append(locals, a, b)
		case 2:
			g.inside("do", locals, deep, "end")
		case 3:
			g.inside(fmt.Sprintf("for %s = 1, 3 do", a), append(locals, a), deep, "end")
		case 4:
			g.inside(fmt.Sprintf("for %s, %s in pairs(list) do", a, b), append(locals, a, b), deep, "end")
		case 5:
			g.inside("while more() do", locals, deep, "end")
		case 6:
			g.inside("repeat", locals, deep, "until done()")
		case 7:
			g.inside("if this() then", locals, deep, "else")
			g.block(locals, deep-1)
			g.line("end")
		case 8:
			g.inside(fmt.Sprintf("local function %s(%s, ...)", a, b), []string{b}, deep, "end")
			locals = append(locals, a)
		case 9:
			g.inside(fmt.Sprintf("function object:%s(%s)", a, b), []string{"self", b}, deep, "end")
		}
	}
	for _, name := range locals {
		g.line("use(%s)", name)
	}
}

// inside writes a block between two lines.
func (g *programs) inside(head string, locals []string, deep int, end string) {
	g.line("%s", head)
	g.block(locals, deep-1)
	g.line("%s", end)
}

// What the compiler refuses is told with the lines of the text, wherever a message has them.
func TestErrorsOfTheCompilerHaveTheLinesOfTheText(t *testing.T) {
	for src, want := range map[string]string{
		"\n\nlocal a\ngoto nowhere\n":             `x.lua:5: no visible label 'nowhere' for <goto> at line 4`,
		"\n\n::a::\nlocal a\n::a::\n":             `x.lua:6: label 'a' already defined on line 3`,
		"local a, b = 1, 2\nif a then\nbreak end": `x.lua:3: no loop to break`,
	} {
		if _, err := Compile("x.lua", []byte(src)); err == nil || err.Error() != want {
			t.Errorf("%q\nsays %v\nwant %s", src, err, want)
		}
	}
}
