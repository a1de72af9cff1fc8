package stdlib

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"pi/internal/diff"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// What functions build in Go from the texts of a hook is counted while it is built, and they
// look whether their job was stopped. The one is judged by what is alive in the heap, the other
// by how often they look, which are the same on a slow machine.

// greedy has of each function what makes it build most of a text or table, as Lua that returns
// the function and what it is given: many rows, pieces or matches. SIZE is how large the text
// is, in bytes.
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
	"http.resolve":            `pi.http.resolve, "https://example.com/", ("a/ "):rep(SIZE / 3)`,
	"sh.quote":                `pi.sh.quote, same(SIZE / 2, "'")`,
	"hash.hex":                `pi.hash.hex, ("a"):rep(SIZE)`,
	"hash.unhex":              `pi.hash.unhex, ("a"):rep(SIZE)`,
	"hash.sha256":             `pi.hash.sha256, ("a"):rep(SIZE)`,
	"hash.sha512":             `pi.hash.sha512, ("a"):rep(SIZE)`,
	"hash.sha1":               `pi.hash.sha1, ("a"):rep(SIZE)`,
	"hash.md5":                `pi.hash.md5, ("a"):rep(SIZE)`,
	"hash.hmac_sha256":        `pi.hash.hmac_sha256, ("a"):rep(SIZE), ("a"):rep(SIZE)`,
	"base64.encode":           `pi.base64.encode, ("a"):rep(SIZE)`,
	"base64.decode":           `pi.base64.decode, ("a"):rep(SIZE)`,
	"base64.url_encode":       `pi.base64.url_encode, ("a"):rep(SIZE)`,
	"base64.url_decode":       `pi.base64.url_decode, ("a"):rep(SIZE)`,
	"diff.unified":            `pi.diff.unified, ("aaaaaaaa\n"):rep(SIZE / 9), ("bbbbbbbb\n"):rep(SIZE / 9)`,
	"diff.unified, in pieces": `pi.diff.unified, ("a\nb\n"):rep(SIZE / 8), ("b\na\na\n"):rep(SIZE / 8)`,
	"diff.unified, one line":  `pi.diff.unified, ("a"):rep(SIZE), ("b"):rep(SIZE)`,
	"json.encode":             `pi.json.encode, ("\1"):rep(SIZE)`,
	"json.encode, a list":     `pi.json.encode, same(SIZE / 16, "a")`,
	"json.encode, the same":   `pi.json.encode, same(SIZE / 1000, same(1000, "a"))`,
	"json.decode":             `function(s) return pi.json.decode(s)[1] end, ("[" .. ("{},"):rep(SIZE / 3) .. "1]")`,
	"json.decode, a list":     `function(s) return #pi.json.decode(s) end, ("[" .. ("1,"):rep(SIZE / 2) .. "1]")`,
	"json.decode, lists":      `function(s) return #pi.json.decode(s) end, ("[" .. ("[],"):rep(SIZE / 3) .. "1]")`,
	"json.decode, an object":  `function(s) return pi.json.decode(s).b end, ("{" .. ('"a":1,'):rep(SIZE / 6) .. '"b":1}')`,
	"json.encode, laid out":   `pi.json.encode, same(SIZE / 16, 1), { indent = 16 }`,
	"html.markdown":           `pi.html.markdown, ("<b>x"):rep(SIZE / 4)`,
	"html.markdown, text":     `pi.html.markdown, ("*"):rep(SIZE)`,
	"toml.decode":             `pi.toml.decode, "a = [" .. ("1,"):rep(SIZE / 2) .. "]"`,
	"schema.check":            `pi.schema.check, { type = "array", items = { type = "string" } }, same(SIZE / 16, 1)`,
	"fs.read":                 `(function() pi.fs.write("a", ("a"):rep(SIZE)) return pi.fs.read end)(), "a"`,
	"fs.write":                `pi.fs.write, "a", ("a"):rep(SIZE)`,
	"path.dir":                `pi.path.dir, ("a//"):rep(SIZE / 3)`,
	"path.base":               `pi.path.base, ("a//"):rep(SIZE / 3)`,
	"path.clean":              `pi.path.clean, ("a//"):rep(SIZE / 3)`,
	"path.ext":                `pi.path.ext, ("a."):rep(SIZE / 2)`,
	"path.stem":               `pi.path.stem, ("a."):rep(SIZE / 2)`,
	"path.is_abs":             `pi.path.is_abs, ("a//"):rep(SIZE / 3)`,
	"path.abs":                `pi.path.abs, ("a//"):rep(SIZE / 3)`,
	"path.rel":                `pi.path.rel, ("a/"):rep(SIZE / 2), ("b/"):rep(SIZE / 2)`,
	"path.expand":             `pi.path.expand, "~/" .. ("a//"):rep(SIZE / 3)`,
	"path.match":              `pi.path.match, ("a/"):rep(SIZE / 2), "**/b"`,
	"re.match":                `pi.re.match, ("a"):rep(SIZE), "(a*)"`,
	"re.test":                 `pi.re.test, ("a"):rep(SIZE), "b"`,
	"re.escape":               `pi.re.escape, ("."):rep(SIZE)`,
	"re.check":                `pi.re.check, ("a"):rep(SIZE)`,
	"sh.commands":             `pi.sh.commands, ("a;"):rep(60000)`,
	"sh.commands, words":      `pi.sh.commands, ("a "):rep(60000)`,
	"schema.object":           `pi.schema.object, fields(SIZE / 64, { type = "string" })`,
	"schema.enum":             `pi.schema.enum, same(SIZE / 16, "a")`,
	"schema.any_of":           `pi.schema.any_of, same(SIZE / 16, {})`,
	"text.front_matter":       `pi.text.front_matter, "---\n" .. ("a\n"):rep(SIZE / 2) .. "---\n"`,
	"text.front_matter, list": `pi.text.front_matter, "---\na:\n" .. ("- a\n"):rep(SIZE / 4) .. "---\n"`,
	"time.format":             `pi.time.format, 0, ("%A"):rep(SIZE / 2)`,
	"time.parse":              `pi.time.parse, ("1"):rep(SIZE)`,
}

