package text_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pi/luahooks/text"
)

func checker(t testing.TB) *text.Checker {
	t.Helper()
	c, err := text.NewChecker()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func nothingBeside(string) (string, []byte, bool) { return "", nil, false }

// What runs is not called wrong: the examples, the hooks of the guide, and the specs of the
// modules.
func TestNothingIsWrongWithWhatWorks(t *testing.T) {
	t.Parallel()
	c := checker(t)
	try := func(name string, code []byte) {
		r, err := c.File(name, code, nothingBeside)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		for _, p := range append(r.Problems, r.Warnings...) {
			t.Errorf("%s", p)
		}
	}
	seen := 0
	for _, pattern := range []string{"../../examples/*.lua", "../../examples/*/*.lua", "../../stdlib/demo/*.lua"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.lua") {
				continue
			}
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			seen++
			try(filepath.Base(file), code)
		}
	}
	guide, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```lua\n(.*?)```").FindAllSubmatch(guide, -1) {
		seen++
		try("guide.lua", block[1])
	}
	if seen < 40 {
		t.Errorf("only %d hooks are looked at", seen)
	}
}

// What a handler may do with ctx, and which options pi.on has, depends on the event.
func TestWhatMovesTheSessionIsKnownByTheEvent(t *testing.T) {
	t.Parallel()
	c := checker(t)
	for code, want := range map[string]string{
		`pi.on("agent_settled", function(event, ctx) ctx.navigate_tree("x") ctx.new_session() return event.aborted end)`:  "",
		`pi.on("agent_settled", function(_, ctx) ctx.prompt("x") end)`:                                                    "a.lua:1: prompt: only in commands and shortcuts",
		`pi.on("agent_end", function(_, ctx) ctx.navigate_tree("x") end)`:                                                 "a.lua:1: navigate_tree: only in commands and shortcuts, and in handlers of agent_settled",
		`pi.command("x", { handler = function(ctx) return { status = ctx.prompt("x", { expand = true }).outcome } end })`: "",
		`pi.on("message_end", function() end, { roles = "all" })`:                                                         "",
		`pi.on("message_end", function() end, { role = "all" })`:                                                          `a.lua:1: on: unknown option "role", did you mean "roles"?`,
	} {
		got := ""
		if r, err := c.File("a.lua", []byte(code), nothingBeside); err != nil {
			got = err.Error()
		} else if len(r.Problems) > 0 {
			got = r.Problems[0].String()
		}
		if got != want {
			t.Errorf("%s: the check says\n%s\nwant\n%s", code, got, want)
		}
	}
}

var mistakeHead = regexp.MustCompile(`^-- (\d+): (.+)\n(?:-- check (?:(\d+): (.+)|nothing)\n)?|^-- check (\d+): (.+)\n`)

