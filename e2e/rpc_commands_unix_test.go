//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rpcAnswers are what the model says in the conversation of all commands.
const rpcAnswers = `text hello
---
call bash {"command":"echo ho"}
---
text done
---
call bash {"command":"echo $$ > began; read x < go"}
---
text steered
---
text followed
---
text half
stall
---
text notes
---
text again
---
text an image
---
text now
---
text later`

// rpcState is the data of get_state.
type rpcState struct {
	Model                                            *struct{ ID, Provider string }
	ThinkingLevel, SteeringMode, FollowUpMode        string
	SessionFile, SessionID, SessionName              string
	IsStreaming, IsCompacting, AutoCompactionEnabled bool
	MessageCount, PendingMessageCount                int
}

func (c *rpcClient) state() (s rpcState) {
	c.t.Helper()
	c.call("get_state", nil, &s)
	return s
}

// rpcEntries is the data of get_entries.
type rpcEntries struct {
	Entries []struct{ ID, Type string }
	LeafID  *string
}

const simpleRun = "agent_start turn_start u " + answerOfWords + " agent_end(ua,false) agent_settled"

// A client goes through all commands of the guide.
func TestAClientGoesThroughAllCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", rpcAnswers, "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	began := w.mailbox("began")
	w.mailbox("go")
	c := w.client("--model", "local/small")
	readsOfAnEmptySession(c)
	c.prompts(object{"message": "hi"}, simpleRun)
	c.prompts(object{"message": "look"}, "agent_start turn_start u "+answerOfCall+" turn_start "+answerOfWords+" agent_end(uata,false) agent_settled")
	queuesInARun(c, began, func() { w.write(filepath.Join(w.project, "go"), "on\n") })
	abortInAStream(c)
	models(c)
	switches(c)
	shells(c)
	compactions(c)
	sessions(c, w)
	afterANewSession(c)
	called := regexp.MustCompile("(?m)^\\| `([a-z_]+)`(?:, `([a-z_]+)`)? \\| ").FindAllStringSubmatch(commandsOfTheGuide(t), -1)
	if len(called) < 30 {
		t.Errorf("the guide has only %d rows", len(called))
	}
	for _, row := range called {
		for _, name := range row[1:] {
			if name != "" && !c.called[name] {
				t.Errorf("%s was not called", name)
			}
		}
	}
	if status := c.end(); status != 0 || c.stderr.Len() > 0 {
		t.Errorf("status %d, %s", status, c.stderr.String())
	}
}

func commandsOfTheGuide(t *testing.T) string {
	t.Helper()
	_, table, _ := strings.Cut(mustRead(t, inModule("docs/rpc.md")), "\n## Commands\n")
	table, _, _ = strings.Cut(table, "\n## ")
	return table
}

func readsOfAnEmptySession(c *rpcClient) {
	c.t.Helper()
	if s := c.state(); s.Model == nil || s.Model.ID != "small" || s.SteeringMode == "" || s.SessionFile == "" || s.SessionID == "" || s.MessageCount != 0 || !s.AutoCompactionEnabled {
		c.t.Errorf("%+v", s)
	}
	for _, kind := range []string{"get_messages", "get_commands", "get_fork_messages"} {
		var data map[string][]any
		if c.call(kind, nil, &data); len(data) != 1 {
			c.t.Errorf("%s: %v", kind, data)
		}
	}
	var entries rpcEntries
	if c.call("get_entries", nil, &entries); entries.LeafID != nil || entries.Entries == nil {
		c.t.Errorf("%+v", entries)
	}
	var text struct{ Text *string }
	if c.call("get_last_assistant_text", nil, &text); text.Text != nil {
		c.t.Errorf("%q", *text.Text)
	}
	c.refused("clone", nil, "not been saved yet")
	c.refused("export_html", nil, "Nothing to export yet")
	c.refused("compact", nil, "Nothing to compact (session too small)")
	if got := c.words(); got != "compaction_start compaction_end(error)" {
		c.t.Error(got)
	}
	c.call("abort", nil, nil)
	c.call("abort_retry", nil, nil)
	c.call("abort_bash", nil, nil)
}

