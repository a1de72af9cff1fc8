//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/internal/testing/acptest"
)

// The requirements of the public list for agents of ACP (acp-tck, version 1), by their names:
// those that every agent has to meet, and those of what pi offers. ADDDIRS-001, AUTH-003,
// AUTH-004 and PROMPTCAP-002 are about what it does not offer.

// asksAllWays has a mode, and a command that asks in every way that needs a client's consent.
const asksAllWays = `
pi.mode{ name = "plan", description = "only look", tools = { "read" } }
pi.command("ask", { description = "asks", handler = function(ctx)
  return { status = tostring(ctx.ui.select("Which?", { "a", "b" })) .. tostring(ctx.ui.input("Name?")) .. tostring(ctx.ui.editor("Text?")) }
end })
`

// agentUnderTest is one process whose client offers nothing, and what it said at the beginning.
type agentUnderTest struct {
	*editor
	t       *testing.T // of the requirement being shown
	w       *world
	offered json.RawMessage // by initialize
	opened  json.RawMessage // the answer to the first session/new
	id      string          // of that session, which is never closed
}

type requirement struct {
	id, says string
	show     func(a *agentUnderTest)
}

func TestTheRequirementsOfACP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/asks.lua"), asksAllWays)
	a := &agentUnderTest{t: t, w: w, editor: w.editor(nil, "--model", "demo/tour")}
	a.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}}, &a.offered)
	a.Must("session/new", object{"cwd": w.project, "mcpServers": []any{}}, &a.opened)
	a.id = a.sessionOf(a.opened)
	a.prompts(a.id, "read a.txt and run `printf '\\377\\303('`", "write b.txt: gamma", "edit a.txt: beta -> delta", "/ask")
	all := append(mandatory(), ofCapabilities()...)
	if len(all) != 36 {
		t.Errorf("there are %d requirements", len(all))
	}
	for _, r := range all {
		t.Run("ACP-"+r.id, func(t *testing.T) {
			a.t = t
			before := t.Failed()
			r.show(a)
			if t.Failed() && !before {
				t.Logf("it says: %s", r.says)
			}
		})
	}
	if status := a.end(); status != 0 {
		t.Errorf("status %d, %s", status, a.stderr.String())
	}
}

// prompts sends one prompt after the other, each of which has to end well.
func (a *agentUnderTest) prompts(session string, texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		if ends := a.Prompt(session, text); ends != "end_turn" {
			a.t.Errorf("%s: %s", text, ends)
		}
	}
}

func (a *agentUnderTest) sessionOf(opened json.RawMessage) string {
	a.t.Helper()
	var s struct{ SessionID string }
	a.decode(opened, &s)
	return s.SessionID
}

func (a *agentUnderTest) decode(text []byte, into any) {
	a.t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		a.t.Fatalf("%s: %v", text, err)
	}
}

func (a *agentUnderTest) isObject(text json.RawMessage) {
	a.t.Helper()
	if !strings.HasPrefix(string(text), "{") {
		a.t.Errorf("no object: %s", text)
	}
}

// since returns the lines behind the first n.
func (a *agentUnderTest) since(n int) []acptest.Line { return a.Lines()[n:] }

// roundTrip waits until everything that was sent before has been worked on, as far as it can
// be told: a request behind it is answered.
func (a *agentUnderTest) roundTrip() {
	a.t.Helper()
	a.Must("session/list", object{"cwd": "/nowhere"}, nil)
}

// begun begins a session and in it a prompt that does not end by itself, and waits until its
// command runs.
func (a *agentUnderTest) begun() (session string, prompt int) {
	a.t.Helper()
	session = a.New(a.w.project)
	prompt = a.StartPrompt(session, "run `sleep 1000`")
	a.Wait("the call", func(l acptest.Line) bool {
		return l.Params.SessionID == session && l.Params.Update.Status == "in_progress"
	})
	return session, prompt
}

