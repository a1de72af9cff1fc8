package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/testing/acptest"
	"pi/session/message"
)

// callTools returns a model that makes calls and then says "done".
func callTools(calls ...llm.Delta) model {
	return answering(map[string][]llm.Delta{"go": append(calls, stop(message.StopToolUse))})
}

// seen is what the client was shown of a call, one update after the other.
func seen(r *running, id, call string) (all []acptest.Update) {
	for _, u := range r.Updates(id) {
		if u.CallID == call {
			all = append(all, u)
		}
	}
	return all
}

// statuses are the statuses of updates, where they have one.
func statuses(all []acptest.Update) string {
	var got []string
	for _, u := range all {
		if u.Status != "" && (len(got) == 0 || got[len(got)-1] != u.Status) {
			got = append(got, u.Status)
		}
	}
	return strings.Join(got, " ")
}

func TestHowCallsAreShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, args, kind, title, location, statuses, content string }{
		{"read", `{"path":"a.txt"}`, "read", "read `a.txt`", "a.txt:0", "pending in_progress completed", "one\ntwo\n"},
		{"read", `{"path":"a.txt","offset":2}`, "read", "read `a.txt:2`", "a.txt:2", "pending in_progress completed", "two\n"},
		{"read", `{"path":"dot.png"}`, "read", "read `dot.png`", "dot.png:0", "pending in_progress completed", "<image/png>"},
		{"bash", `{"command":"echo hi;\n  echo ho"}`, "execute", "echo hi; echo ho", "", "pending in_progress completed", "hi\nho"},
		{"bash", `{"command":"exit 3"}`, "execute", "exit 3", "", "pending in_progress failed", "[exit code 3]"},
		{"edit", `{"path":"a.txt","oldText":"two","newText":"zwei"}`, "edit", "edit `a.txt`", "a.txt:2", "pending in_progress completed", "<one\ntwo\n|one\nzwei\n>"},
		{"edit", `{"path":"a.txt","oldText":"six","newText":"x"}`, "edit", "edit `a.txt`", "a.txt:0", "pending in_progress failed", "edit a.txt"},
		{"write", `{"path":"new.txt","content":"new"}`, "edit", "write `new.txt`", "new.txt:0", "pending in_progress completed", "<nil|new>"},
		{"grep", `{"pattern":"tw.","path":"a.txt"}`, "search", "grep tw. `a.txt`", "a.txt:0", "pending in_progress completed", "two"},
		{"find", `{"pattern":"*.txt"}`, "search", "find *.txt", ".:0", "pending in_progress completed", "a.txt"},
		{"ls", `{}`, "read", "ls", ".:0", "pending in_progress completed", "a.txt"},
		{"looking", `{"at":"it"}`, "read", `looking {"at":"it"}`, "", "pending in_progress completed", "looked"},
		{"fetching", `{}`, "fetch", "fetching", "", "pending in_progress completed", "looked"},
		{"plain", `{}`, "other", "plain", "", "pending in_progress completed", "looked"},
		{"nothing", `{"a":1}`, "other", `nothing {"a":1}`, "", "pending failed", `unknown tool "nothing"`},
		{"read", `{"file":1}`, "read", "read", "", "pending failed", "path"},
		{"read", `{"path":`, "read", "read", "", "pending failed", "not run"},
		{"bash", `{"command":"blocked"}`, "execute", "blocked", "", "pending failed", "not today"},
		{"bash", `{"command":"broken"}`, "execute", "broken", "", "pending failed", "the gate broke"},
	} {
		t.Run(c.tool+" "+c.args, func(t *testing.T) {
			t.Parallel()
			h := &host{model: callTools(calling("c", c.tool, c.args)), edit: func(o *agent.Options) {
				o.Tools = append(o.Tools, saysTool{"looking", agent.Annotations{ReadOnly: true}}, saysTool{"fetching", agent.Annotations{Kind: "fetch", ReadOnly: true}}, saysTool{"plain", agent.Annotations{}})
			}, hooks: blocking}
			r, id := openedIn(t, h, object{})
			r.write(t, "a.txt", "one\ntwo\n")
			if err := os.WriteFile(filepath.Join(r.cwd, "dot.png"), pngBytes(t), 0o600); err != nil {
				t.Fatal(err)
			}
			if ends := r.Prompt(id, "go"); ends != "end_turn" {
				t.Fatal(ends)
			}
			all := seen(r, id, "c")
			if len(all) < 2 {
				t.Fatalf("%d updates", len(all))
			}
			var shown acptest.Update
			for _, u := range all {
				merge(&shown, u)
			}
			at := ""
			for _, l := range shown.Locations {
				rel, _ := filepath.Rel(r.cwd, l.Path)
				at = fmt.Sprintf("%s:%d", rel, l.Line)
			}
			if got := fmt.Sprintf("%s, %s, %s, %s, %s, %s", shown.Name, shown.Tool, shown.Title, at, statuses(all), all[0].Kind); got !=
				fmt.Sprintf("%s, %s, %s, %s, %s, tool_call", c.tool, c.kind, c.title, c.location, c.statuses) {
				t.Errorf("%s", got)
			}
			if got := shownContent(t, shown.Content); !strings.Contains(got, c.content) {
				t.Errorf("%q lacks %q", got, c.content)
			}
			if json.Valid([]byte(c.args)) && string(shown.RawInput) != c.args {
				t.Errorf("the input is %s", shown.RawInput)
			}
		})
	}
}

