package luahooks

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
	"pi/session"
)

// listening says what it hears of the errors of others.
const listening = `pi.on("hook_error", function(e)
	print(("%s %s %s %d"):format(e.hook, e.event, e.error:match("[^/]*$"), e.count))
end)`

func TestAnErrorIsShownOnceAndCountedAndToldEachTime(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": "pi.on('input', function(e)\n  error(e.text)\nend)\npi.on('input', function(e)\n  error('x', 0)\nend)\npi.on('input', function(e)\n  error('x', 0)\nend)",
		"b.lua": listening,
	})
	for range 3 {
		r.input("one")
	}
	r.input("two")
	want := map[string]int{"a.lua:2: one": 1, "a.lua:2: two": 1, "a.lua:5: x": 1, "a.lua:8: x": 1}
	for part, n := range want {
		shown := slices.DeleteFunc(r.host.notices(), func(s string) bool { return !strings.Contains(s, "error: hook a") || !strings.Contains(s, part) })
		if len(shown) != n {
			t.Errorf("%q is shown %d times, want %d: %q", part, len(shown), n, r.host.notices())
		}
	}
	for _, said := range []string{"a input a.lua:2: one 3", "a input a.lua:2: two 1", "a input a.lua:8: x 4"} {
		until(t, func() bool { return r.said("b: " + said) })
	}
	if h := r.chain.Hooks()[0]; h.Errors != 12 || !strings.HasSuffix(h.LastError, "a.lua:8: x") || h.LastErrors != 4 {
		t.Errorf("counted %d errors, the last %q %d times", h.Errors, h.LastError, h.LastErrors)
	}
}

// What a handler of a stream says may have other words at each step.
func TestErrorsOfOneLineDoNotFloodTheScreen(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": "pi.on('input', function(e)\n  error(e.text)\nend)\npi.on('input', function(e)\n  local t = nil .. e.text\nend)"})
	for _, word := range []string{"one", "two", "three", "four", "one"} {
		r.input(word)
	}
	var shown []string
	for _, s := range r.host.notices() {
		if _, what, ok := strings.Cut(s, "a.lua:2: "); ok {
			shown = append(shown, what)
		}
	}
	if want := []string{"one", "two (what else this line raises is only counted: /hooks)"}; !slices.Equal(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
	if n := strings.Count(strings.Join(r.host.notices(), "\n"), "a.lua:5: "); n != 1 {
		t.Errorf("the same words of another line are shown %d times", n)
	}
	h := r.chain.Hooks()[0]
	if h.Errors != 10 || h.LastErrors != 5 {
		t.Errorf("counted %d errors, and %d of the last line", h.Errors, h.LastErrors)
	}
	r.host.session = session.New(session.Options{Cwd: r.cwd})
	r.input("one")
	if n := strings.Count(strings.Join(r.host.notices(), "\n"), "a.lua:2: one"); n != 2 {
		t.Errorf("what was shown in the session before is shown %d times", n)
	}
}

func TestANewVersionShowsItsErrorsAnew(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": "pi.on('input', function(e) error('same') end)"})
	r.input("x")
	r.input("x")
	r.write("a.lua", "pi.on('input', function(e) error('same') end) -- saved")
	r.reload()
	r.input("x")
	if n := strings.Count(strings.Join(r.host.notices(), "\n"), "same"); n != 2 {
		t.Errorf("shown %d times: %q", n, r.host.notices())
	}
}

func TestWhatHooksHearOfErrors(t *testing.T) {
	const raise = `error("oh")`
	for name, c := range map[string]struct {
		code string
		run  func(r *rig)
		want string
	}{
		"a gate":     {`pi.on("tool_call", function() ` + raise + ` end)`, func(r *rig) { r.bash("ls") }, "a tool_call a.lua:1: oh 1"},
		"a command":  {`pi.command("c", { handler = function() ` + raise + ` end })`, func(r *rig) { _, _ = r.command("c").Run(r.t.Context(), "") }, "a /c a.lua:1: oh 1"},
		"a shortcut": {`pi.shortcut("alt+x", { description = "d", handler = function() ` + raise + ` end })`, func(r *rig) { _, _ = r.chain.Shortcuts()[0].Run(r.t.Context()) }, "a shortcut alt+x a.lua:1: oh 1"},
		"a timer":    {`pi.on("input", function() require("pi.timer").after(1, function() ` + raise + ` end) end)`, func(r *rig) { r.input("x") }, "a timer.after a.lua:1: oh 1"},
		"a file":     {``, func(r *rig) { r.write("a.lua", raise); r.reload() }, "a load a.lua:1: oh 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a.lua": c.code, "b.lua": listening})
			c.run(r)
			until(t, func() bool { return r.said("b: " + c.want) })
		})
	}
}

func (r *rig) command(name string) command.Command {
	r.t.Helper()
	all := r.chain.Commands()
	i := slices.IndexFunc(all, func(c command.Command) bool { return c.Name == name })
	if i < 0 {
		r.t.Fatalf("no command %s", name)
	}
	return all[i]
}

// A hook hears nothing of its own errors, and nobody of those that come while errors
// are told: neither may go round in circles.
func TestErrorsDoNotGoRoundInCircles(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("hook_error", function(e) error("of a: " .. e.error:sub(-5)) end) pi.on("input", function() error("first") end)`,
		"b.lua": `pi.on("hook_error", function(e) pi.emit("b:told", {}) print("b heard " .. e.hook) error("of b") end)`,
		"c.lua": `pi.on("b:told", function() error("of c") end) pi.on("hook_error", function(e) print("c heard " .. e.hook .. e.event) end)`,
	})
	r.input("x")
	until(t, func() bool { return r.said("of b") && r.said("of c") && r.said("c heard ainput") })
	r.chain.Close(context.Background())
	for _, s := range r.host.notices() {
		if strings.Contains(s, "c heard") && !strings.Contains(s, "c heard ainput") || strings.Contains(s, "of a:") || strings.Contains(s, "b heard") && !strings.Contains(s, "b heard a") {
			t.Errorf("said %q", s)
		}
	}
}

func TestFrontEndsGetWhatFailed(t *testing.T) {
	a, _ := program(t, map[string]string{"p.lua": caller, "h.lua": `pi.on("input", function() error("oh") end)`}, echoTool{})
	front := &failures{}
	a.Listen(front)
	mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
	a.WaitIdle(t.Context())
	mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
	a.WaitIdle(t.Context())
	if len(front.failed) != 2 || front.shown != 1 {
		t.Fatalf("%d failures, %d shown", len(front.failed), front.shown)
	}
	f := front.failed[1]
	if f.Hook != "h" || f.Event != "input" || f.Count != 2 || !strings.HasSuffix(f.Message, "h.lua:1: oh") || !strings.Contains(f.Traceback, "h.lua:1") || !strings.HasSuffix(f.Path, "/h.lua") {
		t.Errorf("%+v", f)
	}
}

// failures is a front end that passes failures of hooks on.
type failures struct {
	failed []*agent.HookFailed
	shown  int
}

func (f *failures) Wants(k agent.Kind) bool { return k == agent.KindHookError || k == agent.KindNotice }

func (f *failures) Handle(_ context.Context, e agent.Event) error {
	switch e := e.(type) {
	case *agent.HookFailed:
		f.failed = append(f.failed, e)
	case *agent.Notice:
		if e.Failed != nil && strings.Contains(e.Text, e.Failed.Message) {
			f.shown++
		}
	}
	return nil
}