func queuesInARun(c *rpcClient, began func() string, goOn func()) {
	c.t.Helper()
	n := len(c.sofar())
	c.call("prompt", object{"message": "work"}, nil)
	began()
	c.refused("prompt", object{"message": "and?"}, "already processing")
	c.call("steer", object{"message": "A"}, nil)
	c.call("follow_up", object{"message": "B"}, nil)
	var cleared struct{ Steering, FollowUp []string }
	if c.call("clear_queue", nil, &cleared); !slices.Equal(cleared.Steering, []string{"A"}) || !slices.Equal(cleared.FollowUp, []string{"B"}) {
		c.t.Errorf("%+v", cleared)
	}
	var queued struct{ Disposition string }
	if c.call("prompt", object{"message": "then", "streamingBehavior": "followUp"}, &queued); queued.Disposition != "queued" {
		c.t.Errorf("%+v", queued)
	}
	c.call("steer", object{"message": "now"}, nil)
	if s := c.state(); !s.IsStreaming || s.PendingMessageCount != 2 {
		c.t.Errorf("%+v", s)
	}
	goOn()
	c.event(n, "agent_settled")
	got := c.words()
	for _, part := range []string{"queue_update tool_execution_end t turn_end(toolUse,1) turn_start queue_update u " + answerOfWords + " turn_start queue_update u " + answerOfWords + " agent_end(uatuaua,false) agent_settled"} {
		if !strings.Contains(got, part) {
			c.t.Errorf("%s has no %s", got, part)
		}
	}
}

func abortInAStream(c *rpcClient) {
	c.t.Helper()
	n := len(c.sofar())
	c.call("prompt", object{"message": "long"}, nil)
	c.waitFrom(n, "a delta", func(r rpcRecord) bool { return strings.Contains(r.line, `"text_delta"`) })
	c.call("abort", nil, nil)
	if got := c.words(); !strings.HasSuffix(got, "text_start text_delta text_end end(a:aborted) turn_end(aborted,0) agent_end(ua,false) agent_settled!") {
		c.t.Error(got)
	}
	var text struct{ Text *string }
	if c.call("get_last_assistant_text", nil, &text); text.Text == nil || *text.Text != "half" {
		c.t.Errorf("%+v", text)
	}
}

func models(c *rpcClient) {
	c.t.Helper()
	var list struct {
		Models []struct{ Provider, ID string }
	}
	if c.call("get_available_models", nil, &list); len(list.Models) != 3 || list.Models[2].Provider != "demo" {
		c.t.Errorf("%+v", list)
	}
	c.refused("set_model", object{"provider": "local", "modelId": "none"}, "Model not found: local/none")
	c.call("set_thinking_level", object{"level": "off"}, nil)
	var levels struct{ Levels []string }
	if c.call("get_available_thinking_levels", nil, &levels); !slices.Equal(levels.Levels, []string{"off"}) {
		c.t.Errorf("%+v", levels)
	}
	var large struct{ ID string }
	if c.call("set_model", object{"provider": "local", "modelId": "large"}, &large); large.ID != "large" {
		c.t.Errorf("%+v", large)
	}
	c.words()
	c.call("set_thinking_level", object{"level": "high"}, nil)
	var level struct{ Level string }
	if c.call("cycle_thinking_level", nil, &level); level.Level == "high" || level.Level == "" {
		c.t.Errorf("%+v", level)
	}
	if got := c.words(); got != "thinking_level_changed thinking_level_changed" {
		c.t.Error(got)
	}
	c.call("set_model", object{"provider": "local", "modelId": "small"}, nil)
	var cycled struct {
		Model         struct{ ID string }
		ThinkingLevel string
		IsScoped      *bool
	}
	if c.call("cycle_model", nil, &cycled); cycled.Model.ID == "" || cycled.ThinkingLevel == "" || cycled.IsScoped == nil || *cycled.IsScoped {
		c.t.Errorf("%+v", cycled)
	}
	c.call("set_model", object{"provider": "local", "modelId": "small"}, nil)
	c.words()
}

func switches(c *rpcClient) {
	c.t.Helper()
	c.call("set_steering_mode", object{"mode": "all"}, nil)
	c.call("set_follow_up_mode", object{"mode": "all"}, nil)
	c.call("set_auto_compaction", object{"enabled": false}, nil)
	c.call("set_auto_retry", object{"enabled": false}, nil)
	if s := c.state(); s.SteeringMode != "all" || s.FollowUpMode != "all" || s.AutoCompactionEnabled || s.Model.ID != "small" {
		c.t.Errorf("%+v", s)
	}
	c.refused("set_steering_mode", object{"mode": "bogus"}, `"mode" must be`)
	c.call("set_auto_compaction", object{"enabled": true}, nil)
}