// stored begins a session with a conversation, closes it and returns its id.
func (a *agentUnderTest) stored() string {
	a.t.Helper()
	id := a.New(a.w.project)
	a.prompts(id, "read a.txt")
	a.Must("session/close", object{"sessionId": id}, nil)
	return id
}

// endsWell sends a prompt of several blocks.
func (a *agentUnderTest) endsWell(blocks ...any) {
	a.t.Helper()
	var ended struct{ StopReason string }
	a.Must("session/prompt", object{"sessionId": a.id, "prompt": blocks}, &ended)
	if ended.StopReason != "end_turn" {
		a.t.Error(ended.StopReason)
	}
}

// neverAsked wants no request of the agent whose method begins so.
func neverAsked(prefix string) func(a *agentUnderTest) {
	return func(a *agentUnderTest) {
		for _, l := range a.Lines() {
			if strings.HasPrefix(l.Method, prefix) {
				a.t.Errorf("it asked %s", l.Raw)
			}
		}
	}
}

func mandatory() []requirement {
	return []requirement{
		{"TRANSPORT-001", "each line of the output is one message", func(a *agentUnderTest) {
			for _, l := range a.Lines() {
				var m struct{ Jsonrpc string }
				if a.decode(l.Raw, &m); m.Jsonrpc != "2.0" {
					a.t.Errorf("%s", l.Raw)
				}
			}
		}},
		{"TRANSPORT-002", "the output is UTF-8", func(a *agentUnderTest) {
			odd := 0
			for _, l := range a.Lines() {
				if !utf8.Valid(l.Raw) {
					a.t.Errorf("%q", l.Raw)
				}
				odd += strings.Count(string(l.Raw), "\uFFFD")
			}
			if odd == 0 {
				a.t.Error("the command that writes other bytes was not shown")
			}
		}},
		{"JSONRPC-001", "an answer has the id of its request", func(a *agentUnderTest) {
			for _, id := range []string{`4711`, `"a text"`, `-1`} {
				a.Send(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/list","params":{}}`)
				a.Wait("the answer to "+id, func(l acptest.Line) bool { return l.Method == "" && string(l.ID) == id && l.Result != nil })
			}
		}},
		{"JSONRPC-002", "an answer has a result or an error, which has a code and a message", func(a *agentUnderTest) {
			_, _ = a.Request("session/nothing", object{})
			failed := 0
			for _, l := range a.Lines() {
				var m map[string]json.RawMessage
				a.decode(l.Raw, &m)
				if l.Method == "" && (m["result"] == nil) == (m["error"] == nil) {
					a.t.Errorf("%s", l.Raw)
				}
				if l.Error != nil {
					failed++
					if l.Error.Code >= 0 || l.Error.Message == "" {
						a.t.Errorf("%s", l.Raw)
					}
				}
			}
			if failed == 0 {
				a.t.Error("nothing was refused")
			}
		}},
		{"JSONRPC-003", "what needs no answer gets none", func(a *agentUnderTest) {
			n := len(a.Lines())
			for _, method := range []string{"_own/thing", "nothing/known", "session/cancel", "session/prompt", "$/cancel_request"} {
				a.Notify(method, object{"sessionId": "nobody's"})
			}
			a.roundTrip()
			if got := a.since(n); len(got) != 1 {
				a.t.Errorf("%d lines: %s", len(got), got[0].Raw)
			}
		}},
		{"INIT-001", "initialize says which version there is", func(a *agentUnderTest) {
			var got struct{ ProtocolVersion *int }
			if a.decode(a.offered, &got); got.ProtocolVersion == nil {
				a.t.Errorf("%s", a.offered)
			}
		}},
		{"INIT-002", "who wants version 1 gets it", func(a *agentUnderTest) {
			var got struct{ ProtocolVersion int }
			if a.decode(a.offered, &got); got.ProtocolVersion != 1 {
				a.t.Errorf("%s", a.offered)
			}
		}},
		{"INIT-003", "who wants a version that there is not gets another", func(a *agentUnderTest) {
			e := a.w.editor(nil)
			var got struct{ ProtocolVersion int }
			e.Must("initialize", object{"protocolVersion": 65535, "info": object{"name": "later", "version": "9"}, "clientCapabilities": object{}}, &got)
			if got.ProtocolVersion != 1 || e.end() != 0 {
				a.t.Errorf("%+v", got)
			}
		}},
		{"SCHEMA-001", "all that is written is by the schema", func(a *agentUnderTest) {
			check := acptest.New()
			kinds := map[string]bool{}
			for _, l := range a.Lines() {
				if l.Method == "" {
					continue // answers are checked when they come, beside their requests
				}
				if err := check.Check(l.Raw); err != nil {
					a.t.Errorf("%v: %s", err, l.Raw)
				}
				kinds[l.Params.Update.Kind] = true
			}
			for _, kind := range []string{"agent_message_chunk", "tool_call", "tool_call_update", "usage_update", "available_commands_update", "session_info_update"} {
				if !kinds[kind] {
					a.t.Errorf("there was no %s", kind)
				}
			}
		}},
		{"SESSION-001", "a new session has an id", func(a *agentUnderTest) {
			if a.id == "" {
				a.t.Errorf("%s", a.opened)
			}
		}},
		{"SESSION-002", "two sessions have two ids", func(a *agentUnderTest) {
			if one, two := a.New(a.w.project), a.New(a.w.project); one == two || one == a.id || two == "" {
				a.t.Errorf("%s, %s", one, two)
			}
		}},
		{"PROMPT-001", "a prompt of text ends, and with which reason", func(a *agentUnderTest) { a.prompts(a.id, "help") }},
		{"PROMPT-002", "what a prompt shows names its session", func(a *agentUnderTest) {
			n := len(a.Lines())
			a.prompts(a.id, "list")
			shown := a.since(n)
			for _, l := range shown {
				if l.Method == "session/update" && l.Params.SessionID != a.id {
					a.t.Errorf("%s", l.Raw)
				}
			}
			if len(shown) < 4 {
				a.t.Errorf("it shows only %d lines", len(shown))
			}
		}},
		{"CANCEL-001", "what is cancelled ends as cancelled", func(a *agentUnderTest) {
			id, prompt := a.begun()
			a.Notify("session/cancel", object{"sessionId": id})
			if ends := a.Ending(prompt); ends != "cancelled" {
				a.t.Error(ends)
			}
		}},
		{"CANCEL-002", "nothing is shown behind the end of what was cancelled", func(a *agentUnderTest) {
			id, prompt := a.begun()
			a.Notify("session/cancel", object{"sessionId": id})
			a.Ending(prompt)
			a.Must("session/close", object{"sessionId": id}, nil)
			a.roundTrip()
			ended := false
			for _, l := range a.Lines() {
				ended = ended || l.Method == "" && string(l.ID) == fmt.Sprint(prompt)
				if ended && l.Params.SessionID == id {
					a.t.Errorf("%s", l.Raw)
				}
			}
		}},
		{"CONFIG-003", "options that are yes or no are only for clients that know them", func(a *agentUnderTest) {
			for _, o := range a.options(a.opened) {
				if o.Type == "boolean" {
					a.t.Errorf("%+v", o)
				}
			}
		}},
		{"AUTH-002", "no login in a terminal for clients without one", func(a *agentUnderTest) {
			var got struct{ AuthMethods []struct{ Type string } }
			a.decode(a.offered, &got)
			for _, m := range got.AuthMethods {
				if m.Type == "terminal" {
					a.t.Errorf("%s", a.offered)
				}
			}
		}},
		{"CLIENTCAP-001", "files are not asked of a client without them", neverAsked("fs/")},
		{"CLIENTCAP-002", "no terminal is asked of a client without one", neverAsked("terminal/")},
		{"CLIENTCAP-003", "no form is sent to a client without them", func(a *agentUnderTest) {
			if said := a.Texts(a.id, "agent_message_chunk"); !strings.Contains(said, "nilnilnil") {
				a.t.Errorf("the command that asks was not there: %s", said)
			}
			neverAsked("elicitation/")(a)
		}},
		{"EXT-001", "a request of somebody's own is answered", func(a *agentUnderTest) {
			if _, failed := a.Request("_somebody/own", object{}); failed == nil || failed.Code != -32601 {
				a.t.Errorf("%v", failed)
			}
		}},
	}
}

// option is an option of a session.
type option struct {
	ID, Type     string
	CurrentValue any
	Options      []struct{ Value string }
}

func (a *agentUnderTest) options(answer json.RawMessage) []option {
	a.t.Helper()
	var got struct{ ConfigOptions []option }
	if a.decode(answer, &got); len(got.ConfigOptions) == 0 {
		a.t.Fatalf("there are no options in %s", answer)
	}
	return got.ConfigOptions
}

func ofCapabilities() []requirement {
	return []requirement{
		{"LOAD-001", "a session can be opened again", func(a *agentUnderTest) {
			result, failed := a.Request("session/load", object{"sessionId": a.stored(), "cwd": a.w.project, "mcpServers": []any{}})
			if failed != nil {
				a.t.Fatal(failed)
			}
			a.isObject(result)
		}},
		{"LOAD-002", "what was said is shown before the answer", func(a *agentUnderTest) {
			id := a.stored()
			n := len(a.Lines())
			load := a.Start("session/load", object{"sessionId": id, "cwd": a.w.project, "mcpServers": []any{}})
			_, _ = a.Await(load)
			a.roundTrip()
			var before, behind []string
			answered := false
			for _, l := range a.since(n) {
				switch kind := l.Params.Update.Kind; {
				case l.Method == "":
					answered = answered || string(l.ID) == fmt.Sprint(load)
				case answered:
					behind = append(behind, kind)
				default:
					before = append(before, kind)
				}
			}
			for _, kind := range []string{"user_message_chunk", "agent_message_chunk", "tool_call"} {
				if !slices.Contains(before, kind) || slices.Contains(behind, kind) {
					a.t.Errorf("%s: %q, then %q", kind, before, behind)
				}
			}
		}},
		{"RESUME-001", "a session can be gone on with", func(a *agentUnderTest) {
			result, failed := a.Request("session/resume", object{"sessionId": a.stored(), "cwd": a.w.project})
			if failed != nil {
				a.t.Fatal(failed)
			}
			a.isObject(result)
		}},
		{"RESUME-002", "which shows nothing of what was said", func(a *agentUnderTest) {
			id := a.stored()
			n := len(a.Lines())
			a.Must("session/resume", object{"sessionId": id, "cwd": a.w.project}, nil)
			a.prompts(id, "help") // what comes late comes before its end
			said := 0
			for _, l := range a.since(n) {
				if l.Params.SessionID == id && l.Params.Update.Kind == "user_message_chunk" {
					a.t.Errorf("%s", l.Raw)
				}
				if l.Params.Update.Kind == "tool_call" {
					said++
				}
			}
			if said != 0 {
				a.t.Errorf("%d calls are shown", said)
			}
		}},
		{"LIST-001", "sessions are listed", func(a *agentUnderTest) {
			var got struct{ Sessions []struct{ SessionID string } }
			a.Must("session/list", object{}, &got)
			if !slices.Contains(got.Sessions, struct{ SessionID string }{a.id}) {
				a.t.Errorf("%+v has no %s", got, a.id)
			}
		}},
		{"LIST-002", "where there is none the list is empty", func(a *agentUnderTest) {
			var got struct{ Sessions json.RawMessage }
			a.Must("session/list", object{"cwd": "/nobody/was/here"}, &got)
			if string(got.Sessions) != "[]" {
				a.t.Errorf("%s", got.Sessions)
			}
		}},
		{"DELETE-001", "a session can be removed", func(a *agentUnderTest) {
			id := a.New(a.w.project)
			a.prompts(id, "help")
			result, failed := a.Request("session/delete", object{"sessionId": id})
			if failed != nil || string(result) != "{}" {
				a.t.Errorf("%s, %v", result, failed)
			}
			var got struct{ Sessions []struct{ SessionID string } }
			a.Must("session/list", object{}, &got)
			if slices.Contains(got.Sessions, struct{ SessionID string }{id}) {
				a.t.Error("it is still there")
			}
		}},
		{"CLOSE-001", "a session can be closed", func(a *agentUnderTest) {
			result, failed := a.Request("session/close", object{"sessionId": a.New(a.w.project)})
			if failed != nil || string(result) != "{}" {
				a.t.Errorf("%s, %v", result, failed)
			}
		}},
		{"CLOSE-002", "which cancels its prompt", func(a *agentUnderTest) {
			id, prompt := a.begun()
			a.Must("session/close", object{"sessionId": id}, nil)
			if ends := a.Ending(prompt); ends != "cancelled" {
				a.t.Error(ends)
			}
		}},
		{"MODES-001", "the mode that is on is one of those that there are", func(a *agentUnderTest) {
			if modes := a.modes(); len(modes.AvailableModes) != 2 || !modes.has(modes.CurrentModeID) {
				a.t.Errorf("%+v", modes)
			}
		}},
		{"MODES-002", "another mode can be turned on", func(a *agentUnderTest) {
			a.Must("session/set_mode", object{"sessionId": a.id, "modeId": "plan"}, nil)
			a.WaitUpdate("the mode", func(u acptest.Update) bool { return u.Kind == "current_mode_update" && u.ModeID == "plan" })
			a.Must("session/set_mode", object{"sessionId": a.id, "modeId": "default"}, nil)
			a.WaitUpdate("no mode", func(u acptest.Update) bool { return u.Kind == "current_mode_update" && u.ModeID == "default" })
		}},
		{"CONFIG-001", "the value of an option is one of those that it can have", func(a *agentUnderTest) {
			for _, o := range a.options(a.opened) {
				if !slices.ContainsFunc(o.Options, func(v struct{ Value string }) bool { return v.Value == o.CurrentValue }) {
					a.t.Errorf("%+v", o)
				}
			}
		}},
		{"CONFIG-002", "setting one answers with all of them", func(a *agentUnderTest) {
			before := a.options(a.opened)
			for _, o := range before {
				last := o.Options[len(o.Options)-1].Value
				result, failed := a.Request("session/set_config_option", object{"sessionId": a.id, "configId": o.ID, "value": last})
				if failed != nil {
					a.t.Fatal(failed)
				}
				after := a.options(result)
				for i, was := range before {
					if i >= len(after) || after[i].ID != was.ID || was.ID == o.ID && after[i].CurrentValue != last {
						a.t.Errorf("%s = %s: %s", o.ID, last, result)
					}
				}
				a.Must("session/set_config_option", object{"sessionId": a.id, "configId": o.ID, "value": o.CurrentValue}, nil)
			}
		}},
		{"PROMPTCAP-001", "a prompt may have an image", func(a *agentUnderTest) {
			a.endsWell(object{"type": "text", "text": "help"}, object{"type": "image", "mimeType": "image/png", "data": onePixel})
		}},
		{"PROMPTCAP-003", "a prompt may have a file", func(a *agentUnderTest) {
			a.endsWell(object{"type": "text", "text": "help"},
				object{"type": "resource", "resource": object{"uri": "file:///tmp/notes.md", "mimeType": "text/markdown", "text": "notes"}})
		}},
	}
}

// onePixel is an image.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// modesOf are the modes of a session.
type modesOf struct {
	CurrentModeID  string
	AvailableModes []struct{ ID string }
}

func (m modesOf) has(id string) bool {
	return slices.Contains(m.AvailableModes, struct{ ID string }{id})
}

func (a *agentUnderTest) modes() modesOf {
	a.t.Helper()
	var got struct{ Modes modesOf }
	a.decode(a.opened, &got)
	return got.Modes
}
