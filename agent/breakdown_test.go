package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"pi/agent/instructions"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// oneOfEach is a message of each kind, told apart by their lengths.
func oneOfEach() []*message.Message {
	words := func(n int) []message.Block { return []message.Block{message.TextBlock(strings.Repeat("abcd", n))} }
	code := 1
	return []*message.Message{
		{Role: message.RoleSystem, Content: words(1000)},
		{Role: message.RoleUser, Content: append(words(10), message.Block{Type: message.BlockImage, Data: "AAAA", MimeType: "image/png"})},
		{Role: message.RoleAssistant, StopReason: message.StopToolUse, Content: append(words(20),
			message.Block{Type: message.BlockThinking, Text: strings.Repeat("abcd", 30)},
			message.Block{Type: message.BlockToolCall, ID: "1", Name: "look", Arguments: json.RawMessage(`{"n":1}`)},
			message.Block{Type: message.BlockToolCall, ID: "2", Name: "look", Arguments: json.RawMessage(`{"n":2}`)})},
		{Role: message.RoleToolResult, ToolCallID: "1", ToolName: "look", Content: words(40)},
		{Role: message.RoleToolResult, ToolCallID: "2", ToolName: "look", Content: words(50), IsError: true},
		{Role: message.RoleBashExecution, Command: "ls", Output: strings.Repeat("abcd", 60), ExitCode: &code},
		{Role: message.RoleBashExecution, Command: "ls", Output: strings.Repeat("abcd", 60), ExcludeFromContext: true},
		{Role: message.RoleAssistant, StopReason: message.StopError, Content: words(70)},
		{Role: message.RoleAssistant, StopReason: message.StopEnd, Content: words(80)},
	}
}

