package luahooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/agent"
	"pi/luahooks/text"
	"pi/luavm"
	"pi/session/message"
	"pi/stdlib"
	"pi/stdlib/annotated"

	lua "github.com/yuin/gopher-lua"
)

func TestWhichLinesPinTheAPI(t *testing.T) {
	for line, want := range map[string]string{
		"-- pi-api: 1":     "1",
		"--pi-api:2":       "2",
		"--\tpi-api:  3\r": "3",
		"-- pi-api: 1 2":   "",
		"-- pi-api:":       "",
		"pi-api: 1":        "",
		"- pi-api: 1":      "",
		"-- a pi-api: 1":   "",
		" -- pi-api: 1":    "",
		"":                 "",
	} {
		if got := apiPin(line); got != want {
			t.Errorf("%q pins %q, want %q", line, got, want)
		}
	}
}

// A hook of which nothing is ever called is told, with what to do; one that another requires is a
// module, and an empty one is one that is being written.
func TestAHookThatRegistersNothingIsTold(t *testing.T) {
	t.Parallel()
	const table = "registers nothing: the table that the file returns is ignored; return a function: return function(pi) … end"
	r := newRig(t, map[string]string{
		"setup.lua": `return { name = "x", setup = function(pi) end }`, "empty.lua": "", "later.lua": "-- later",
		"rules.lua": `return { gate = function() end }`, "uses.lua": `local rules = require "rules" pi.on("tool_call", rules.gate) return rules`,
		"main.lua": `return function(pi) pi.on("input", function() end) end`,
	})
	r.mustSay("hook setup " + table)
	if got := len(r.host.notices()); got != 1 {
		t.Errorf("%d notices, want 1: %q", got, r.host.notices())
	}
	r.write("main.lua", `return { activate = function(pi) end }`)
	r.chain.Reload(t.Context(), true)
	r.mustSay("hook main " + table)
}

func TestChainsThatShareCodeCompileAFileOnce(t *testing.T) {
	r := newRig(t, map[string]string{
		"lib/count.lua": `local n = 0
			return function() n = n + 1 return { text = n .. " asked" } end`,
		"a.lua": `pi.on("input", require "count")
			pi.on("tool_result", function() end)`,
	}, func(o *Options) { o.Compiled = new(Compiled) })
	second := New(r.chain.opts)
	second.Load(context.Background())
	t.Cleanup(func() { second.Close(context.Background()) })
	alone := r.chain.opts
	alone.Compiled = nil
	third := New(alone)
	third.Load(context.Background())
	t.Cleanup(func() { third.Close(context.Background()) })

	handler := func(c *Chain, event string) *lua.LFunction {
		return c.roster.list()[0].current().handlers(event)[0].Fn
	}
	for _, event := range []string{"input", "tool_result"} { // a function of the module, and one of the file
		first := handler(r.chain, event)
		if handler(second, event).Proto != first.Proto {
			t.Errorf("the function for %s was compiled twice", event)
		}
		if handler(second, event) == first || handler(third, event).Proto == first.Proto {
			t.Errorf("chains share more of %s than they should", event)
		}
	}
	// What is shared has no state: each chain counts its own calls.
	other := &rig{t: t, dir: r.dir, cwd: r.cwd, chain: second}
	if got := r.input("") + ", " + r.input("") + ", " + other.input(""); got != "1 asked, 2 asked, 1 asked" {
		t.Error(got)
	}
	// A changed file is another one.
	r.write("lib/count.lua", `return function() return { text = "changed" } end`)
	second.Reload(context.Background(), false)
	if got := other.input(""); got != "changed" {
		t.Errorf("after a change: %q", got)
	}
}

// The check knows which functions work while a file loads, and which functions Lua has here: it
// says of each what the program does.
func TestTheCheckKnowsWhatWorksWhileAFileLoads(t *testing.T) {
	t.Parallel()
	set, err := annotated.Read(stdlib.Annotations())
	mustDo(t, err)
	c, err := text.NewChecker()
	mustDo(t, err)
	const refused = "not available while the hook loads"
	try := func(code string) {
		report, err := c.File("a.lua", []byte(code), func(string) (string, []byte, bool) { return "", nil, false })
		mustDo(t, err)
		says := false
		for _, p := range report.Problems {
			says = says || strings.Contains(p.What, refused)
		}
		r := newRig(t, map[string]string{"a.lua": code})
		if is := r.said(refused); is != says {
			t.Errorf("%s: refused is %v, and the check says %v; %q", code, is, says, r.host.notices())
		}
	}
	arguments := map[string]string{ // of those that look at them first
		"set_active_tools": `{}`, "send_message": `{ custom_type = "a_note", content = "x" }`, "send_user_message": `"x"`, "send": `"x"`,
		"set_session_name": `"x"`, "set_label": `"x"`, "emit": `"a:b"`,
	}
	for _, m := range set.All(set.Class("pi")) {
		if m.Type.Kind == annotated.Function {
			try(fmt.Sprintf("pi.%s(%s)", m.Name, arguments[m.Name]))
		}
	}
	for _, name := range stdlib.Names() {
		class := set.Module(name)
		if class == nil || strings.HasPrefix(name, "pi.compat") {
			continue
		}
		for _, m := range set.All(class) {
			if m.Type.Kind == annotated.Function {
				try(fmt.Sprintf("require(%q).%s()", name, m.Name))
			}
		}
	}
}