// meager are the functions that build nothing of a text or table, or what somebody else bounds.
func meager() map[string]string {
	return map[string]string{
		"fs.exists": "a yes", "fs.stat": "a record", "fs.list": "of a folder", "fs.glob": "maxMatches", "fs.mkdir": "nothing", "fs.remove": "nothing",
		"fs.real": "a path", "fs.watch": "a handle", "fs.temp": "a path", "fs.chmod": "nothing",
		"fs.rename": "nothing", "fs.copy": "nothing", "fs.locked": "what its function returns",
		"git.env": "settings", "git.root": "what git prints", "git.branch": "what git prints", "git.status": "what git prints", "git.diff": "what git prints", "git.remotes": "what git prints",
		"hash.random": "maxRandom", "http.request": "max_bytes", "http.get": "max_bytes", "http.post": "max_bytes", "http.stream": "pieces",
		"http.events": "max_bytes", "http.listen": "max_body", "json.list": "the table that it is given", "llm.complete": "of the model",
		"llm.stream": "of the model", "schema.string": "a record", "schema.number": "a record", "schema.integer": "a record",
		"schema.boolean": "a record", "schema.null": "a record", "schema.any": "a record", "schema.const": "a record", "schema.array": "a record",
		"schema.map": "a record", "schema.optional": "a record", "time.now": "a number", "time.since": "a number", "time.iso": "a date",
		"time.duration": "a text of a number", "timer.sleep": "nothing", "timer.after": "a handle", "timer.every": "a handle",
	}
}

