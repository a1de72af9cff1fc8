package luahooks

import (
	"encoding/json"
	"strings"
	"testing"
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