// What a session says of usual mistakes, the check says before it runs, in the same words and
// at the line where it is written.
func TestMistakesAreFoundWithoutRunning(t *testing.T) {
	t.Parallel()
	c := checker(t)
	files, err := filepath.Glob("../testdata/mistakes/*.lua")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d mistakes, %v", len(files), err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		head := mistakeHead.FindStringSubmatch(string(code))
		if head == nil {
			t.Errorf("%s has no head", name)
			continue
		}
		line, message := head[1], head[2]
		switch {
		case strings.Contains(head[0], "\n-- check nothing\n"):
			line = ""
		case head[3] != "":
			line, message = head[3], head[4]
		case head[5] != "":
			line, message = head[5], head[6]
		}
		want := ""
		if line != "" {
			want = name + ":" + line + ": " + message
		}
		got := ""
		if r, err := c.File(name, code, nothingBeside); err != nil {
			got = err.Error()
		} else if len(r.Problems) > 0 {
			got = r.Problems[0].String()
		}
		if got != want {
			t.Errorf("%s: the check says\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestGatesThatFailOpenAreWarnedOf(t *testing.T) {
	t.Parallel()
	const ask = "local function ask(e) return e.input.command:find('rm') end\n"
	for body, open := range map[string]bool{
		`local ok, r = pcall(ask, e) if ok and r then return { block = true } end`: true,
		`pcall(ask, e)`: true,
		`local ok, r = pcall(ask, e) if not ok then return { block = true, reason = r } end`: false,
		`local ok, r = pcall(ask, e) if not ok or r then return { block = true } end`:        false,
		`local ok, r = pcall(ask, e) if ok == false then error(r) end`:                       false,
		`local ok, r = pcall(ask, e) if ok then return r else return { block = true } end`:   false,
		`local ok, r = pcall(ask, e) if ok then return r end return { block = true }`:        false,
		`local ok, r = pcall(ask, e) if ok then return r end`:                                true,
		`local ok, r = pcall(ask, e) if not ok then return end return r`:                     true,
		`local ok, r = pcall(ask, e) if not ok then print(r) end`:                            true,
		`local ok, r = pcall(ask, e) return not ok and { block = true } or nil`:              false,
		`local ok, r = pcall(ask, e) return ok and r or nil`:                                 true,
		`local ok, r = pcall(ask, e) return (ok and r) or nil`:                               true,
		`local ok, r = pcall(ask, e) if ok then print(r) end return ok and r or nil`:         true,
		`local ok, r = pcall(ask, e) return ok and r or { block = true }`:                    false,
		`local ok, r = pcall(ask, e) return ok and r`:                                        false, // false is no answer, so an error
		`local ok, r = pcall(ask, e) assert(ok, r)`:                                          false,
		`assert(pcall(ask, e))`:                                                                      false,
		`if not pcall(ask, e) then return { block = true } end`:                                      false,
		`if pcall(ask, e) then return end return { block = true }`:                                   false,
		`if pcall(ask, e) then return end`:                                                           true,
		`if e.tool_name == "bash" then local ok, r = xpcall(ask, print) if ok then return r end end`: true,
		`local ok, r ok, r = pcall(ask, e) if not ok then error(r) end`:                              false,
		`for i = 1, 2 do local ok = pcall(ask, e) if not ok then return { block = true } end end`:    false,
		`return nil`: false,
	} {
		for _, code := range []string{
			ask + "pi.on('tool_call', function(e) " + body + " end)",
			ask + "local function gate(e) " + body + " end pi.on('user_bash', gate)",
			ask + "pi.mode{ name = 'm', gate = function(e) " + body + " end }",
			ask + "local function decide(e) " + body + " end pi.on('tool_call', function(e) return decide(e) end)",
			ask + "local function safe(f) return function(e) " + strings.ReplaceAll(body, "ask", "f") + " end end pi.on('tool_call', safe(ask))",
		} {
			r, err := checker(t).File("gate.lua", []byte(code), nothingBeside)
			if err != nil {
				t.Fatalf("%s: %v", code, err)
			}
			if got := len(r.Warnings) > 0; got != open {
				t.Errorf("warned: %v, want %v\n%s", got, open, code)
			}
		}
		r, err := checker(t).File("gate.lua", []byte(ask+"pi.on('turn_end', function(e) "+body+" end)"), nothingBeside)
		if err != nil || len(r.Warnings) > 0 {
			t.Errorf("turn_end is no gate: %v\n%s", r.Warnings, body)
		}
	}
}

// What a handler writes into its event has no effect. It is told so where it does nothing else
// with it.
func TestChangesWithoutEffectAreWarnedOf(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`e.input.command = "echo safe"`: "1: this changes nothing: return { input = … }",
		"\nif e.tool_name == 'bash' then\ne.input.command = 'x ' .. e.input.command\nend":                          "3: this changes nothing: return { input = … }",
		"local input = e.input\ninput.command = 'echo safe'":                                                       "2: this changes nothing: return { input = … }",
		"local input = e.input\ninput['timeout'] = 5 return nil":                                                   "2: this changes nothing: return { input = … }",
		"e.input.a = 1\ne.input.b = 2":                                                                             "1: this changes nothing: return { input = … } 2: this changes nothing: return { input = … }",
		"local edits = e.input.edits\nlocal s = #edits e.input.edits[1].new_text = 's'":                            "2: this changes nothing: return { input = … }",
		`e.input = { command = "ls" }`:                                                                             "1: this changes nothing: return { input = … }",
		`local input = e.input input.command = "x" return { input = input }`:                                       "",
		`e.input.command = "x" return { input = e.input }`:                                                         "",
		`e.input.command = "x" return e`:                                                                           "",
		`e.input.content = nil pi.log(e.input)`:                                                                    "",
		`e.input.content = nil pi.log(e)`:                                                                          "",
		`local input = e.input input.content = nil pi.log(input)`:                                                  "",
		`e.input.command = e.input.command:lower() if e.input.command:find("rm") then return { block = true } end`: "",
		`local input = copy(e.input) input.command = "x" return { input = input }`:                                 "",
		`local input = e.input input = {} input.command = "x"`:                                                     "",
		`local input = e.input do local input = {} input.command = "x" end`:                                        "",
		`local e = { input = {} } e.input.command = "x"`:                                                           "",
		`local seen = {} seen.input = e.input seen.input.command = "x"`:                                            "",
		`kept = e.input e.input.command = "x"`:                                                                     "",
		`while e.input.n > 0 do e.input.n = e.input.n - 1 end`:                                                     "",
		`e.tool_name = "x"`: "",
	} {
		for _, code := range []string{
			"local function copy(x) return x end pi.on('tool_call', function(e) " + body + " end)",
			"local function copy(x) return x end local function gate(e) " + body + " end pi.on('tool_call', gate)",
			"local function copy(x) return x end pi.mode{ name = 'm', gate = function(e) " + body + " end }",
		} {
			r, err := checker(t).File("a.lua", []byte(code), nothingBeside)
			if err != nil {
				t.Fatalf("%s: %v", code, err)
			}
			var got []string
			for _, p := range r.Warnings {
				got = append(got, strings.TrimPrefix(p.String(), "a.lua:"))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("warned of %q, want %q\n%s", got, want, code)
			}
		}
	}
	for code, want := range map[string]int{
		`pi.on("tool_result", function(e) e.content[1].text = "x" end)`:                   1,
		`pi.on("input", function(e) e.text = e.text .. "!" end)`:                          1,
		`pi.on("turn_end", function(e) e.message.content = "x" end)`:                      0,
		`pi.on("mine:done", function(e) e.data.n = 1 end)`:                                0,
		`require("pi.compat.omp").on("tool_call", function(e) e.input.command = "x" end)`: 0,
	} {
		if r, err := checker(t).File("a.lua", []byte(code), nothingBeside); err != nil || len(r.Warnings) != want {
			t.Errorf("%v, %v, want %d\n%s", r.Warnings, err, want, code)
		}
	}
}

// Whatever a file is, it is read to its end; what is wrong has a line of the file.
func FuzzFile(f *testing.F) {
	files, err := filepath.Glob("../testdata/mistakes/*.lua")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(code))
	}
	c, err := text.NewChecker()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, code string) {
		r, err := c.File("a.lua", []byte(code), nothingBeside)
		if err != nil {
			return
		}
		for _, p := range append(r.Problems, r.Warnings...) {
			if p.Line < 1 || p.Line > strings.Count(code, "\n")+1 || p.What == "" {
				t.Errorf("%+v of\n%s", p, code)
			}
		}
	})
}