// Whoever adds a function to the library says what it builds.
func TestEveryFunctionOfTheLibraryIsBoundedOrMeager(t *testing.T) {
	known := meager()
	for name := range greedy {
		name, _, _ = strings.Cut(name, ",")
		known[name] = "greedy"
	}
	vm := luavm.New(luavm.Options{})
	defer vm.Close()
	err := vm.Run(t.Context(), luavm.Job{Name: "all", Run: func(L *lua.LState) error {
		for module, open := range modules() {
			table, ok := open(vm, L, &Env{Cwd: t.TempDir(), Loading: vm.Loading}).(*lua.LTable)
			if !ok {
				t.Fatalf("%s is no table", module)
			}
			luavm.Materialise(L, table)
			table.ForEach(func(key, value lua.LValue) {
				name := strings.TrimPrefix(module, "pi.") + "." + key.String()
				if _, isFunction := value.(*lua.LFunction); isFunction && known[name] == "" {
					t.Errorf("%s is neither in the table greedy nor in meager: what does it build at most, and does it look at its job?", name)
				}
				delete(known, name)
			})
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name := range known {
		t.Errorf("%s is no function of the library", name)
	}
}

// calling runs Lua that returns a function and its arguments, and hands call what is to call it.
func calling(t *testing.T, limit int64, size int, expression string, call func(L *lua.LState, run func() error)) error {
	t.Helper()
	vm := luavm.New(luavm.Options{MemoryLimit: limit})
	defer vm.Close()
	proto, err := luavm.Compile("greedy.lua", fmt.Appendf(nil, `
		local SIZE = %d
		local function same(n, v) local l = {} for i = 1, n do l[i] = v end return l end
		local function fields(n, v) local l = {} for i = 1, n do l["field" .. i] = v end return l end
		local pi = setmetatable({}, { __index = function(_, name) return require("pi." .. name) end })
		return call(%s)`, size, expression))
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Cwd: t.TempDir(), Loading: vm.Loading}
	return vm.Run(t.Context(), luavm.Job{Name: "greedy", Run: func(L *lua.LState) error {
		L.SetGlobal("require", L.NewFunction(func(L *lua.LState) int {
			L.Push(Module(L.CheckString(1))(vm, L, env))
			return 1
		}))
		L.SetGlobal("call", L.NewFunction(func(L *lua.LState) int {
			call(L, func() error { return L.PCall(L.GetTop()-1, 0, nil) })
			return 0
		}))
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 0)
		return nil
	}})
}

// bounded calls one of the functions in a VM with a limit, and returns by how much what is
// alive in the heap grew at most meanwhile. The collector runs nearly all the time for this.
func bounded(t *testing.T, limit int64, size int, expression string) (grown int64, err error) {
	t.Helper()
	err = calling(t, limit, size, expression, func(L *lua.LState, run func() error) {
		defer debug.SetGCPercent(debug.SetGCPercent(10))
		runtime.GC()
		was, end, done := alive(), make(chan struct{}), make(chan int64)
		go func() {
			most := was
			for {
				most = max(most, alive())
				select {
				case <-end:
					done <- most
					return
				default:
					time.Sleep(100 * time.Microsecond) // so that the other gets on
				}
			}
		}()
		called := run()
		close(end)
		grown = <-done - was
		if called != nil {
			L.RaiseError("%v", called)
		}
	})
	return grown, err
}

// alive is what was alive in the heap at the last collection.
func alive() int64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample[:])
	return int64(sample[0].Value.Uint64())
}

// boundFactor is how much more than its limit a function may have alive: the heap is looked at
// every 16 MiB, and what is alive is known only at a collection, which lags on a busy machine.
const boundFactor = 3

