package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/agent/tool"
	"pi/luahooks"
	"pi/luahooks/trust"
	"pi/session"
	"pi/session/message"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig has hooks, a.lua and b.lua, and a recorded session.
type rig struct {
	t     testing.TB
	dir   string
	chain *luahooks.Chain
	s     *session.Session
}

func newRig(t testing.TB, hooks ...string) *rig {
	t.Helper()
	return newRigFor(t, 30*time.Second, hooks...)
}

// newRigFor is one whose hooks get so much time at most.
func newRigFor(t testing.TB, timeout time.Duration, hooks ...string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	places := trust.Places{AgentDir: filepath.Join(r.dir, "agent"), Cwd: r.dir, Only: true}
	for i, code := range hooks {
		path := filepath.Join(r.dir, string(rune('a'+i))+".lua")
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		places.CommandLine = append(places.CommandLine, path)
	}
	r.chain = luahooks.New(luahooks.Options{Places: places, Cwd: r.dir, Mode: "print", Version: "1", Timeout: timeout, Grace: time.Second, Models: llm.NewModels(nil)})
	r.chain.Load(t.Context())
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		r.chain.Close(now)
	})
	r.s = session.New(session.Options{Dir: filepath.Join(r.dir, "sessions"), Cwd: r.dir, Now: func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC) }})
	return r
}

func (r *rig) add(m *message.Message) *session.Entry {
	r.t.Helper()
	e, err := r.s.AppendMessage(m)
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

func (r *rig) prompt(text string) *session.Entry {
	r.t.Helper()
	return r.add(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}})
}

// call adds an answer with one tool call, and its result.
func (r *rig) call(name, input, result string) {
	r.t.Helper()
	id := fmt.Sprintf("call%d", len(r.s.Entries()))
	r.add(&message.Message{Role: message.RoleAssistant, StopReason: message.StopToolUse, Provider: "p", Model: "m",
		Content: []message.Block{{Type: message.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(input)}}})
	r.add(&message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: name, Content: []message.Block{message.TextBlock(result)}})
}

func (r *rig) answer(text string) {
	r.t.Helper()
	r.add(&message.Message{Role: message.RoleAssistant, StopReason: message.StopEnd, Content: []message.Block{message.TextBlock(text)}})
}