// filled is a harness whose session holds one of each, a hook's message and a summary.
func filled(t *testing.T, o Options) *harness {
	r := newHarness(t, o, say("1"), say("2"))
	for _, m := range oneOfEach() {
		if _, err := r.Session().AppendMessage(m); err != nil {
			t.Fatal(err)
		}
	}
	_, err := r.Session().Append(session.TypeCustomMessage, session.CustomMessage{CustomType: "todo", Content: []message.Block{message.TextBlock("four")}})
	if err == nil {
		_, err = r.Session().Append(session.TypeBranchSummary, session.BranchSummary{FromID: "root", Summary: "left behind"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantSums holds that parts add up to their source, and sources to the whole.
func wantSums(t *testing.T, b Breakdown) {
	t.Helper()
	sum := 0
	for _, s := range b.Sources {
		sum += s.Tokens
		parts := 0
		for _, p := range s.Parts {
			parts += p.Tokens
		}
		if len(s.Parts) > 0 && parts != s.Tokens {
			t.Errorf("the parts of %s add up to %d, it has %d", s.Name, parts, s.Tokens)
		}
	}
	if sum != b.Tokens {
		t.Errorf("the sources add up to %d, the whole is %d", sum, b.Tokens)
	}
}

func sourceOfName(b Breakdown, name string) Source {
	for _, s := range b.Sources {
		if s.Name == name {
			return s
		}
	}
	return Source{}
}

func part(s Source, name string) Source {
	for _, p := range s.Parts {
		if p.Name == name {
			return p
		}
	}
	return Source{}
}

func TestTheBreakdownSaysWhereEverythingIsFrom(t *testing.T) {
	r := filled(t, Options{Tools: []Tool{echo("look"), sourced{echo("other")}}, Prompt: &SystemPrompt{Append: "And smile.",
		Files: []instructions.File{{Path: "/a/AGENTS.md", Text: "Be brief."}, {Path: "/b/AGENTS.md", Text: strings.Repeat("Be kind. ", 20)}}}})
	b := r.Meter().Breakdown()
	wantSums(t, b)
	if b.Counted != 0 || b.Tokens != r.Totals().Tokens {
		t.Errorf("%d of %d counted, ctx.usage has %d", b.Counted, b.Tokens, r.Totals().Tokens)
	}
	user, model, results := sourceOfName(b, SourceUser), sourceOfName(b, SourceModel), sourceOfName(b, SourceResults)
	if user.Tokens != 1210 || user.Count != 1 {
		t.Errorf("of the person: %+v", user)
	}
	if model.Count != 2 || part(model, "thinking").Tokens != 30 || part(model, "text").Tokens != 100 || part(model, "calls").Count != 2 {
		t.Errorf("of the model: %+v", model)
	}
	if results.Tokens != 90 || part(results, "look").Count != 2 {
		t.Errorf("results: %+v", results)
	}
	if s := sourceOfName(b, SourceCommands); s.Count != 1 || s.Tokens < 60 {
		t.Errorf("commands: %+v", s)
	}
	if s := sourceOfName(b, SourceHooks); s.Count != 1 || part(s, "todo").Tokens != 1 {
		t.Errorf("hooks: %+v", s)
	}
	if s := sourceOfName(b, SourceSummaries); part(s, "branch").Count != 1 {
		t.Errorf("summaries: %+v", s)
	}
	if s := sourceOfName(b, SourceTools); s.Count != 2 || part(s, "other").Note != "of bringer" {
		t.Errorf("tools: %+v", s)
	}
	system := sourceOfName(b, SourceSystem)
	for _, name := range []string{sectionRole, sectionTools, sectionGuidelines, sectionAppend, "/a/AGENTS.md", "/b/AGENTS.md", sectionEnvironment} {
		if part(system, name).Tokens == 0 {
			t.Errorf("nothing of %s: %+v", name, system)
		}
	}
	var unsent []string
	for _, s := range b.Unsent {
		unsent = append(unsent, s.Name)
	}
	if got := strings.Join(unsent, ", "); got != "system messages of another program, commands kept out of the context, failed or interrupted answers" {
		t.Errorf("not sent: %s", got)
	}
}

func TestTheBreakdownAddsUpWhateverHappened(t *testing.T) {
	usage := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 4000, Output: 20}}
	counted := deltas(text("counted"), usage, stop(message.StopEnd))
	tests := map[string]func(t *testing.T, r *harness){
		"nothing":                func(*testing.T, *harness) {},
		"an answer that counted": func(_ *testing.T, r *harness) { r.prompt("x") },
		"a compaction": func(t *testing.T, r *harness) {
			r.prompt("x")
			if _, err := r.Session().Append(session.TypeCompaction, session.Compaction{Summary: "so far", FirstKeptEntryID: r.Session().Leaf()}); err != nil {
				t.Fatal(err)
			}
		},
		"an edit": func(t *testing.T, r *harness) {
			r.prompt("x")
			if _, err := r.EditContext(t.Context(), r.Seen()[3].Entry.ID, nil); err != nil {
				t.Fatal(err)
			}
		},
		"another branch": func(t *testing.T, r *harness) {
			if _, err := moveLeaf(r.Session(), r.Session().Branch()[2].ID); err != nil {
				t.Fatal(err)
			}
		},
		"a new session": func(t *testing.T, r *harness) {
			if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, happens := range tests {
		t.Run(name, func(t *testing.T) {
			for _, hooks := range [][]Listener{nil, (&named{hook: "one", context: inserting(0, always("rules"))}).listeners(),
				(&named{hook: "mood", system: func(int) string { return "Be merry." }}).listeners()} {
				r := filled(t, Options{Listeners: hooks})
				r.model.replies = []reply{counted}
				happens(t, r)
				b := r.Meter().Breakdown()
				wantSums(t, b)
				if b.Counted > 0 && b.Tokens != r.Totals().Tokens || b.Tokens <= 0 {
					t.Errorf("%d tokens, ctx.usage has %d", b.Tokens, r.Totals().Tokens)
				}
			}
		})
	}
}

func TestTheBreakdownSaysWhatEachHookDid(t *testing.T) {
	cut := func(_ int, items []session.Item) []session.Item {
		var out []session.Item
		for i, it := range items {
			switch i {
			case 1, 3: // left out
			case 4:
				it.Message = it.Message.Clone()
				it.Message.Content = []message.Block{message.TextBlock("shortened")}
				out = append(out, it)
			default:
				out = append(out, it)
			}
		}
		return append(out, synthetic("added by me"))
	}
	one, two := &named{hook: "one", context: cut}, &named{hook: "two", context: func(_ int, items []session.Item) []session.Item { return items }}
	r := filled(t, Options{Listeners: append(one.listeners(), two.listeners()...)})
	r.Start(t.Context())
	b := r.Meter().Breakdown()
	wantSums(t, b)
	want := []HookEffect{
		{Hook: "one", Removed: Amount{Messages: 2, Tokens: 1250}, Added: Amount{Messages: 1, Tokens: 3}, Changed: Amount{Messages: 1, Tokens: 50}, ChangedTo: 3},
		{Hook: "two"},
	}
	if len(b.Hooks) != 2 || b.Hooks[0] != want[0] || b.Hooks[1] != want[1] {
		t.Errorf("%+v\nwant %+v", b.Hooks, want)
	}
	if p := part(sourceOfName(b, SourceHooks), "hook one"); p.Count != 1 || p.Tokens != 3 {
		t.Errorf("of the hooks: %+v", sourceOfName(b, SourceHooks))
	}
}

func TestTheBreakdownShowsAPromptThatAHookReplaced(t *testing.T) {
	replace := on(func(e *BeforeAgentStart) {
		e.SystemPrompt = strings.Repeat("abcd", 25)
		e.Stages = append(e.Stages, PromptStage{By: "bard", Value: e.SystemPrompt})
	})
	r := newHarness(t, Options{Listeners: []Listener{replace}}, say("1"))
	r.prompt("x")
	b := r.Meter().Breakdown()
	wantSums(t, b)
	if s := sourceOfName(b, SourceSystem); s.Tokens != 25 || len(s.Parts) != 1 || s.Parts[0].Note != "of bard" {
		t.Errorf("%+v", s)
	}
}
