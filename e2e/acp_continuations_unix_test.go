//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/acptest"
)

// alwaysOn lets the model go on behind each of its answers.
const alwaysOn = `pi.on("turn_end", function()
  return { continue = true, entries = { { type = "custom_message", custom_type = "on", content = "go on" } } }
end)`

// An editor is asked whether a hook goes on, three times for a prompt. One that allows
// everything takes the first answer, which is stop.
func TestAnEditorIsAskedWhetherAHookGoesOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after           time.Duration
		name            string
		asked, requests int
	}{{600 * time.Millisecond, "2 more", 3, 3 + 3*2}, {600 * time.Millisecond, "", 1, 3}} {
		w := newWorld(t)
		server := newModelServer("openai-completions", strings.Repeat("text On.\n---\n", 20)+"text On.", "")
		t.Cleanup(server.http.Close)
		w.write(w.agentFile("config.toml"), "model = \"local/small\"\nmax_continuations = 2\n"+server.settings())
		w.write(w.agentFile("hooks/on.lua"), alwaysOn)
		e := w.editor(object{})
		var offered []string
		e.Handle("session/request_permission", func(l acptest.Line) (any, *acptest.Error) {
			time.Sleep(c.after) // the time that it takes to read
			taken := l.Params.Options[0].ID
			for _, o := range l.Params.Options {
				if o.Name == c.name {
					taken = o.ID
				}
				offered = append(offered, o.Name)
			}
			return object{"outcome": object{"outcome": "selected", "optionId": taken}}, nil
		})
		id := e.New(w.project)
		_, failed := e.Request("session/prompt", object{"sessionId": id, "prompt": []any{object{"type": "text", "text": "go"}}})
		if failed == nil || !strings.Contains(fmt.Sprint(failed), "stopped: hook on wants the model asked once more") {
			t.Errorf("%+v: it ended with %v", c, failed)
		}
		if want := strings.Repeat("Stop 2 more None of these ", c.asked); strings.Join(offered, " ")+" " != want {
			t.Errorf("%+v: offered %q", c, offered)
		}
		if n := strings.Count(e.Texts(id, "agent_message_chunk"), "On."); n != c.requests {
			t.Errorf("%+v: %d answers, want %d", c, n, c.requests)
		}
		if status := e.end(); status != 0 {
			t.Errorf("status %d, %s", status, e.stderr.String())
		}
	}
}