func TestWhatTheLibraryBuildsIsBounded(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes the heap another one; .ci/run has it without")
	}
	const limit, size = 24 << 20, 2 << 20
	for name, expression := range greedy {
		t.Run(name, func(t *testing.T) {
			// What is made while the collector works counts as alive, which is the more the
			// busier the machine is; so the least of some runs is what the function keeps.
			for left := 4; ; left-- {
				n, err := bounded(t, limit, size, expression)
				t.Logf("%d MiB (%v)", n>>20, err)
				if n <= boundFactor*limit {
					return
				}
				if left == 0 {
					t.Fatalf("the heap grew by %d MiB (%v)", n>>20, err)
				}
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
		"lines": func(look func(int)) { diff.Unified{Look: look}.Lines(strings.Repeat("\n", size)) },
		"difference": func(look func(int)) {
			u := diff.Unified{From: "a", To: "b", Context: 3}
			before, after := u.Lines(strings.Repeat("a\n", size/2)), u.Lines(strings.Repeat("b\n", size/2))
			u.Look = look
			u.Within(before, after, []diff.Change{{End: len(before), ReplEnd: len(after)}})
		},
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

// inOneGo are the functions that read or copy their text once, and why that does
// not take long.
func inOneGo() map[string]string {
	return map[string]string{
		"hash.hex": "a copy", "hash.unhex": "a copy", "base64.encode": "a copy", "base64.decode": "a copy", "base64.url_encode": "a copy", "base64.url_decode": "a copy",
		"http.encode": "a copy", "http.resolve": "a few copies", "path.join": "a copy", "path.split": "a copy", "path.dir": "a copy", "path.base": "a copy", "path.clean": "a copy", "path.ext": "a copy", "path.stem": "a copy", "path.is_abs": "a copy",
		"path.abs": "a copy", "path.rel": "a copy", "path.expand": "a copy", "path.match": "globs.Check", "fs.read": "maxText", "fs.write": "a copy",
		"text.truncate": "a copy", "text.of": "a copy", "re.match": "see docs/reference.md", "re.test": "see docs/hooks.md", "re.escape": "a copy", "re.check": "maxPattern",
		"sh.commands": "maxLine", "sh.quote": "a copy", "schema.object": "as Lua's own loop", "schema.enum": "as Lua's own loop", "schema.any_of": "as Lua's own loop",
		"text.front_matter": "maxHead", "time.format": "a copy", "time.parse": "a copy",
	}
}

// countedLooks is a context that ends when it was looked at so often.
type countedLooks struct {
	context.Context
	seen, end int
}

func (c *countedLooks) Done() <-chan struct{} {
	if c.seen++; c.seen < c.end {
		return nil
	}
	done := make(chan struct{})
	close(done)
	return done
}

func (c *countedLooks) Err() error { return errStopped }

// looks calls one of the functions, whose job is stopped at look number end, and returns how
// many looks there were.
func looks(t *testing.T, size, end int, expression string) (seen int, err error) {
	t.Helper()
	runErr := calling(t, -1, size, expression, func(L *lua.LState, run func() error) {
		job := L.Context()
		c := &countedLooks{Context: t.Context(), end: end}
		L.SetContext(c)
		err = run()
		L.SetContext(job)
		seen = c.seen
	})
	if runErr != nil {
		t.Fatal(runErr)
	}
	return seen, err
}

// What works long for a hook looks at its job, and ends with the first look at one that was
// stopped.
func TestTheLibraryLooksAtItsJob(t *testing.T) {
	if raceEnabled {
		t.Skip("one thing is done at a time, and .ci/run has it without the race detector")
	}
	const size = 1 << 16
	once := inOneGo()
	for name, expression := range greedy {
		function, what, _ := strings.Cut(name, ", ")
		if once[function] != "" || what == "groups" || what == "longer" { // these only make it slower
			continue
		}
		t.Run(name, func(t *testing.T) {
			all, err := looks(t, size, 1<<30, expression)
			if all < 4 {
				t.Fatalf("%d looks at %d bytes (%v)", all, size, err)
			}
			seen, err := looks(t, size, all/2, expression)
			if err == nil || !strings.Contains(err.Error(), errStopped.Error()) || seen > all/2+2 {
				t.Errorf("was stopped at look %d of %d, and looked %d times: %v", all/2, all, seen, err)
			}
		})
	}
}

// FuzzWhatTheLibraryBuilds tries sizes and texts between those of the tables.
func FuzzWhatTheLibraryBuilds(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		if raceEnabled {
			t.Skip("the race detector makes the heap another one")
		}
		texts := []string{`"a"`, `" "`, `"\n"`, `"a b\n"`, `"'"`, `"/"`, `"\27[1m"`, `"\195\169"`, `"é "`}
		text := fmt.Sprintf(`(%s):rep(SIZE / 4)`, texts[r.IntN(len(texts))])
		patterns := []string{`"a"`, `""`, `"."`, `"(a)|(b)|( )"`, `"(?s)(.)(.?)"`, `"\\b"`, `"$"`}
		pattern := patterns[r.IntN(len(patterns))]
		calls := []string{
			fmt.Sprintf(`pi.text.wrap, %s, %d, { indent = "  ", hanging = (" "):rep(%d) }`, text, 200+r.IntN(100), r.IntN(150)),
			fmt.Sprintf(`pi.text.truncate, %s, { lines = %d, bytes = %d }`, text, r.IntN(100), r.IntN(1<<20)),
			`pi.text.width, ` + text, fmt.Sprintf(`pi.text.fit, %s, %d`, text, r.IntN(1<<22)),
			fmt.Sprintf(`pi.text.redact, %s, { patterns = { %s }, defaults = false }`, text, pattern),
			fmt.Sprintf(`pi.re.find_all, %s, %s, { max = %d }`, text, pattern, r.IntN(1<<20)),
			fmt.Sprintf(`pi.re.split, %s, %s, { max = %d }`, text, pattern, r.IntN(1<<20)),
			fmt.Sprintf(`pi.re.replace, %s, %s, "$1$0", { max = %d }`, text, pattern, r.IntN(1<<20)),
			`pi.diff.unified, ` + text + `, "b" .. ` + text, `pi.json.encode, ` + text, `pi.text.front_matter, "---\\n" .. ` + text + ` .. "\\n---\\n"`,
			`function(s) return #pi.json.decode("[" .. s:gsub("[^a]", ","):gsub("a", "1") .. "1]") end, ` + text, `pi.sh.commands, ` + text + `:sub(1, 100000)`,
			`pi.path.split, ` + text, `pi.http.encode, ` + text, `pi.sh.quote, ` + text, `pi.hash.hex, ` + text, `pi.base64.decode, ` + text,
		}
		expression := calls[r.IntN(len(calls))]
		const limit = 24 << 20
		if n, err := bounded(t, limit, 4<<20, expression); n > boundFactor*limit {
			t.Errorf("%s: the heap grew by %d MiB (%v)", expression, n>>20, err)
		}
	})
}
