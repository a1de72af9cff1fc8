package stdlib

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// What functions build in Go from the texts of a hook is counted while it is built, and they
// look whether their job was stopped. The one is judged by what Go allocates, the other by how
// often they look, which are the same on a slow machine.

// greedy are functions that build much of little, each with Lua that returns it and what it
// is given: many rows, pieces or matches. SIZE is how large the text is, in bytes.
var greedy = map[string]string{
	"text.wrap, short words":  `pi.text.wrap, ("a "):rep(SIZE / 2), 3`,
	"text.wrap, one word":     `pi.text.wrap, ("a"):rep(SIZE), 1`,
	"text.wrap, empty lines":  `pi.text.wrap, ("\n"):rep(SIZE), 80`,
	"text.wrap, wide indents": `pi.text.wrap, ("a "):rep(SIZE / 2), 101, { indent = (" "):rep(100) }`,
	"text.truncate":           `pi.text.truncate, ("\n"):rep(SIZE), { lines = 3 }`,
	"text.truncate, its tail": `pi.text.truncate, ("\n"):rep(SIZE), { lines = 3, keep = "tail" }`,
	"text.width":              `pi.text.width, ("\n"):rep(SIZE)`,
	"text.fit":                `pi.text.fit, ("a"):rep(SIZE), SIZE - 1`,
	"text.of":                 `pi.text.of, same(SIZE / 100, { text = ("a"):rep(1000) })`,
	"text.redact":             `pi.text.redact, ("a"):rep(SIZE), { patterns = { "a" }, defaults = false }`,
	"text.redact, groups":     `pi.text.redact, ("a"):rep(SIZE), { patterns = { ("(b?)"):rep(50) .. "a" }, defaults = false }`,
	"text.redact, longer":     `pi.text.redact, ("a"):rep(SIZE), { patterns = { "a" }, defaults = false, replacement = ("x"):rep(1000) }`,
	"re.find_all":             `pi.re.find_all, ("a"):rep(SIZE), "a", { max = 900000 }`,
	"re.find_all, groups":     `pi.re.find_all, ("a"):rep(SIZE), ("(b?)"):rep(50) .. "a", { max = 900000 }`,
	"re.split":                `pi.re.split, ("a "):rep(SIZE / 2), " ", { max = SIZE }`,
	"re.split, every byte":    `pi.re.split, ("a"):rep(SIZE), "", { max = SIZE }`,
	"re.replace":              `pi.re.replace, ("a"):rep(SIZE), "a", "$0$0", { max = 900000 }`,
	"path.split":              `pi.path.split, ("a/"):rep(SIZE / 2)`,
	"path.join":               `pi.path.join, unpack(same(200, ("a"):rep(SIZE / 4)))`,
	"http.encode":             `pi.http.encode, ("/"):rep(SIZE)`,
	"http.encode, a query":    `pi.http.encode, { a = same(200, ("/"):rep(SIZE / 100)) }`,
	"sh.quote":                `pi.sh.quote, same(SIZE / 2, "'")`,
	"hash.hex":                `pi.hash.hex, ("a"):rep(SIZE)`,
	"base64.encode":           `pi.base64.encode, ("a"):rep(SIZE)`,
}

// bounded calls one of the functions in a VM with a limit, and returns what Go allocated
// meanwhile.
func bounded(t *testing.T, limit int64, size int, expression string) (allocated int64, err error) {
	t.Helper()
	runtime.GC() // what others left is no part of what the job may have
	vm := luavm.New(luavm.Options{MemoryLimit: limit})
	defer vm.Close()
	proto, err := luavm.Compile("greedy.lua", fmt.Appendf(nil, `
		local SIZE = %d
		local function same(n, v) local l = {} for i = 1, n do l[i] = v end return l end
		local pi = setmetatable({}, { __index = function(_, name) return require("pi." .. name) end })
		return call(%s)`, size, expression))
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Cwd: t.TempDir(), Loading: vm.Loading}
	err = vm.Run(t.Context(), luavm.Job{Name: "greedy", Run: func(L *lua.LState) error {
		L.SetGlobal("require", L.NewFunction(func(L *lua.LState) int {
			L.Push(Module(L.CheckString(1))(vm, L, env))
			return 1
		}))
		L.SetGlobal("call", L.NewFunction(func(L *lua.LState) int {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			was := m.TotalAlloc
			defer func() {
				runtime.ReadMemStats(&m)
				allocated = int64(m.TotalAlloc - was)
			}()
			L.Call(L.GetTop()-1, 0)
			return 0
		}))
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 0)
		return nil
	}})
	return allocated, err
}

