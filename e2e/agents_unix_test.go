//go:build unix

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/acptest"
)

// agentsHook has an agent work for a call of a tool, and another one for none.
const agentsHook = `
local agent = require "pi.agent"
pi.tool{
  name = "ask", description = "has an agent work", parameters = { type = "object", properties = { what = { type = "string" } } },
  execute = function(params) return assert(agent.run{ prompt = params.what, name = "asked", session = "keep" }).text end,
}
pi.command("begin", { handler = function(ctx) return { status = "began " .. assert(agent.start{ prompt = ctx.args_raw, name = "worker" }).name } end })
`

// agentsAnswers are of the session, of the agent of its call, of the session again, and of the agent
// that works for no call.
const agentsAnswers = `usage 10 5 0 0
call ask {"what":"count the files"}
---
usage 20 6 0 0
call bash {"command":"echo two"}
---
usage 30 7 0 0
text two files
---
usage 40 8 0 0
text it is well
---
usage 50 9 0 0
call bash {"command":"echo $$ > began; sleep 1000"}`

// worldOfAgents has them, and returns what waits for the command of the last agent.
func worldOfAgents(t *testing.T) (w *world, began func() string) {
	t.Helper()
	w = newWorld(t)
	m := newModelServer("openai-completions", agentsAnswers, "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	w.write(w.agentFile("hooks/agents.lua"), agentsHook)
	return w, w.mailbox("began")
}

// A client sees the agent of a tool in the call of that, another one as a status, and reads, steers and
// ends it.
func TestAClientSeesAgents(t *testing.T) {
	t.Parallel()
	w, began := worldOfAgents(t)
	c := w.client("--model", "local/small")
	c.call("prompt", object{"message": "look"}, nil)
	c.event(0, "agent_settled")
	var of []string // of the agent of the call, in order
	for _, r := range c.sofar() {
		if r.Method == "setStatus" {
			t.Errorf("it has a status, too: %s", r.line)
		}
		if word := agentRecord(t, r.line); word != "" {
			of = append(of, word)
		}
	}
	want := []string{"child_start asked in ask: count the files", "usage asked 26", "progress of ask: bash echo two", "usage asked 37",
		"progress of ask: bash echo two\ntwo files", "child_end asked in ask: completed, two files"}
	slices.Sort(of) // usage, progress and the end come from several goroutines
	slices.Sort(want)
	if !slices.Equal(of, want) {
		t.Errorf("%q\nwant\n%q", of, want)
	}

	n := len(c.sofar())
	c.call("prompt", object{"message": "/begin wait"}, nil)
	pid := began()
	status := func(text string) func(rpcRecord) bool {
		return func(r rpcRecord) bool { return r.Method == "setStatus" && strings.Contains(r.line, text) }
	}
	c.waitFrom(n, "the status at the beginning", status(`"statusKey":"agent:worker","statusText":"wait"`))
	c.waitFrom(n, "the status of the tool", status(`"statusKey":"agent:worker","statusText":"bash echo $$ > began; sleep 1000"`))
	told := func(command, words string) {
		t.Helper()
		n := len(c.sofar())
		c.call("prompt", object{"message": command}, nil)
		if r := c.event(n, "extension_ui_request"); r.Method != "notify" || !strings.Contains(r.Message, words) {
			t.Errorf("%s: %s", command, r.line)
		}
	}
	told("/agents", "at work\nworker   59 tokens")
	told("/agents read worker", "> wait\n\n· bash echo $$ > began; sleep 1000")
	told("/agents steer worker look left", "worker gets it before its next request")
	c.refused("prompt", object{"message": "/agents end wroker"}, `no agent "wroker" is at work, did you mean "worker"?`)
	told("/agents end worker", "worker is being ended")
	end := c.event(n, "child_end").line
	if !strings.Contains(end, `"name":"worker","stopReason":"aborted"`) || strings.Contains(end, "toolCallId") {
		t.Error(end)
	}
	c.waitFrom(n, "the end of the status", status(`"statusKey":"agent:worker"}`))
	c.waitFrom(n, "what becomes of the message", func(r rpcRecord) bool {
		return r.Method == "notify" && r.Message == "[worker] not sent, because the agent has ended: 1 message"
	})
	waitUntil(t, func() bool { return !processExists(pid) })
	var stats struct{ Tokens struct{ Total int } }
	if c.call("get_session_stats", nil, &stats); stats.Tokens.Total != 185 {
		t.Errorf("the session has used %d tokens, want those of all", stats.Tokens.Total)
	}
	if status := c.end(); status != 0 {
		t.Errorf("status %d, %s", status, c.stderr.String())
	}
}

// agentRecord is a record about an agent that works for the call of the tool ask, in words; "" for
// another record.
func agentRecord(t *testing.T, line string) string {
	t.Helper()
	var r struct {
		Type, Name, Prompt, StopReason, Text, ToolCallID, ToolName string
		PartialResult                                              struct{ Content []struct{ Text string } }
		Entry                                                      struct {
			Type, Kind, Note string
			Usage            struct{ TotalTokens int }
		}
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	switch {
	case strings.HasPrefix(r.Type, "child_") && r.ToolCallID == "":
		return r.Type + " without a call"
	case r.Type == "child_start":
		return "child_start " + r.Name + " in ask: " + r.Prompt
	case r.Type == "child_end":
		return "child_end " + r.Name + " in ask: " + r.StopReason + ", " + r.Text
	case r.Type == "tool_execution_update":
		return "progress of " + r.ToolName + ": " + r.PartialResult.Content[0].Text
	case r.Entry.Type == "usage":
		text, _ := json.Marshal(r.Entry.Usage.TotalTokens)
		return "usage " + r.Entry.Note + " " + string(text)
	}
	return ""
}

// In an editor the agent of a tool is output of the call, and another one a call of the kind think.
func TestAnEditorSeesAgents(t *testing.T) {
	t.Parallel()
	w, began := worldOfAgents(t)
	e := w.editor(object{}, "--model", "local/small")
	id := e.New(w.project)
	if ends := e.Prompt(id, "look"); ends != "end_turn" {
		t.Fatal(ends)
	}
	shown := false // what the agent did, in the call that it worked for
	for _, u := range e.Updates(id) {
		switch {
		case u.Tool == "think":
			t.Errorf("a call of its own: %+v", u)
		case u.Kind == "tool_call_update" && strings.HasPrefix(u.Text(), "bash echo two"):
			shown = true
		}
	}
	if !shown {
		t.Errorf("the call does not show what the agent does: %+v", e.Updates(id))
	}

	e.Forget()
	e.Prompt(id, "/begin wait")
	pid := began()
	first := e.WaitUpdate("a call", func(u acptest.Update) bool { return u.Kind == "tool_call" })
	if first.Tool != "think" || first.Title != "worker: wait" || first.Status != "in_progress" {
		t.Errorf("%+v", first)
	}
	e.WaitUpdate("what it does", func(u acptest.Update) bool {
		return u.CallID == first.CallID && strings.HasPrefix(u.Text(), "bash echo $$ > began")
	})
	e.Prompt(id, "/agents end worker")
	last := e.WaitUpdate("its end", func(u acptest.Update) bool {
		return u.CallID == first.CallID && (u.Status == "failed" || u.Status == "completed")
	})
	if last.Status != "failed" || last.Text() != "interrupted" {
		t.Errorf("%+v", last)
	}
	waitUntil(t, func() bool { return !processExists(pid) })
	var listed struct{ Sessions []struct{ SessionID string } }
	if e.Must("session/list", object{"cwd": w.project}, &listed); len(listed.Sessions) != 1 || listed.Sessions[0].SessionID != id {
		t.Errorf("the editor is offered %+v", listed.Sessions)
	}
	if status := e.end(); status != 0 || e.stderr.Len() > 0 {
		t.Errorf("status %d, %s", status, e.stderr.String())
	}
}

// A session that agents worked for, and that of an agent, are what another program that knows the format
// finds in a file: it begins with the header, takes the last line as the leaf, goes up from there by the
// parents, and leaves out types that it does not know.
func TestSessionsWithAgentsReadAsAllSessions(t *testing.T) {
	t.Parallel()
	w, _ := worldOfAgents(t)
	w.output(0, "--model", "local/small", "-p", "look")
	files, err := filepath.Glob(w.agentFile("sessions/*/*.jsonl"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	var got []string
	for _, file := range files {
		got = append(got, readAsOthers(t, file, files))
	}
	slices.Sort(got)
	want := []string{
		"child: user assistant(bash) toolResult(bash) assistant",
		"user assistant(ask) toolResult(ask) assistant",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// readAsOthers returns the roles in the context of a session file, with the tools.
func readAsOthers(t *testing.T, file string, all []string) string {
	t.Helper()
	type entry struct {
		Type, ID, Timestamp, ParentSession string
		ParentID                           *string
		Version                            int
		Message                            struct {
			Role, ToolName string
			Content        []struct{ Type, Name string }
		}
	}
	lines := strings.Split(strings.TrimSuffix(mustRead(t, file), "\n"), "\n")
	entries := make([]entry, len(lines))
	byID := map[string]entry{}
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &entries[i]); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if entries[i].ID == "" || entries[i].Timestamp == "" {
			t.Errorf("no entry: %s", line)
		}
		byID[entries[i].ID] = entries[i]
	}
	header, said := entries[0], ""
	if header.Type != "session" || header.Version != 3 {
		t.Errorf("header %s", lines[0])
	}
	if header.ParentSession != "" {
		said = "child: "
		if !slices.Contains(all, header.ParentSession) {
			t.Errorf("the parent of %s is %s", file, header.ParentSession)
		}
	}
	var words []string
	for at := entries[len(entries)-1]; ; at = byID[*at.ParentID] {
		if m := at.Message; at.Type == "message" {
			word := m.Role
			for _, block := range m.Content {
				if block.Type == "toolCall" {
					word += "(" + block.Name + ")"
				}
			}
			if m.ToolName != "" {
				word += "(" + m.ToolName + ")"
			}
			words = append(words, word)
		}
		if at.ParentID == nil {
			break
		}
		if byID[*at.ParentID].ID == "" {
			t.Fatalf("%s: %s has no parent %s", file, at.ID, *at.ParentID)
		}
	}
	slices.Reverse(words)
	return said + strings.Join(words, " ")
}
