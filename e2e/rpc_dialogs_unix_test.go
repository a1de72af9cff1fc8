//go:build unix

package e2e

import (
	"strings"
	"testing"
)

// asksTheClient asks in all ways and shows in all ways.
const asksTheClient = `
pi.command("ask", { description = "asks", handler = function(ctx, args)
  local s = ctx.ui.select("Which?", { "a", "b" }, { default = "b" })
  local c = ctx.ui.confirm("Sure?", "really")
  local i = ctx.ui.input("Name?", "hint")
  local e = ctx.ui.editor("Text?", "before")
  local late = ctx.ui.select("Late?", { "x" }, { timeout = 1 })
  ctx.ui.notify(table.concat({ tostring(s), tostring(c), tostring(i), tostring(e), tostring(late) }, "|"), "info")
  ctx.ui.notify("careful", "warning")
  ctx.ui.set_status("k", "status")
  ctx.ui.set_widget("w", { "l1", "l2" })
  ctx.ui.set_title("T")
  ctx.ui.set_editor_text("E")
  ctx.ui.set_status("k")
  print("printed in " .. ctx.mode .. " " .. tostring(ctx.has_ui))
end })
`

// What hooks ask and show goes to the client; what they print does not.
func TestHooksAskAndShowTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/ask.lua"), asksTheClient)
	c := w.client("--model", "demo/tour", "--no-session")
	prompt := c.start("prompt", object{"message": "/ask"})
	answers := map[string]string{
		`"title":"Which?","options":["a","b"],"default":"b"`: `"value":"b"`,
		`"title":"Sure?","message":"really"`:                 `"confirmed":true`,
		`"title":"Name?","placeholder":"hint"`:               `"value":""`,
		`"title":"Text?","prefill":"before"`:                 `"cancelled":true,"value":"not this"`,
		`"title":"Late?","options":["x"],"timeout":1`:        "",
	}
	for _, question := range []string{"Which?", "Sure?", "Name?", "Text?", "Late?"} {
		r := c.wait(question, func(r rpcRecord) bool { return strings.Contains(r.line, `"title":"`+question) })
		answered := false
		for fields, answer := range answers {
			if strings.Contains(r.line, fields) {
				answered = true
				if answer != "" {
					c.write(`{"type":"extension_ui_response","id":"` + r.text() + `",` + answer + "}\n")
					c.write(`{"type":"extension_ui_response","id":"` + r.text() + `","value":"again"}` + "\n")
				}
			}
		}
		if !answered {
			t.Errorf("%s is asked otherwise: %s", question, r.line)
		}
	}
	var data struct{ Disposition string }
	if c.succeeds(prompt, &data); data.Disposition != "handled" {
		t.Errorf("%+v", data)
	}
	var shown []string
	for _, r := range c.sofar() {
		switch r.Method {
		case "notify", "setStatus", "setWidget", "setTitle", "set_editor_text":
			shown = append(shown, strings.Replace(r.line, `"id":"`+r.text()+`",`, "", 1))
		}
	}
	want := []string{
		`{"type":"extension_ui_request","method":"notify","message":"b|true||nil|nil","notifyType":"info"}`,
		`{"type":"extension_ui_request","method":"notify","message":"careful","notifyType":"warning"}`,
		`{"type":"extension_ui_request","method":"setStatus","statusKey":"k","statusText":"status"}`,
		`{"type":"extension_ui_request","method":"setWidget","widgetKey":"w","widgetLines":["l1","l2"]}`,
		`{"type":"extension_ui_request","method":"setTitle","title":"T"}`,
		`{"type":"extension_ui_request","method":"set_editor_text","text":"E"}`,
		`{"type":"extension_ui_request","method":"setStatus","statusKey":"k"}`,
	}
	if got := strings.Join(shown, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("shown is\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	c.refused("steer", object{"message": "/ask"}, "cannot be queued")
	if status := c.end(); status != 0 || !strings.Contains(c.stderr.String(), "printed in rpc true") {
		t.Errorf("status %d, %s", status, c.stderr.String())
	}
}