func TestTheCheckKnowsTheFunctionsOfLua(t *testing.T) {
	t.Parallel()
	c, err := text.NewChecker()
	mustDo(t, err)
	vm := luavm.New(luavm.Options{})
	defer vm.Close()
	wrong := func(code string) bool {
		report, err := c.File("a.lua", []byte(code), func(string) (string, []byte, bool) { return "", nil, false })
		mustDo(t, err)
		return len(report.Problems) > 0
	}
	vm.State().G.Global.ForEach(func(k, v lua.LValue) {
		library, ok := v.(*lua.LTable)
		if name := k.String(); name == "_G" || !ok {
			if wrong("local a = " + name) {
				t.Errorf("%s is called undefined", name)
			}
			return
		}
		library.ForEach(func(name, v lua.LValue) {
			if v.Type() == lua.LTFunction && wrong(fmt.Sprintf("%s.%s(1)", k, name)) {
				t.Errorf("%s.%s is called no function", k, name)
			}
		})
	})
	for _, code := range []string{"os.execute('x')", "table.unpack({})", "string.trim('x')", "dofile('x')", "local a = io", "math.pow2(1)"} {
		if !wrong(code) {
			t.Errorf("%s is said to work", code)
		}
	}
}

// testdata/mistakes has what authors get wrong, one hook for each mistake, named for its kind.
// On top of each stands what its author is told: the line, and what was meant there. A second
// line "-- check" has what `pi hooks check` says instead, which knows more of what is
// written in several lines, and less of what is only known when it runs.
var mistakeHead = regexp.MustCompile(`^-- (\d+): (.+)\n`)

func TestMistakesAreToldAtTheirLineWithWhatWasMeant(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.lua")
	mustDo(t, err)
	kinds := map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".lua")
		kind, _, _ := strings.Cut(name, "_")
		kinds[kind]++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, err := os.ReadFile(file)
			mustDo(t, err)
			head := mistakeHead.FindStringSubmatch(string(code))
			if head == nil {
				if strings.HasPrefix(string(code), "-- check ") {
					return // it runs, and does not do what is meant
				}
				t.Fatal("it does not begin with -- line: message")
			}
			want := name + ".lua:" + head[1] + ": " + head[2]
			if got := mistake(t, name+".lua", string(code)); got != want {
				t.Errorf("its author is told\n%s\nwant\n%s", got, want)
			}
		})
	}
	total := 0
	for kind, n := range kinds {
		if total += n; n < 3 {
			t.Errorf("there are %d mistakes of the kind %s, want 3", n, kind)
		}
	}
	if total < 50 || kinds["other"] < 10 {
		t.Errorf("there are %d mistakes, %d of them as authors of other programs make them; want 50 and 10", total, kinds["other"])
	}
}

// mistake loads a hook and gives it what happens in a session, until something is wrong. It
// returns what its author is told, from the name of the file on.
func mistake(t *testing.T, file, code string) string {
	r := newRig(t, map[string]string{file: code}, patient)
	text := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hello")}}
	for _, e := range append([]agent.Event{
		&agent.SessionStart{Reason: "startup"}, &agent.ToolCall{ID: "c", Name: "bash", Input: []byte(`{"command":"rm x"}`)},
		&agent.Input{Text: "hello"}, &agent.MessageEnd{Message: text},
	}, samples(t)...) {
		if len(r.host.notices()) > 0 {
			break
		}
		r.emit(e)
	}
	said := strings.Join(r.host.notices(), "\n")
	for _, c := range r.chain.Commands() {
		_, err := c.Run(t.Context(), "x")
		said += "\n" + errors.Join(err, errors.New("")).Error()
	}
	at := strings.LastIndex(said, string(filepath.Separator)+file+":")
	if at < 0 {
		return said
	}
	line, _, _ := strings.Cut(said[at+1:], "\n")
	return line
}