// boundFactor is how much more than its limit a function may allocate, garbage included: the
// heap is looked at every 16 MiB, lists that grow are copied, and many matches are looked for
// twice (see matches).
const boundFactor = 8

func TestWhatTheLibraryBuildsIsBounded(t *testing.T) {
	const limit, size = 24 << 20, 4 << 20
	for name, expression := range greedy {
		t.Run(name, func(t *testing.T) {
			if n, err := bounded(t, limit, size, expression); n > boundFactor*limit {
				t.Errorf("%d MiB were allocated (%v)", n>>20, err)
			}
		})
	}
}

// errStopped is what a look ends the work with.
var errStopped = errors.New("stopped")

// What takes a text apart looks at its job as it goes, so that it ends soon when that is stopped:
// with the first look that raises. In between are at most so many characters, rows and words.
func TestWorkOnTextsLooksAtItsJob(t *testing.T) {
	const size = 1 << 18
	for name, work := range map[string]func(look func(int)){
		"width":            func(look func(int)) { width(strings.Repeat("a", size), look) },
		"width of lines":   func(look func(int)) { width(strings.Repeat("a\n", size/2), look) },
		"fit":              func(look func(int)) { fit(strings.Repeat("a", size), size-1, "…", look) },
		"wrap":             func(look func(int)) { wrap(strings.Repeat("a ", size/2), 20, "", "", look) },
		"wrap of one word": func(look func(int)) { wrap(strings.Repeat("a", size), 20, "", "", look) },
		"wrap of lines":    func(look func(int)) { wrap(strings.Repeat("\n", size), 20, "", "", look) },
		"wrap, one line":   func(look func(int)) { wrap(strings.Repeat("a", size), size, "", "", look) },
	} {
		looks := 0
		work(func(int) { looks++ })
		if looks < size/looksApart/4 {
			t.Errorf("%s: %d looks at %d characters", name, looks, size)
		}
		seen := 0
		func() {
			defer func() {
				if r := recover(); r != errStopped {
					t.Errorf("%s: ended with %v", name, r)
				}
			}()
			work(func(int) {
				if seen++; seen == 3 {
					panic(errStopped)
				}
			})
		}()
		if seen != 3 {
			t.Errorf("%s: went on for %d looks", name, seen)
		}
	}
}

// FuzzWhatTheLibraryBuilds tries sizes and texts between those of the tables.
func FuzzWhatTheLibraryBuilds(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		texts := []string{`"a"`, `" "`, `"\n"`, `"a b\n"`, `"'"`, `"/"`, `"\27[1m"`, `"\195\169"`, `"é "`}
		text := fmt.Sprintf(`(%s):rep(SIZE / 4)`, texts[r.IntN(len(texts))])
		patterns := []string{`"a"`, `""`, `"."`, `"(a)|(b)|( )"`, `"(?s)(.)(.?)"`, `"\\b"`, `"$"`}
		pattern := patterns[r.IntN(len(patterns))]
		calls := []string{
			fmt.Sprintf(`pi.text.wrap, %s, %d, { indent = "  ", hanging = (" "):rep(%d) }`, text, 200+r.IntN(100), r.IntN(150)),
			fmt.Sprintf(`pi.text.truncate, %s, { lines = %d, bytes = %d }`, text, r.IntN(100), r.IntN(1<<20)),
			`pi.text.width, ` + text, fmt.Sprintf(`pi.text.fit, %s, %d`, text, r.IntN(1<<22)),
			fmt.Sprintf(`pi.text.redact, %s, { patterns = { %s } }`, text, pattern),
			fmt.Sprintf(`pi.re.find_all, %s, %s, { max = %d }`, text, pattern, r.IntN(1<<20)),
			fmt.Sprintf(`pi.re.split, %s, %s, { max = %d }`, text, pattern, r.IntN(1<<20)),
			fmt.Sprintf(`pi.re.replace, %s, %s, "$1$0", { max = %d }`, text, pattern, r.IntN(1<<20)),
			`pi.path.split, ` + text, `pi.http.encode, ` + text, `pi.sh.quote, ` + text, `pi.hash.hex, ` + text, `pi.base64.decode, ` + text,
		}
		expression := calls[r.IntN(len(calls))]
		const limit = 24 << 20
		if n, err := bounded(t, limit, 4<<20, expression); n > boundFactor*limit {
			t.Errorf("%s: %d MiB were allocated (%v)", expression, n>>20, err)
		}
	})
}