// merge does with a later update what clients do.
func merge(into *acptest.Update, u acptest.Update) {
	for _, f := range []struct{ to, from *string }{{&into.Name, &u.Name}, {&into.Title, &u.Title}, {&into.Tool, &u.Tool}, {&into.Status, &u.Status}} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if u.Content != nil {
		into.Content = u.Content
	}
	if u.Locations != nil {
		into.Locations = u.Locations
	}
	if u.RawInput != nil {
		into.RawInput = u.RawInput
	}
}

// shownContent writes the content of a call in one text.
func shownContent(t *testing.T, content json.RawMessage) string {
	t.Helper()
	var list []struct {
		Type    string
		Content struct{ Text, MimeType string }
		OldText *string
		NewText string
	}
	if err := json.Unmarshal(content, &list); err != nil {
		t.Fatalf("%s: %v", content, err)
	}
	var b strings.Builder
	for _, each := range list {
		switch {
		case each.Type == "diff" && each.OldText == nil:
			fmt.Fprintf(&b, "<nil|%s>", each.NewText)
		case each.Type == "diff":
			fmt.Fprintf(&b, "<%s|%s>", *each.OldText, each.NewText)
		case each.Content.MimeType != "":
			fmt.Fprintf(&b, "<%s>", each.Content.MimeType)
		default:
			b.WriteString(each.Content.Text)
		}
	}
	return b.String()
}

// saysTool is a tool that says what it does.
type saysTool struct {
	name string
	says agent.Annotations
}

func (s saysTool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: s.name, Parameters: json.RawMessage(`{"type":"object"}`)}
}

func (s saysTool) Annotations() agent.Annotations { return s.says }

func (saysTool) Run(context.Context, json.RawMessage, agent.Update) (agent.Result, error) {
	return agent.TextResult("looked"), nil
}

// blocking is a hook that blocks some commands.
func blocking(SessionRequest) agent.Listener {
	return listening(func(_ context.Context, e agent.Event) error {
		if e, ok := e.(*agent.ToolCall); ok {
			switch {
			case strings.Contains(string(e.Input), "blocked"):
				e.Block, e.Reason = true, "not today"
			case strings.Contains(string(e.Input), "broken"):
				return fmt.Errorf("the gate broke")
			}
		}
		return nil
	})
}

// The output of a command is shown whole, again and again, though not too often.
func TestOutputIsShownWhileItComes(t *testing.T) {
	t.Parallel()
	h := &host{model: callTools(calling("c", "bash", `{"command":"for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 0.05; done"}`))}
	r, id := openedIn(t, h, object{})
	began := time.Now()
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	took := time.Since(began)
	var texts []string
	for _, u := range seen(r, id, "c") {
		if u.Content != nil && u.Status == "" {
			texts = append(texts, u.Text())
		}
	}
	if len(texts) < 2 || len(texts) > int(took/progressPause)+2 {
		t.Errorf("%d updates in %v", len(texts), took)
	}
	for i, text := range texts {
		if !strings.HasPrefix(text, "line 1") || i > 0 && len(text) < len(texts[i-1]) {
			t.Errorf("update %d: %q", i, text)
		}
	}
}

