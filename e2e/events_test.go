//go:build unix

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pi/luahooks/event"
)

// eventAnswers are those of the model: the first comes at the second try, the request for a summary fails, the next
// prompt does not fit and is sent again.
const eventAnswers = `status 529 {"error":{"message":"overloaded"}}
---
call bash {"command":"echo one; echo two"}
---
text Done.
---
status 400 {"error":{"message":"no power"}}
---
status 400 {"error":{"message":"too much","code":"context_length_exceeded"}}
---
text What came before.
---
text It fits.
---
text Reviewed.`

// An event that is documented but never comes would be a lie: one session with a
// user in it brings about all that there are.
func TestEveryEventComes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all strings.Builder
	for _, e := range event.Infos() {
		fmt.Fprintf(&all, "pi.on(%q, function(event) pi.log('saw', event.type) end)\n", e.Name)
	}
	all.WriteString("pi.mode{ name = 'quiet' }\n")
	all.WriteString(`pi.command("ask", { handler = function(ctx) return { status = tostring(ctx.ui.confirm("Sure?")) } end })`)
	all.WriteString(`pi.command("child", { handler = function() return { status = require("pi.agent").run{ prompt = "review" }.text } end })`)
	w.write(w.agentFile("hooks/all.lua"), all.String())
	w.write(w.agentFile("hooks/other.lua"), `pi.on("agent_settled", function() error("out of order") end)`)
	w.write(w.agentFile("hooks/more.lua"), `pi.on("session_info_changed", function() pi.send("one more") end)`)
	w.write(w.projectFile("hooks/quiet.lua"), "local quiet = true\n")
	kind := w.projectFile("kind")
	w.write(kind, "good")
	w.write(w.agentFile("mcp.json"), fmt.Sprintf(`{"mcpServers": {"t": {"command": "sh", "args": ["-c", "exec %s $(cat %s)"]}}}`, w.program("mcp-server"), kind))
	m := newModelServer("openai-completions", eventAnswers, "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), "[retry]\nbase_delay = \"1ms\"\n[hook.more]\nmax_continuations = 0\n"+m.settings())

	s := w.inTerminal()
	s.answer(trustQuestion, "once\r")
	s.enter("go")
	s.keys("\x1b[O") // another window is in front
	s.see(1, "Done.")
	s.enter("!echo mine")
	s.see(2, "mine")
	s.enter("/mcp refresh t")
	s.see(1, "t: 19 tools")
	w.write(kind, "changed")
	s.enter("/mcp off t")
	s.see(1, "t is off")
	s.enter("/mcp on t")
	s.see(1, "t is on")
	s.enter("/mcp refresh t")
	s.see(2, "t: 19 tools")
	s.enter("/ask")
	s.asked("Sure?")
	s.keys("y\r")
	s.see(1, "true")
	s.enter("/compact")
	s.see(1, "no power")
	s.enter("more")
	s.see(1, "It fits.")
	s.enter("/child")
	s.see(1, "Reviewed.")
	s.enter("/uncompact")
	s.see(1, "is taken back")
	s.enter("/undo")
	s.see(1, "undone")
	s.until("the prompt is given back", func() bool { return strings.HasSuffix(s.text(), "> more") })
	s.keys("\x15")
	s.enter("/branch here")
	s.see(1, "branched off")
	s.enter("/name a name")
	s.see(1, "it may add 0 requests")
	s.enter("/model local/large")
	s.enter("/thinking high")
	s.enter("/mode quiet")
	s.see(1, "mode: default [quiet]")
	s.enter("/new")
	s.see(1, "new session")
	s.enter("/resume " + strings.TrimSuffix(w.sessions()[0], "\n"))
	s.enter("/quit")
	s.leave(statusDone)

	log, err := os.ReadFile(w.agentFile("hooks.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range event.Infos() {
		if !strings.Contains(string(log), "saw "+e.Name+"\n") {
			t.Errorf("%s does not come", e.Name)
		}
	}
}
