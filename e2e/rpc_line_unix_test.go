//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A hook sees what a client sends before it is read, and a client is told what became of that.
func TestAHookSeesTheLineOfAClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", "call bash {\"command\":\"echo up > began; read x < go\"}\n---\ntext done", "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	w.write(w.agentFile("prompts/places.md"), "Do this: $@")
	w.write(w.agentFile("hooks/line.lua"), `
		pi.on("line", function(e)
			pi.log("line " .. e.source .. " " .. e.text .. " " .. (e.streaming_behavior or "at rest"))
			if e.text == "stop here" then return { handled = true } end
			if e.text == "tell instead" then return { command = "/tell instead" } end
			if e.text == "show instead" then return { command = "/tools" } end
			if e.text == "nobody instead" then return { command = "/nobody" } end
			if e.text == "template it" then return { text = "/places with care" } end
		end)
		pi.command("tell", { handler = function(ctx)
			return { status = "told " .. ctx.args_raw .. " " .. tostring(ctx.ui.custom { render = function() return "x" end }) }
		end })`)
	began := w.mailbox("began")
	w.mailbox("go")
	c := w.client("--model", "local/small")
	handled := func(message, data string) {
		t.Helper()
		if got := c.answer(c.start("prompt", object{"message": message})); !got.Success || string(got.Data) != data {
			t.Errorf("%s: %v %s", message, got.Success, got.Data)
		}
	}
	handled("stop here", `{"disposition":"handled"}`)
	handled("tell instead", `{"disposition":"handled"}`)
	c.refused("prompt", object{"message": "nobody instead"}, "hook line: line: unknown command /nobody")
	handled("template it", `{"disposition":"started"}`)
	began()
	c.refused("steer", object{"message": "tell instead"}, "the command /tell of a hook cannot be queued; prompt runs it at once")
	c.refused("follow_up", object{"message": "show instead"}, "the command /tools cannot be queued; prompt runs it at once")
	handled("stop here", `{"disposition":"handled"}`)
	goOn, err := os.OpenFile(filepath.Join(w.project, "go"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = goOn.WriteString("now\n")
	_ = goOn.Close()
	c.event(0, "agent_settled")
	m.mu.Lock()
	first := string(m.requests[0].body)
	m.mu.Unlock()
	if !strings.Contains(first, "Do this: with care") {
		t.Errorf("the model read %s", first)
	}
	if status := c.end(); status != 0 {
		t.Errorf("status %d", status)
	}
	log, err := os.ReadFile(w.agentFile("hooks.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"line rpc template it at rest", "line rpc tell instead steer", "line rpc show instead follow_up",
		"line: custom: nothing is shown in the mode rpc, so it returned nil"} {
		if !strings.Contains(string(log), line) {
			t.Errorf("the log has no %q:\n%s", line, log)
		}
	}
}
