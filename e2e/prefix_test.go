//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"pi/internal/testing/wiretest"
)

// longAnswers are what the model says in TestTheBeginningOfARequestStays.
const longAnswers = `think Where is it?
text I look  at it: <a> & "b" – é 🙂` + "  " + `
call odd {"zeta" : "<z> & é 😀", "beta": {"y": 1.0, "x": true}, "alpha": 12345678901234567890, "mid": []}
call read {"path":"a.txt"}
---
call bash {"command":"printf 'one\\ttwo\\n\\n'; exit 4"}
call missing {"x":1}
---
text First done.
---
text Second done.
---
text Resumed.
---
call odd {}
call odd {"zeta":"again","mid":["a","b"]}
---
text After the reload.
---
text Noted.
---
text From the large one.
---
text From the small one.
---
status 400 {"error":{"type":"invalid_request_error","message":"no"}}
---
text After the failure.
---
text All was read.
---
text And again without it.`

const failed = 10 // the request that the server refuses, counted from 0

// steadyHook has tools, changes the system prompt, adds messages and looks at the
// context, always in the same way.
const steadyHook = `
pi.tool{ name = "odd", description = "Does odd things", parameters = { type = "object",
  properties = { zeta = { type = "string" }, alpha = { type = "integer" }, mid = { type = "array", items = { type = "string" } },
    beta = { type = "object", properties = { y = { type = "number" }, x = { type = "boolean" } } } }, required = { "zeta" } },
  execute = function(p) return { content = "did " .. p.zeta, details = { p = p } } end }
pi.tool{ name = "even", description = "Does even things", parameters = { type = "object", properties = {} },
  execute = function() return "even" end }
pi.command("again", { handler = function(ctx) ctx.reload() return { status = "again" } end })
pi.command("note", { handler = function(ctx)
  pi.set_label(ctx.entries[2].id, "here")
  pi.set_session_name("a name")
  pi.append_entry("state", { b = 1, a = { 2 } })
  ctx.save_entry{ type = "steady_own", value = "x" }
  return { status = "noted" }
end })
pi.on("before_agent_start", function(event)
  return { sections = { zz = "Last words.", aa = "First words.", tools = event.sections.tools .. "\n- and no others" },
    message = { custom_type = "steady", content = { { type = "text", text = "prompt: " .. event.prompt } }, display = false } }
end)
local steered = false
pi.on("tool_result", function(event)
  if event.tool_name == "odd" and not steered then
    steered = true
    pi.send_user_message("steered by the way", { deliver_as = "steer" })
  end
end)
pi.on("context", function(event)
  table.insert(event.messages, 2, { role = "user", content = "remember the rules", timestamp = 1 })
  return { messages = event.messages }
end)
`

// readingHook looks at every value of every message and gives them all back.
const readingHook = `
local function touch(v)
  if type(v) ~= "table" then return v end
  for k, x in pairs(v) do v[k] = touch(x) end
  return v
end
pi.on("context", function(event) return { messages = touch(event.messages) } end)
`

// longRun is one process after the other.
func longRun(w *world) (runs [][]string) {
	steady, reading := filepath.Join(w.home, "steady.lua"), filepath.Join(w.home, "reading.lua")
	w.write(steady, steadyHook)
	w.write(reading, readingHook)
	return [][]string{
		{"--hook", steady, "-p", "first", "-p", "second"},
		{"--hook", steady, "--continue", "-p", "resumed"},
		{"--hook", steady, "--continue", "-p", "/again", "-p", "reloaded", "-p", "/note", "-p", "and now"},
		{"--hook", steady, "--continue", "-p", "/model local/large", "-p", "to the large", "-p", "/model local/small", "-p", "to the small"},
		{"--hook", steady, "--continue", "-p", "this one fails"},
		{"--hook", steady, "--continue", "-p", "after it"},
		{"--hook", steady, "--hook", reading, "--continue", "-p", "everything is read"},
		{"--hook", steady, "--continue", "-p", "and not any more"},
	}
}

// TestTheBeginningOfARequestStays: tools, system prompt and messages of each
// request begin with those of the one before, whatever happens in between that
// says nothing else.
func TestTheBeginningOfARequestStays(t *testing.T) {
	for api, c := range apiCases() {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := newModelServer(api, longAnswers, "")
			t.Cleanup(s.http.Close)
			w.write(w.agentFile("config.toml"), s.settings())
			w.write(filepath.Join(w.project, "AGENTS.md"), "Be brief.\n")
			for _, args := range longRun(w) {
				out, err := w.released(args...).CombinedOutput()
				fails := args[len(args)-1] == "this one fails"
				if _, exit := err.(*exec.ExitError); err != nil && !exit || fails != (err != nil) {
					t.Fatalf("pi %q: %v\n%s", args, err, out)
				}
			}
			asked := s.asked()
			if len(asked) != len(s.answers) {
				t.Fatalf("the model was asked %d times, want %d", len(asked), len(s.answers))
			}
			inOrder(t, messagesOf(t, asked[len(asked)-1].body), []string{"first", "remember the rules", "did <z>", "alpha", "steered by the way",
				`one\ttwo`, "missing", "second", "resumed", "reloaded", "and now", "to the large", "to the small", "this one fails", "after it"})
			for i := 1; i < len(asked); i++ {
				was, is := lastOfItsModel(t, asked, i), asked[i].body
				if was == nil { // thoughts go to another model as text
					continue
				}
				t.Run(fmt.Sprint("request ", i+1), func(t *testing.T) {
					if i == failed+1 && (api == "anthropic-messages" || api == "google-generative-ai") { // two prompts without an answer between them join there
						joinedExtends(t, was, is)
						return
					}
					wiretest.Extends(t, was, is, c.same...)
				})
			}
		})
	}
}

// lastOfItsModel is the request before the i-th that went to the same model, if
// any did.
func lastOfItsModel(t *testing.T, asked []modelRequest, i int) []byte {
	t.Helper()
	model := func(q modelRequest) string {
		var r struct{ Model string }
		if err := json.Unmarshal(q.body, &r); err != nil {
			t.Fatalf("%v: %s", err, q.body)
		}
		return q.path + r.Model
	}
	for n := i - 1; n >= 0; n-- {
		if model(asked[n]) == model(asked[i]) {
			return asked[n].body
		}
	}
	return nil
}

// joinedExtends is the same rule block by block: the last message may have grown.
func joinedExtends(t *testing.T, first, second []byte) {
	t.Helper()
	before, after := blocksOf(t, first), blocksOf(t, second)
	for i, b := range before {
		if i >= len(after) || !bytes.Equal(b, after[i]) {
			t.Fatalf("block %d changed: %s", i, b)
		}
	}
}

func blocksOf(t *testing.T, body []byte) (blocks [][]byte) {
	t.Helper()
	type message struct {
		Role           string
		Content, Parts []map[string]json.RawMessage
	}
	var r struct{ Messages, Contents []message }
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, m := range append(r.Messages, r.Contents...) {
		for _, b := range append(m.Content, m.Parts...) {
			delete(b, "cache_control")
			raw, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			blocks = append(blocks, append([]byte(m.Role+" "), raw...))
		}
	}
	return blocks
}