func shells(c *rpcClient) {
	c.t.Helper()
	var done struct {
		Output    string
		ExitCode  *int
		Cancelled bool
	}
	if c.call("bash", object{"command": "echo out; echo err >&2; exit 4"}, &done); done.ExitCode == nil || *done.ExitCode != 4 || len(done.Output) != 8 {
		c.t.Errorf("%+v", done)
	}
	n := len(c.sofar())
	id := c.start("bash", object{"command": "echo begun; sleep 1000"})
	c.event(n, "bash_execution_update")
	c.call("abort_bash", nil, nil)
	done.ExitCode = nil
	if c.succeeds(id, &done); !done.Cancelled || done.ExitCode != nil {
		c.t.Errorf("%+v", done)
	}
	var stats struct {
		UserMessages, ToolCalls, TotalMessages int
		Tokens                                 map[string]int
		ContextUsage                           map[string]any
	}
	if c.call("get_session_stats", nil, &stats); stats.UserMessages != 6 || stats.ToolCalls != 2 || stats.Tokens["total"] == 0 || stats.ContextUsage["contextWindow"] != 1e5 {
		c.t.Errorf("%+v", stats)
	}
	c.words()
	c.call("set_session_name", object{"name": " a name "}, nil)
	if got := c.words(); got != "session_info_changed" || c.state().SessionName != "a name" {
		c.t.Error(got)
	}
	c.refused("set_session_name", object{"name": "  "}, "cannot be empty")
}

func compactions(c *rpcClient) {
	c.t.Helper()
	var done struct {
		Summary, FirstKeptEntryID          string
		TokensBefore, EstimatedTokensAfter int
	}
	if c.call("compact", object{"customInstructions": "short"}, &done); !strings.Contains(done.Summary, "notes") || done.FirstKeptEntryID == "" {
		c.t.Errorf("%+v", done)
	}
	c.refused("compact", nil, "Already compacted")
	if got := c.words(); got != "compaction_start compaction_end(done) compaction_start compaction_end(error)" {
		c.t.Error(got)
	}
}

func sessions(c *rpcClient, w *world) {
	c.t.Helper()
	var all, since rpcEntries
	c.call("get_entries", nil, &all)
	if len(all.Entries) < 10 || all.LeafID == nil {
		c.t.Fatalf("%+v", all)
	}
	if c.call("get_entries", object{"since": all.Entries[2].ID}, &since); !slices.Equal(since.Entries, all.Entries[3:]) {
		c.t.Errorf("%+v", since)
	}
	c.refused("get_entries", object{"since": "zzz"}, "Entry not found: zzz")
	var tree struct {
		Tree   []map[string]any
		LeafID string
	}
	if c.call("get_tree", nil, &tree); len(tree.Tree) == 0 || tree.Tree[0]["entry"] == nil || tree.LeafID != *all.LeafID {
		c.t.Errorf("%+v", tree)
	}
	var page struct{ Path string }
	c.call("export_html", object{"outputPath": "page.html"}, &page)
	if text, err := os.ReadFile(filepath.Join(w.project, "page.html")); err != nil || !strings.Contains(string(text), "steered") {
		c.t.Errorf("%+v: %v", page, err)
	}
	var forks struct {
		Messages []struct{ EntryID, Text string }
	}
	if c.call("get_fork_messages", nil, &forks); len(forks.Messages) != 6 || forks.Messages[1].Text != "look" {
		c.t.Fatalf("%+v", forks)
	}
	first := c.state()
	var forked struct {
		Text      string
		Cancelled *bool
	}
	if c.call("fork", object{"entryId": forks.Messages[1].EntryID}, &forked); forked.Text != "look" || forked.Cancelled == nil || *forked.Cancelled {
		c.t.Errorf("%+v", forked)
	}
	if s := c.state(); s.SessionID == first.SessionID || s.MessageCount != 2 || s.SessionName != "a name" {
		c.t.Errorf("%+v", s)
	}
	c.refused("fork", object{"entryId": "zzz"}, "Invalid entry ID for forking")
	c.call("switch_session", object{"sessionPath": first.SessionFile}, nil)
	if s := c.state(); s.SessionID != first.SessionID || s.MessageCount != first.MessageCount {
		c.t.Errorf("%+v, want %+v", s, first)
	}
	c.call("clone", nil, nil)
	if s := c.state(); s.SessionID == first.SessionID || s.MessageCount != first.MessageCount {
		c.t.Errorf("%+v, a copy of %+v", s, first)
	}
	c.call("new_session", object{"parentSession": first.SessionFile}, nil)
	if s := c.state(); s.MessageCount != 0 || s.SessionName != "" || s.Model.ID != "small" || s.SteeringMode != "all" {
		c.t.Errorf("%+v", s)
	}
}

func afterANewSession(c *rpcClient) {
	c.t.Helper()
	c.prompts(object{"message": "again"}, simpleRun)
	c.prompts(object{"message": "look", "images": []any{object{"type": "image", "mimeType": "image/png", "data": onePixel}}}, simpleRun)
	c.call("follow_up", object{"message": "later"}, nil)
	c.call("steer", object{"message": "soon"}, nil)
	if s := c.state(); s.IsStreaming || s.PendingMessageCount != 2 {
		c.t.Errorf("%+v", s)
	}
	c.prompts(object{"message": "now"}, "agent_start turn_start u queue_update u "+answerOfWords+" turn_start queue_update u "+answerOfWords+" agent_end(uuaua,false) agent_settled")
}