// play closes the session and plays it to the hooks.
func (r *rig) play(change ...func(*Options)) *Result {
	r.t.Helper()
	if err := r.s.Close(); err != nil {
		r.t.Fatal(err)
	}
	o := Options{Hook: "a", Tools: tool.All(tool.Options{Cwd: r.dir})}
	for _, f := range change {
		f(&o)
	}
	var got *Result
	err := Run(r.t.Context(), r.chain, []string{r.s.File()}, o, func(result *Result) error {
		got = result
		return result.Err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// told are the findings without session and time, and then the first line of the counts
// without the times.
func told(p *Played) string {
	var lines []string
	for _, f := range p.Findings {
		about := f.Event
		if f.Tool != "" {
			about += " " + f.Tool
		}
		lines = append(lines, about+": "+f.Did())
	}
	counts, _, _ := strings.Cut(p.Tally.Lines()[0], ", p99")
	return strings.Join(append(lines, counts), "\n")
}

func TestAReplayTellsWhatAHookWouldHaveDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hook, want string }{
		"a gate blocks": {`pi.on("tool_call", function(e) if e.input.command and e.input.command:find("rm") then return { block = true, reason = "no rm" } end end)`,
			"tool_call bash: blocked: no rm\n2 calls, 1 blocked, 0 errors"},
		"arguments and context": {`pi.on("tool_call", function(e) if e.tool_name == "bash" then return { input = { command = "true" }, additional_context = "tidy" } end end)`,
			"tool_call bash: changed: the arguments are now {\"command\":\"true\"}; added: tidy\n2 calls, 0 blocked, 1 changed, 1 added, 0 errors"},
		"a gate that raises": {`pi.on("tool_call", function(e) if e.tool_name == "bash" then error("oh") end end)`,
			"tool_call bash: blocked by an error: a.lua:1: oh\n2 calls, 1 blocked (1 by errors), 1 error"},
		"nobody says yes": {`pi.on("tool_call", function(e, ctx) if e.tool_name == "bash" and not ctx.ui.confirm("Run it?", e.input.command) then return { block = true } end end)`,
			"tool_call bash: asked: to confirm \"Run it?\": rm x; blocked\n2 calls, 1 blocked, 1 asked, 0 errors"},
		"prompts": {`pi.on("input", function(e) return { text = e.text .. "!" } end)`,
			"input: changed: the text is now clean up!\n1 prompt, 0 blocked, 1 changed, 0 errors"},
		"a prompt is answered": {`pi.on("input", function(e) return { handled = true } end)`,
			"input: handled: the model is not asked\n1 prompt, 0 blocked, 1 handled, 0 errors"},
		"results": {`pi.on("tool_result", function(e) if e.tool_name == "read" then return { content = "short", is_error = true } end end)`,
			"tool_result read: changed: the result has 5 bytes instead of 11 bytes; changed: is_error is now true\n2 results, 0 blocked, 2 changed, 0 errors"},
		"contexts": {`pi.on("context", function(e) if #e.messages > 4 then table.remove(e.messages, 1) return { messages = e.messages } end end)`,
			"context: changed: the model sees 5 messages instead of 6\n3 contexts, 0 blocked, 1 changed, 0 errors"},
		"the same messages": {`pi.on("context", function(e) return { messages = e.messages } end)`, "3 contexts, 0 blocked, 0 errors"},
		"commands": {`pi.on("user_bash", function(e) return { result = { output = "fake", exit_code = 0 } } end)`,
			"user_bash: handled: the hook gives the output fake\n1 command, 0 blocked, 1 handled, 0 errors"},
		"what is told begins anew with a prompt": {`local n = 0
			pi.on("agent_start", function() n = 0 end)
			pi.on("tool_call", function() n = n + 1 if n > 1 then return { block = true, reason = "call " .. n } end end)`,
			"tool_call read: blocked: call 2\n2 calls, 1 blocked, 0 errors"},
		"at the start": {`pi.on("session_start", function() error("early") end)`, "session_start: raised: a.lua:1: early\n0 blocked, 1 error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.hook)
			r.prompt("clean up")
			r.call("bash", `{"command":"rm x"}`, "")
			r.call("read", `{"path":"x"}`, "no such file"[:11])
			r.add(&message.Message{Role: message.RoleBashExecution, Command: "ls", Output: "x"})
			r.answer("done")
			if got := told(&r.play().Hook); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestACallOfAServersToolIsReplayedAsWhatItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t, `pi.on("tool_call", function(e)
	if e.mcp then return { block = true, reason = e.tool_name .. " " .. e.mcp.server .. " " .. e.mcp.via .. " " .. e.input.text } end
end)`)
	r.prompt("go")
	r.call("mcp", `{"call":"s/echo","arguments":{"text":"hello"}}`, "hello")
	r.call("mcp", `{"search":"x"}`, "nothing")
	r.answer("done")
	if got, want := told(&r.play().Hook), "tool_call mcp__s__echo: blocked: mcp__s__echo s mcp hello\n2 calls, 1 blocked, 0 errors"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestAtEachEventTheSessionIsAsItWas(t *testing.T) {
	t.Parallel()
	r := newRig(t, `
		pi.on("input", function(e, ctx) return { text = e.text .. ": " .. #ctx.entries .. " of " .. #ctx.session.entries() } end)
		pi.on("tool_call", function(e, ctx) return { block = true, reason = ctx.entries[#ctx.entries].message.role .. " " .. #ctx.messages } end)`)
	first := r.prompt("one")
	r.call("ls", `{}`, "")
	r.answer("yes")
	if _, err := r.s.MoveTo(first.ID, session.Draft{Type: session.TypeCustom, Body: session.Custom{CustomType: session.LeafMove}}); err != nil {
		t.Fatal(err)
	}
	r.prompt("two")
	want := "input: changed: the text is now one: 0 of 0\ntool_call ls: blocked: assistant 2\ninput: changed: the text is now two: 2 of 5\n1 call, 2 prompts, 1 blocked, 2 changed, 0 errors"
	if got := told(&r.play().Hook); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestCallsThatNoGateSawAreNotReplayed(t *testing.T) {
	t.Parallel()
	r := newRig(t, `pi.on("tool_call", function(e) return { block = true, reason = e.tool_name } end)
		pi.on("tool_result", function(e) return { content = e.tool_name } end)`)
	r.prompt("go")
	r.call("read", `{"pathh":3}`, "invalid arguments")
	r.call("edit", `{"path":"x","oldText":"a","newText":"b"}`, "edited")
	r.call("of_a_hook", `{"any":"thing"}`, "fine")
	want := "tool_call edit: blocked: edit\ntool_result edit: changed: the result has 4 bytes instead of 6 bytes\n" +
		"tool_call of_a_hook: blocked: of_a_hook\ntool_result of_a_hook: changed: the result has 9 bytes instead of 4 bytes\n2 calls, 2 results, 2 blocked, 2 changed, 0 errors"
	if got := told(&r.play().Hook); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestAReplayHasNoEffect(t *testing.T) {
	t.Parallel()
	r := newRig(t, `
		local fs, timer, http = require "pi.fs", require "pi.timer", require "pi.http"
		pi.on("session_start", function(_, ctx)
			ctx.save_entry({ type = "mine_x" })
			timer.every(1, function() fs.write("every", "x") end)
		end)
		pi.on("tool_call", function(e, ctx)
			timer.sleep(60000)
			local r, why = pi.exec("touch", { "touched" })
			fs.write("written", "x")
			pi.append_entry("mine", {})
			pi.send_user_message("more")
			ctx.ui.notify("seen?")
			ctx.abort()
			http.get("http://127.0.0.1:9/")
			return { block = true, reason = tostring(r) .. " " .. why .. " " .. #ctx.entries }
		end)`)
	r.prompt("go")
	r.call("bash", `{"command":"ls"}`, "")
	if err := r.s.Sync(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(r.s.File())
	if err != nil {
		t.Fatal(err)
	}
	played := r.play().Hook
	if got, want := told(&played), "tool_call bash: blocked: nil "+refused+" 2\n1 call, 1 blocked, 0 errors"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	want := "called and not done in a replay: ctx.abort (1), ctx.save_entry (1), pi.append_entry (1), pi.exec (1), pi.fs.write (1), pi.http.get (1), pi.send_user_message (1), pi.timer.every (1), pi.timer.sleep (1)"
	if got := played.Tally.Lines()[1]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	after, err := os.ReadFile(r.s.File())
	if err != nil || string(after) != string(before) {
		t.Errorf("the session was changed: %v", err)
	}
	files, _ := filepath.Glob(filepath.Join(r.dir, "*"))
	for _, f := range files {
		switch filepath.Base(f) {
		case "a.lua", "sessions":
		default:
			t.Errorf("%s was made", f)
		}
	}
}

func TestAHookBeginsAnewInEachSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, `local n = 0
		pi.on("input", function(e) n, pi.state.n = n + 1, (pi.state.n or 0) + 1 return { text = n .. pi.state.n } end)`)
	r.prompt("go")
	if err := r.s.Close(); err != nil {
		t.Fatal(err)
	}
	var texts []string
	paths := []string{r.s.File(), filepath.Join(r.dir, "a.lua"), r.s.File()}
	err := Run(t.Context(), r.chain, paths, Options{Hook: "a"}, func(result *Result) error {
		if result.Err != nil {
			texts = append(texts, "unreadable")
			return nil
		}
		texts = append(texts, told(&result.Hook))
		return nil
	})
	one := "input: changed: the text is now 11\n1 prompt, 0 blocked, 1 changed, 0 errors"
	if want := []string{one, "unreadable", one}; err != nil || strings.Join(texts, "|") != strings.Join(want, "|") {
		t.Errorf("%v\ngot  %q\nwant %q", err, texts, want)
	}
}

func TestTwoVersionsAreCompared(t *testing.T) {
	t.Parallel()
	r := newRig(t,
		`pi.on("tool_call", function(e) if e.input.command:find("rm") then return { block = true, reason = "rm" } end end)`,
		`pi.on("tool_call", function(e) if e.input.command:find("mv") then return { block = true, reason = "mv" } end
			if e.input.command:find("both") then return { block = true, reason = "rm" } end end)
		pi.on("input", function() error("new") end)`)
	r.prompt("go")
	for _, command := range []string{"rm both", "rm a", "ls", "mv a b"} {
		r.call("bash", fmt.Sprintf(`{"command":%q}`, command), "")
	}
	result := r.play(func(o *Options) { o.Other = "b" })
	var got []string
	for _, d := range result.Differences() {
		got = append(got, d.About+" "+strings.Join(d.Lines()[1:], ""))
	}
	want := []string{"go   - nothing  + raised: b.lua:3: new", "rm a   - blocked: rm  + nothing", "mv a b   - nothing  + blocked: mv"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAReplayEndsWithAHookThatDoesNotStop(t *testing.T) {
	t.Parallel()
	r := newRig(t, `pi.on("tool_call", function() local ok = pcall(function() while true do end end) return nil end)`)
	r.prompt("go")
	r.call("bash", `{"command":"ls"}`, "")
	began := time.Now()
	played := r.play().Hook
	if len(played.Findings) != 1 || played.Findings[0].Effects[0].Kind != Raised {
		t.Errorf("found %v", played.Findings)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAHookThatIsTooSlowIsNotAskedForever(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, 20*time.Millisecond, `pi.on("tool_call", function() while true do end end)
		pi.on("input", function() error("oh") end)`)
	for range 8 {
		r.prompt("go")
		r.call("bash", `{"command":"ls"}`, "")
	}
	played := r.play().Hook
	lines := strings.Join(played.Tally.Lines(), "\n")
	if played.Tally.Events["tool_call"] != mostLate || played.Tally.Events["input"] != 8 {
		t.Errorf("asked about %v", played.Tally.Events)
	}
	if !strings.Contains(lines, "tool_call: stopped for its time 3 times, so the replay went on without it: not asked about 5 more") {
		t.Errorf("the counts are %s", lines)
	}
	if !strings.HasPrefix(lines, "3 calls, 8 prompts, 3 blocked (3 by errors), 11 errors, ") {
		t.Errorf("the counts are %s", lines)
	}
}

func TestAnErrorThatComesAgainIsToldOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, `local n = 0
		pi.on("tool_call", function(e, ctx)
			n = n + 1
			if n == 4 then error("other") end
			if n == 5 then ctx.ui.confirm("Really?", "") end
			error("oh")
		end)`)
	r.prompt("go")
	for range 6 {
		r.call("bash", `{"command":"ls"}`, "")
	}
	var repeats Repeats
	var got []string
	for _, f := range r.play().Hook.Findings {
		if !repeats.Add(&f) {
			got = append(got, f.Did())
		}
	}
	want := []string{"blocked by an error: a.lua:6: oh", "blocked by an error: a.lua:4: other", `asked: to confirm "Really?"; blocked by an error: a.lua:6: oh`,
		"4 times tool_call: blocked by an error: a.lua:6: oh"}
	if got = append(got, repeats.Lines()...); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAHookThatDoesNotLoadIsNotReplayed(t *testing.T) {
	t.Parallel()
	r := newRig(t, `error("broken")`)
	r.prompt("go")
	err := Run(t.Context(), r.chain, []string{r.s.File()}, Options{Hook: "a"}, func(*Result) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "a.lua:1: broken") {
		t.Errorf("the error is %v", err)
	}
	if err := Run(t.Context(), r.chain, []string{r.s.File()}, Options{Hook: "aa"}, func(*Result) error { return nil }); err == nil || !strings.Contains(err.Error(), `did you mean "a"`) {
		t.Errorf("the error is %v", err)
	}
}

var _ agent.UI = (*user)(nil)