// Text and calls keep their order, and calls with one id are told apart.
func TestTextAndCallsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	turns := 0
	h := &host{model: func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		turns++
		deltas := []llm.Delta{text("A"), calling("c", "ls", "{}"), {Kind: llm.DeltaText, Index: 9000, Text: "B"}, stop(message.StopToolUse)}
		if turns == 3 {
			deltas = []llm.Delta{text("C"), stop(message.StopEnd)}
		}
		for _, d := range deltas {
			if !yield(d, nil) {
				return
			}
		}
	}}
	r, id := openedIn(t, h, object{})
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	var got []string
	for _, u := range r.Updates(id) {
		switch u.Kind {
		case agentChunk:
			got = append(got, u.Text())
		case "tool_call":
			got = append(got, u.CallID)
		}
	}
	if text := strings.Join(got, " "); text != "A c B A c#2 B C" {
		t.Error(text)
	}
	if s := statuses(seen(r, id, "c#2")); s != "pending in_progress completed" {
		t.Error(s)
	}
}

func failedWrite(err error) *acptest.Error {
	if err != nil {
		return &acptest.Error{Code: codeBug, Message: err.Error()}
	}
	return nil
}

// A client that does not answer for a file fails the call in words.
func TestAFileIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	r := serve(t, &host{model: callTools(calling("c", "read", `{"path":"a.txt"}`))}, func(o *Options) { o.FileWait = 20 * time.Millisecond })
	r.write(t, "a.txt", "disk")
	r.Initialize(object{"fs": object{"readTextFile": true}})
	r.Handle("fs/read_text_file", func(acptest.Line) (any, *acptest.Error) { return nil, nil })
	id := r.New(r.cwd)
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	all := seen(r, id, "c")
	if last := all[len(all)-1]; last.Status != "failed" || !strings.Contains(last.Text(), "has not answered for 20ms; --no-client-files leaves it out") {
		t.Errorf("%s: %s", last.Status, last.Text())
	}
}

// Text goes through the client, as far as it has files.
func TestFilesOfTheClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tool, args string
		fs               object
		refuse           bool
		asks, disk       string
	}{
		{"read", "read", `{"path":"a.txt"}`, object{"readTextFile": true, "writeTextFile": true}, false, "fs/read_text_file", "disk"},
		{"edit", "edit", `{"path":"a.txt","oldText":"buffer","newText":"x"}`, object{"readTextFile": true, "writeTextFile": true}, false, "fs/read_text_file fs/write_text_file=x", "x"},
		{"write", "write", `{"path":"b.txt","content":"new"}`, object{"writeTextFile": true}, false, "fs/write_text_file=new", "disk"},
		{"edit with one", "edit", `{"path":"a.txt","oldText":"disk","newText":"x"}`, object{"readTextFile": true}, false, "", "x"},
		{"refused", "write", `{"path":"b.txt","content":"new"}`, object{"writeTextFile": true}, true, "fs/write_text_file=new", "disk"},
		{"none", "read", `{"path":"a.txt"}`, object{}, false, "", "disk"},
		{"elsewhere", "read", `{"path":"/etc/hostname"}`, object{"readTextFile": true}, false, "", "disk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, &host{model: callTools(calling("c", c.tool, c.args))})
			path := r.write(t, "a.txt", "disk")
			r.Initialize(object{"fs": c.fs})
			r.Handle("fs/read_text_file", func(l acptest.Line) (any, *acptest.Error) { return object{"content": "buffer"}, nil })
			r.Handle("fs/write_text_file", func(l acptest.Line) (any, *acptest.Error) {
				if c.refuse {
					return nil, &acptest.Error{Code: -32603, Message: "the buffer is read-only"}
				}
				var text string
				if err := json.Unmarshal(l.Params.Content, &text); err != nil {
					t.Error(err)
				}
				return object{}, failedWrite(os.WriteFile(l.Params.Path, []byte(text), 0o600))
			})
			id := r.New(r.cwd)
			if ends := r.Prompt(id, "go"); ends != "end_turn" {
				t.Fatal(ends)
			}
			var asks []string
			for _, l := range r.Lines() {
				if strings.HasPrefix(l.Method, "fs/") {
					ask := l.Method
					var content string
					if l.Params.Content != nil && json.Unmarshal(l.Params.Content, &content) == nil {
						ask += "=" + content
					}
					asks = append(asks, ask)
					if !strings.HasPrefix(l.Params.Path, r.cwd) || l.Params.SessionID != id {
						t.Errorf("%s", l.Raw)
					}
				}
			}
			if got := strings.Join(asks, " "); got != c.asks {
				t.Errorf("asked %s", got)
			}
			if got, _ := os.ReadFile(path); string(got) != c.disk {
				t.Errorf("the disk has %q", got)
			}
			all := seen(r, id, "c")
			if last := all[len(all)-1]; (last.Status == "failed") != c.refuse || c.refuse && !strings.Contains(last.Text(), "the buffer is read-only") {
				t.Errorf("%s: %s", last.Status, last.Text())
			}
		})
	}
}
