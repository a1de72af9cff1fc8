package luahooks

import (
	"encoding/json"
	"strings"
	"testing"

	"pi/agent"
)

// What a command, a tool, a renderer and a key of a ported file do wrong is at the line of
// the author's function.
func TestFunctionsOfAPortedFileAreNamedByTheirPlace(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `pi.register_command("raises", { description = "d", handler = function(args, ctx)
  error("oh " .. args) end })
pi.command("wrong", { description = "d", handler = function(ctx)
  return { promt = "x" } end })
pi.command("number", { description = "d", handler = function(ctx)
  return 5 end })
pi.register_tool{ name = "raises", description = "d", execute = function(id, params)
  error("tool" .. id) end }
pi.register_tool{ name = "wrong", description = "d", execute = function()
  return { content = 5 } end }
pi.register_message_renderer("card", function(message, options)
  return options.nothing.more end)
pi.register_message_renderer("number", function()
  return 5 end)
pi.register_shortcut("alt+x", { description = "d", handler = function(ctx)
  return ctx.sesion end })`})
	command := func(name string) string {
		_, err := r.command(name).Run(t.Context(), " x ")
		return err.Error()
	}
	tool := func(name string) string {
		_, err := r.host.tool(t, name).Run(t.Context(), json.RawMessage(`{}`), nil)
		return err.Error()
	}
	_, key := r.chain.Shortcuts()[0].Run(t.Context())
	for got, want := range map[string]string{
		command("raises"): "a.lua:3: oh x",
		command("wrong"):  `a.lua:5: result of the command: unknown option "promt", did you mean "prompt"?`,
		command("number"): "a.lua:7: a command returns nil, a string or a table, not a number",
		tool("raises"):    "a.lua:9: tool",
		tool("wrong"):     "a.lua:11: content",
		key.Error():       `a.lua:17: ctx has no field "sesion", did you mean "session"?`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("says %q, want %q", got, want)
		}
	}
}

// A file that is saved again has each of its handlers once, and its state.
func TestAPortedFileIsReloadedWhole(t *testing.T) {
	code := ported + `pi.state.loads = (pi.state.loads or 0) + 1
		pi.on("input", function(event) print("one " .. pi.state.loads) end)
		pi.on("input", function(event) print("two " .. pi.state.loads) end)
		pi.on("session_start", function(event) print(event.type) end)
		pi.register_command("c", { description = "d", handler = function() end })`
	r := newRig(t, map[string]string{"a.lua": code})
	r.input("x")
	r.write("a.lua", code+" -- saved")
	r.reload()
	r.input("x")
	want := "info: a: one 1\ninfo: a: two 1\ninfo: hook a loaded\ninfo: a: session_start\ninfo: a: one 2\ninfo: a: two 2"
	if said := strings.Join(r.host.notices(), "\n"); said != want {
		t.Errorf("said\n%s", said)
	}
	if n := len(r.info("a").Commands); n != 1 {
		t.Errorf("%d commands", n)
	}
}

// What is wrong with what a handler returned, or changed, is where it returns.
func TestWhatAPortedHandlerAnswersWronglyIsWhereItReturns(t *testing.T) {
	compaction := []agent.Event{&agent.SessionBeforeCompact{}, &agent.SessionCompacting{}}
	input := []agent.Event{&agent.Input{Text: "x"}}
	for _, c := range []struct {
		on     string
		events []agent.Event
		body   string
		want   string
	}{
		{`pi.on("input"`, input, `return { action = "handeld" }`, `input: action is continue, transform or handled, not "handeld"`},
		{`pi.on("input"`, input, `return { action = "transform", images = "x" }`, "input: images is a list of blocks, not a string"},
		{`pi.on("input"`, input, `return ctx.save_entry{ a = 1 }`, "save_entry: entry must have a type"},
		{`pi.on("user_bash"`, []agent.Event{&agent.UserBash{Command: "ls"}}, `return { operations = {} }`, "user_bash: pi.compat.omp has no operations; use result"},
		{`marvin.on("chat.message"`, input, `event.output.parts = "x"`, "chat.message: event.output.parts: expected a table, got string"},
		{`marvin.on("chat.message"`, input, `event.output.parts[1].text = 5`, "chat.message: event.output.parts[1] is no part: a table with type, and text or data"},
		{`marvin.on("chat.message"`, input, `event.output = nil`, "chat.message: event.output is a table to be changed, not a nil"},
		{`marvin.on("session.before_compact"`, compaction, `event.output.contxt = {}`, `session.before_compact: event.output has no field "contxt", did you mean "context"?`},
		{`marvin.on("session.before_compact"`, compaction, `event.output.context = "x"`, "session.before_compact: event.output.context: expected a table, got string"},
		{`marvin.on("session.before_compact"`, compaction, `event.output.context = { {} }`, "session.before_compact: event.output.context[1]: expected a string, got table"},
	} {
		r := newRig(t, map[string]string{"a.lua": `local pi, marvin = require "pi.compat.omp", require "pi.compat.marvin"
` + c.on + `, function(event, ctx)
  ` + c.body + `
end)`})
		r.emitAll(c.events...)
		line := "a.lua:3: "
		if !strings.HasPrefix(c.body, "return") {
			line = "a.lua:2: "
		}
		if said := r.host.notices(); len(said) != 1 || !strings.HasSuffix(said[0], line+c.want) {
			t.Errorf("%s says %q, want one %q", c.body, said, line+c.want)
		}
	}
}