func BenchmarkFile(b *testing.B) {
	code, err := os.ReadFile("../../examples/pop.lua")
	if err != nil {
		b.Fatal(err)
	}
	c := checker(b)
	for b.Loop() {
		if _, err := c.File("pop.lua", code, nothingBeside); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAModuleThatPortersRequireIsNamed(t *testing.T) {
	t.Parallel()
	c := checker(t)
	for name, want := range map[string]string{
		"marvin":                        `lib/marvin.lua), did you mean "pi.compat.marvin"?`,
		"pi":                            "module pi does not exist; pi is a global and is not required",
		"@mariozechner/pi-coding-agent": "joined by dots; pi is a global and is not required",
		"pi.fss":                        `module pi.fss does not exist, did you mean "pi.fs"?`,
	} {
		r, err := c.File("a.lua", []byte(`pi.on("input", function() require "`+name+`" end)`), nothingBeside)
		if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].String(), want) {
			t.Errorf("require %q: %v, %v", name, r.Problems, err)
		}
	}
}

// Where it is not certain which tool an event is about, nothing is said of its input.
func TestTheInputOfAToolIsKnownWhereTheToolIs(t *testing.T) {
	t.Parallel()
	c := checker(t)
	for body, wrong := range map[string]bool{
		`if e.tool_name == "bash" then print(e.input.cmd) end`:                             true,
		`if e.tool_name ~= "bash" then return end print(e.input.cmd)`:                      true,
		`if "bash" ~= e.tool_name then error("no") end print(e.input.cmd)`:                 true,
		`return e.tool_name == "bash" and e.input.cmd == "ls" and { block = true } or nil`: true,
		`if e.tool_name ~= "bash" or e.input.cmd == "ls" then return end`:                  true,
		`if e.tool_name ~= "bash" or e.is_x then return end print(e.input.cmd)`:            true,
		`for i = 1, 2 do if e.tool_name ~= "bash" then break end print(e.input.cmd) end`:   true,
		`if e.tool_name ~= "bash" then print(1) else print(e.input.cmd) end`:               true,
		`print(e.input.cmd)`: false,
		`if e.tool_name == "bash" then print(1) end print(e.input.cmd)`:                                     false,
		`if e.tool_name ~= "bash" then print(e.input.cmd) end`:                                              false,
		`if e.tool_name ~= "bash" then print(1) end print(e.input.cmd)`:                                     false,
		`if e.tool_name == "bash" or e.tool_name == "mine" then print(e.input.cmd) end`:                     false,
		`if not (e.tool_name == "bash" and e.input.timeout) then print(e.input.cmd) end`:                    false,
		`if e.tool_name == "mine" then print(e.input.cmd) end`:                                              false,
		`if e.tool_name == "bash" then print(e.input.command, e.input.timeout) end`:                         false,
		`if e.tool_name == "" then print(e.input.cmd) end`:                                                  false,
		`local x = "bash" x = other() if e.tool_name == x then print(e.input.cmd) end`:                      false,
		`if e.tool_name == "Bash" then print(e.input.file_path) end`:                                        false,
		`if e.tool_name == watched then print(e.input.cmd) end`:                                             false,
		`local f = { tool_name = "bash", input = {} } if f.tool_name == "bash" then print(e.input.cmd) end`: false,
	} {
		code := "local function other() return 'mine' end local watched = 'bash'\npi.on('tool_call', function(e) " + strings.ReplaceAll(body, "e.is_x", "e.mcp") + " end)\npi.command('watch', { handler = function(ctx) watched = ctx.args[1] end })"
		r, err := c.File("a.lua", []byte(code), nothingBeside)
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if got := len(r.Problems) > 0; got != wrong {
			t.Errorf("%s: %v", body, r.Problems)
		}
	}
	for _, own := range []string{
		`pi.tool { name = "bash", description = "d", execute = function(params) return params.cmd end }`,
		`local name = "bash" pi.tool { name = name, description = "d", execute = function(params) return params.cmd end }`,
		`local tool = { name = "bash", description = "d", execute = function(params) return params.cmd end } pi.tool(tool)`,
		`for _, name in ipairs { "bash" } do pi.tool { name = name, description = "d", execute = function(params) return params.cmd end } end`,
	} {
		code := own + "\n" + `pi.on("tool_call", function(e) if e.tool_name == "bash" then print(e.input.cmd) end end)`
		if r, err := c.File("a.lua", []byte(code), nothingBeside); err != nil || len(r.Problems) > 0 {
			t.Errorf("of a tool of its own: %s: %v, %v", own, r.Problems, err)
		}
	}
}
