package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"pi/agent/instructions"
	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// countedAs is an answer of which the provider says how large the context was.
func countedAs(tokens int) reply {
	return deltas(text("four"), llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: tokens - 5, Output: 5}}, stop(message.StopEnd))
}

// TestUsageKnowsAtOnceWhatTheContextHasBecome has two prompts of 400 and 100
// tokens, whose answers were counted as 1000 and 1200.
func TestUsageKnowsAtOnceWhatTheContextHasBecome(t *testing.T) {
	prompts := []string{strings.Repeat("abcd", 400), strings.Repeat("abcd", 100)}
	edit := func(t *testing.T, r *harness, n int, to *session.Replacement) {
		if _, err := r.EditContext(t.Context(), r.Seen()[n].Entry.ID, to); err != nil {
			t.Fatal(err)
		}
	}
	short := &session.Replacement{Content: []message.Block{message.TextBlock(strings.Repeat("abcd", 30))}}
	tests := map[string]struct {
		happens func(t *testing.T, r *harness)
		want    int // and, where no answer counted it, what is around the messages
	}{
		"nothing":      {func(*testing.T, *harness) {}, 1200},
		"a label":      {func(t *testing.T, r *harness) { _ = r.SetLabel(t.Context(), r.Session().Leaf(), "here") }, 1200},
		"taken out":    {func(t *testing.T, r *harness) { edit(t, r, 0, nil) }, 800},
		"shortened":    {func(t *testing.T, r *harness) { edit(t, r, 0, short) }, 830},
		"edited twice": {func(t *testing.T, r *harness) { edit(t, r, 0, short); edit(t, r, 0, nil) }, 800},
		"the answer itself edited": {func(t *testing.T, r *harness) {
			edit(t, r, 3, &session.Replacement{Content: []message.Block{message.TextBlock("4")}})
		}, 1200},
		"more behind it": {func(t *testing.T, r *harness) {
			edit(t, r, 0, nil)
			if _, err := r.Session().AppendMessage(userMessage([]message.Block{message.TextBlock(strings.Repeat("abcd", 7))})); err != nil {
				t.Fatal(err)
			}
		}, 807},
		"back to the first answer": {func(t *testing.T, r *harness) {
			if _, err := moveLeaf(r.Session(), r.Seen()[1].Entry.ID); err != nil {
				t.Fatal(err)
			}
		}, 1000},
		"back to the first prompt": {func(t *testing.T, r *harness) {
			if _, err := moveLeaf(r.Session(), r.Seen()[0].Entry.ID); err != nil {
				t.Fatal(err)
			}
		}, 400},
		"a compaction": {func(t *testing.T, r *harness) {
			if _, err := r.Session().Append(session.TypeCompaction, session.Compaction{Summary: "so far", FirstKeptEntryID: r.Seen()[2].Entry.ID}); err != nil {
				t.Fatal(err)
			}
		}, 100 + 1 + compaction.EstimateTokens(&message.Message{Role: message.RoleCompactionSummary, Summary: "so far"})},
		"another session": {func(t *testing.T, r *harness) {
			if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
				t.Fatal(err)
			}
		}, 0},
	}
	for name, test := range tests {
		for _, resumed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r := newHarness(t, Options{}, countedAs(1000), countedAs(1200))
				r.prompt(prompts[0])
				r.prompt(prompts[1])
				r.conversation.refresh(t.Context())
				if resumed { // what this process does not know stands in the file
					r.sent.last = nil
				}
				test.happens(t, r)
				want := test.want
				if r.Meter().Breakdown().Counted == 0 {
					want += aroundMessages(r)
				}
				if got := r.Totals().Tokens; got != want {
					t.Errorf("%d tokens, want %d (resumed: %t)", got, want, resumed)
				}
			})
		}
	}
}

func TestUsageFollowsAHookThatPrunes(t *testing.T) {
	prune := false
	hook := on(func(e *Context) {
		if prune {
			e.Items = e.Items[1:]
		}
	})
	r := newHarness(t, Options{Listeners: []Listener{hook}}, countedAs(1000), countedAs(1000))
	r.prompt(strings.Repeat("abcd", 400))
	if got := r.Totals().Tokens; got != 1000 {
		t.Fatalf("%d tokens before", got)
	}
	prune = true
	r.Context(t.Context())
	if got := r.Totals().Tokens; got != 600 {
		t.Errorf("%d tokens once it is gone", got)
	}
	r.prompt("and now")
	if got := r.Totals().Tokens; got != 1000 {
		t.Errorf("%d tokens; an answer that did not see it counts as it is", got)
	}
}

func TestUsageIsOfTheWindowOfTheModelInForce(t *testing.T) {
	r := newHarness(t, Options{}, countedAs(1000))
	r.prompt("one")
	for _, c := range []struct {
		window  int
		percent float64
	}{{0, 0}, {10_000, 10}, {2000, 50}} {
		r.SetModel(t.Context(), &llm.Model{Provider: "acme", ID: "sized", API: "test", ContextWindow: c.window}, "set")
		if got := r.Totals(); got.Tokens != 1000 || got.Window != c.window || got.Percent != c.percent {
			t.Errorf("%+v, want %+v", got.ContextUsage, c)
		}
	}
}

// moveLeaf goes on from another entry, as the session alone does it: no event tells of
// the move.
func moveLeaf(s *session.Session, id string) (*session.Entry, error) {
	return s.MoveTo(id, session.Draft{Type: session.TypeCustom, Body: session.Custom{CustomType: session.LeafMove}})
}

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
