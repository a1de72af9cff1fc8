//go:build unix

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/testing/acptest"
)

// answersByFile answers the dialogs of another hook with true as soon as there is a file.
const answersByFile = `
local fs, timer = require "pi.fs", require "pi.timer"
local id
pi.on("ui_prompt", function(event) id = event.id end)
pi.on("session_start", function()
  timer.every(20, function()
    if not id or not fs.exists("answer") then return end
    pi.log(pi.answer(id, true))
    id = nil
  end)
end)
`

const asksOnce = `
pi.command("ask", { handler = function(ctx) ctx.ui.notify("it says " .. tostring(ctx.ui.confirm("Delete it?", "for good"))) end })
`

// withAnswers is a world with a hook that asks, and one that may answer.
func withAnswers(t *testing.T) *world {
	w := newWorld(t)
	w.write(w.agentFile("config.toml"), "model = \"demo/tour\"\n[hook.phone]\nanswers = true\n")
	w.write(w.agentFile("hooks/gate.lua"), asksOnce)
	w.write(w.agentFile("hooks/phone.lua"), answersByFile)
	return w
}

// What a hook answers is not waited for any more, and an answer of the client that comes later is dropped.
func TestAHookAnswersInThePlaceOfAClient(t *testing.T) {
	t.Parallel()
	w := withAnswers(t)
	c := w.client("--no-session")
	prompt := c.start("prompt", object{"message": "/ask"})
	question := c.wait("the question", func(r rpcRecord) bool { return strings.Contains(r.line, `"title":"Delete it?"`) })
	w.write(filepath.Join(w.project, "answer"), "")
	c.wait("the row", func(r rpcRecord) bool {
		return r.Method == "notify" && strings.Contains(r.line, `hook phone answered \"Delete it?\" of hook gate: yes`)
	})
	c.write(`{"type":"extension_ui_response","id":"` + question.text() + `","confirmed":false}` + "\n")
	c.wait("the answer", func(r rpcRecord) bool { return r.Method == "notify" && strings.Contains(r.line, "it says true") })
	var data struct{ Disposition string }
	c.succeeds(prompt, &data)
}

// The question that an editor shows is withdrawn.
func TestAHookAnswersInThePlaceOfAnEditor(t *testing.T) {
	t.Parallel()
	w := withAnswers(t)
	e := w.editor(object{"session": object{"notices": object{}}, "_meta": object{"$/cancel_request": true}})
	e.Handle("session/request_permission", func(acptest.Line) (any, *acptest.Error) { return nil, nil })
	id := e.New(w.project)
	prompt := e.StartPrompt(id, "/ask")
	e.Wait("the question", func(l acptest.Line) bool { return l.Method == "session/request_permission" })
	w.write(filepath.Join(w.project, "answer"), "")
	e.Wait("that it is withdrawn", func(l acptest.Line) bool { return l.Method == "$/cancel_request" })
	for _, text := range []string{`hook phone answered "Delete it?" of hook gate: yes`, "it says true"} {
		e.WaitUpdate(text, func(u acptest.Update) bool { return u.Kind == "notice" && strings.Contains(u.Title, text) })
	}
	if ends := e.Ending(prompt); ends != "end_turn" {
		t.Error(ends)
	}
	if status := e.end(); status != 0 {
		t.Errorf("status %d, %s", status, e.stderr.String())
	}
}
