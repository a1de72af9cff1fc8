package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// longTurn is a harness with one small turn and one whose results are large.
func longTurn(t *testing.T, o Options, replies ...reply) *harness {
	t.Helper()
	big := tool("big", func(context.Context) (Result, error) { return TextResult(strings.Repeat("word ", 10000)), nil })
	o.Tools = []Tool{big}
	before := []reply{say("one")}
	for _, id := range []string{"a", "b", "c", "d"} {
		before = append(before, use(call{id, "big", "{}"}))
	}
	r := full(t, o, append(append(before, say("two")), replies...)...)
	r.setCompaction(func(s *CompactionSettings) { s.Enabled = false })
	r.prompt("first")
	r.prompt("second")
	return r
}

func TestASplitTurnHasASummaryOfItsOwn(t *testing.T) {
	var e *SessionBeforeCompact
	var compacting *SessionCompacting
	r := longTurn(t, Options{Listeners: []Listener{on(func(b *SessionBeforeCompact) { e = b }), on(func(b *SessionCompacting) { compacting = b })}},
		say("the notes"), say("the beginning of the turn"))
	done, err := r.Compact(t.Context(), CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !e.Preparation.IsSplitTurn || len(e.Preparation.MessagesToSummarize) != 2 || len(e.Preparation.TurnPrefixMessages) == 0 {
		t.Errorf("prepared: %+v", e.Preparation)
	}
	if n := 2 + len(e.Preparation.TurnPrefixMessages); len(e.Messages) != n || len(compacting.Messages) != n || done.Messages != n {
		t.Errorf("%d, %d and %d messages, want %d", len(e.Messages), len(compacting.Messages), done.Messages, n)
	}
	if kept := e.BranchEntries[e.Preparation.FirstKeptEntryIndex]; kept.ID != e.Preparation.FirstKeptEntryID {
		t.Errorf("the first kept is %s or %s", kept.ID, e.Preparation.FirstKeptEntryID)
	}
	body, _ := session.Body[session.Compaction](done.Entry)
	if body.Summary != "the notes\n\n## The request under way\n\nthe beginning of the turn" || body.FirstKeptEntryID != e.Preparation.FirstKeptEntryID {
		t.Errorf("the entry: %s", done.Entry.Raw())
	}
	first, second := r.asked(6), r.asked(7)
	if !strings.Contains(first, "first") || strings.Contains(first, "second") || !strings.Contains(second, "second") || strings.Contains(second, "first part of the work on two") {
		t.Errorf("asked\n%s\nand\n%s", first, second)
	}
	if done.After >= 30000 || done.After >= done.Before {
		t.Errorf("%d tokens, before %d", done.After, done.Before)
	}
	r.wantGoesOn()
}

func TestTheFilesOfASummaryAreKeptAndCarriedOver(t *testing.T) {
	paths := &fakeTool{spec: llm.ToolSpec{Name: "read", Parameters: json.RawMessage(`{"type":"object"}`)},
		run: func(context.Context, json.RawMessage, Update) (Result, error) { return TextResult("text"), nil }}
	edits := &fakeTool{spec: llm.ToolSpec{Name: "edit", Parameters: json.RawMessage(`{"type":"object"}`)}, run: paths.run}
	r := newHarness(t, Options{Tools: []Tool{paths, edits}, Settings: compacting(true).Settings},
		use(call{"a", "read", `{"path":"a.go"}`}, call{"b", "read", `{"path":"b.go"}`}), use(call{"c", "edit", `{"path":"b.go"}`}), say("done"),
		say("notes"), use(call{"d", "read", `{"path":"d.go"}`}), say("done"), say("more notes"))
	for i, want := range []string{
		"notes\n\n## Files changed\n\n- b.go\n\n## Files read\n\n- a.go",
		"more notes\n\n## Files changed\n\n- b.go\n\n## Files read\n\n- a.go\n- d.go",
	} {
		r.prompt("go")
		done, err := r.Compact(t.Context(), CompactOptions{})
		if err != nil {
			t.Fatal(err)
		}
		body, _ := session.Body[session.Compaction](done.Entry)
		if body.Summary != want {
			t.Errorf("summary %d is %q", i, body.Summary)
		}
		if details := []string{`{"readFiles":["a.go"],"modifiedFiles":["b.go"]}`, `{"readFiles":["a.go","d.go"],"modifiedFiles":["b.go"]}`}[i]; string(body.Details) != details {
			t.Errorf("details %d are %s", i, body.Details)
		}
	}
	if asked := r.asked(6); !strings.Contains(asked, "<notes>\nnotes\n") || !strings.Contains(asked, "Write them anew") {
		t.Errorf("the second request: %s", asked)
	}
}

func TestASummaryOfAListenerIsTakenAsItIs(t *testing.T) {
	for _, c := range []struct {
		name   string
		draft  func(e *SessionBeforeCompact) *CompactionDraft
		entry  string
		told   string
		fromMy bool
	}{
		{"only the text", func(*SessionBeforeCompact) *CompactionDraft { return &CompactionDraft{Summary: "mine", By: "h"} },
			`"summary":"mine","firstKeptEntryId":"KEPT","tokensBefore":T,"details":{"readFiles":[],"modifiedFiles":[]},"fromHook":true}`, "", true},
		{"all of it", func(e *SessionBeforeCompact) *CompactionDraft {
			return &CompactionDraft{Summary: "mine", FirstKeptEntryID: e.BranchEntries[2].ID, TokensBefore: 7, Details: json.RawMessage(`{"a":1}`)}
		}, `"summary":"mine","firstKeptEntryId":"THIRD","tokensBefore":7,"details":{"a":1},"fromHook":true}`, "", true},
		{"nothing", func(*SessionBeforeCompact) *CompactionDraft { return &CompactionDraft{By: "h"} }, `"summary":"the notes`, "", false},
		{"kept from elsewhere", func(*SessionBeforeCompact) *CompactionDraft {
			return &CompactionDraft{Summary: "mine", FirstKeptEntryID: "nope", By: "h"}
		}, `"summary":"the notes`, `hook h: session_before_compact: first_kept_entry_id: entry "nope" is not on the branch`, false},
		{"kept from the middle of a call", func(e *SessionBeforeCompact) *CompactionDraft {
			for _, entry := range e.BranchEntries {
				if m := entry.Message(); m != nil && m.Role == message.RoleToolResult {
					return &CompactionDraft{Summary: "mine", FirstKeptEntryID: entry.ID, By: "h"}
				}
			}
			return nil
		}, `"summary":"the notes`, `lies between a tool call and its result`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			var before *SessionBeforeCompact
			var after *SessionCompact
			listeners := []Listener{on(func(e *SessionBeforeCompact) { before, e.Compaction = e, c.draft(e) }), on(func(e *SessionCompact) { after = e }), l}
			r := longTurn(t, Options{Listeners: listeners}, say("the notes"), say("the beginning"))
			l.kinds = nil
			done, err := r.Compact(t.Context(), CompactOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("KEPT", before.Preparation.FirstKeptEntryID, "THIRD", before.BranchEntries[2].ID, "T", printable.Grouped(0)).Replace(c.entry)
			want = strings.Replace(want, `"tokensBefore":0,`, `"tokensBefore":`+strings.ReplaceAll(printable.Grouped(before.Preparation.TokensBefore), ",", "")+`,`, 1)
			if raw := string(done.Entry.Raw()); !strings.Contains(raw, want) {
				t.Errorf("the entry is %s, want %s", raw, want)
			}
			if after.FromHook != c.fromMy || done.FromHook != c.fromMy || after.Entry != done.Entry {
				t.Errorf("told: %+v", after)
			}
			if asked := strings.Contains(strings.Join(l.kinds, " "), "session_compacting"); asked == c.fromMy {
				t.Errorf("session_compacting came: %v", asked)
			}
			if told := strings.Join(l.notes, "\n"); !strings.Contains(told, c.told) || c.told == "" && told != "" {
				t.Errorf("told %q", told)
			}
			r.wantGoesOn()
		})
	}
}

func TestWhatListenersTakeOutIsNotSummarised(t *testing.T) {
	secret := on(func(e *Context) {
		var kept []session.Item
		for _, it := range e.Items {
			if !strings.Contains(it.Message.Text(), "secret") {
				kept = append(kept, it)
			}
		}
		e.Items = append([]session.Item{{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("made up")}}, Index: -1}}, kept...)
	})
	r := newHarness(t, Options{Listeners: []Listener{secret}, Settings: compacting(false).Settings}, say("one"), say("two"), say("the notes"))
	r.prompt("the secret")
	r.prompt("second")
	if _, err := r.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	if asked := r.asked(2); strings.Contains(asked, "secret") || !strings.Contains(asked, "made up") || !strings.Contains(asked, "second") {
		t.Errorf("asked: %s", asked)
	}
}

// outcomes collects what became of asked compactions.
type outcomes []string

func (o *outcomes) note(done *Compacted, err error) {
	if err != nil {
		*o = append(*o, err.Error())
		return
	}
	*o = append(*o, done.Entry.Message().Summary)
}

func TestACompactionThatIsAskedForWhileTheAgentWorksComesBeforeTheNextRequest(t *testing.T) {
	var r *harness
	var got outcomes
	ask := tool("look", func(context.Context) (Result, error) {
		for range 2 {
			r.RequestCompact(CompactOptions{Instructions: "mind the doors"}, got.note)
		}
		return TextResult("looked"), nil
	})
	r = newHarness(t, Options{Tools: []Tool{ask}, Settings: Settings{Compaction: CompactionSettings{ReserveTokens: 10000, KeepRecentTokens: 100}}},
		say("one"), say("one and a half"), use(call{"a", "look", "{}"}), say("the notes"), say("two"))
	r.prompt("first " + strings.Repeat("word ", 400))
	r.prompt("not quite second " + strings.Repeat("word ", 100))
	r.prompt("second")
	if want := "a compaction waits already the notes"; strings.Join(got, " ") != want {
		t.Errorf("outcomes %q", got)
	}
	if !strings.Contains(r.asked(3), "mind the doors") || !strings.Contains(r.asked(4), "user: second\nassistant a=look{}\ntoolResult a: looked") || strings.Contains(r.asked(4), "first") {
		t.Errorf("asked %s and %s", r.asked(3), r.asked(4))
	}
	for p := range r.Inbox().TakeSubmitted() { // it is done
		if err := r.Prompt(t.Context(), p); err != nil || r.requests() != 5 {
			t.Errorf("%v, %d requests", err, r.requests())
		}
	}
}

func TestACompactionThatIsAskedForTooEarlyWaitsForTheEndOfTheWork(t *testing.T) {
	var r *harness
	var got outcomes
	ask := tool("look", func(context.Context) (Result, error) {
		r.RequestCompact(CompactOptions{}, got.note)
		return TextResult("looked"), nil
	})
	r = newHarness(t, Options{Tools: []Tool{ask}, Settings: compacting(false).Settings}, use(call{"a", "look", "{}"}), say("one"), say("the notes"))
	r.prompt("first")
	if strings.Join(got, " ") != "the notes" || !strings.Contains(r.asked(2), "one") || r.requests() != 3 {
		t.Errorf("outcomes %q, %d requests", got, r.requests())
	}
}

func TestACompactionThatIsAskedForInTheLastTurnComesBeforeTheAgentSettles(t *testing.T) {
	var r *harness
	var got outcomes
	l := &log{}
	ask := on(func(*TurnEnd) { r.RequestCompact(CompactOptions{}, got.note) })
	r = newHarness(t, Options{Listeners: []Listener{ask, l}, Settings: compacting(false).Settings}, say("one"), say("the notes"))
	r.prompt("first")
	if strings.Join(got, " ") != "the notes" || !strings.HasSuffix(strings.Join(l.kinds, " "), "agent_end context compaction_start session_before_compact session_compacting session_compact context compaction_end agent_settled") {
		t.Errorf("outcomes %q, events %s", got, l.kinds)
	}
}

func TestACompactionThatIsAskedForAtRestIsDoneByTheFrontEnd(t *testing.T) {
	var got outcomes
	r := newHarness(t, Options{Settings: compacting(false).Settings}, say("one"), say("the notes"))
	r.prompt("first")
	r.RequestCompact(CompactOptions{}, got.note)
	select {
	case <-r.Inbox().Submitted():
	default:
		t.Fatal("the front end is not woken")
	}
	if len(got) > 0 || r.Pending() != 0 {
		t.Errorf("outcomes %q, %d pending", got, r.Pending())
	}
	for p := range r.Inbox().TakeSubmitted() {
		if err := r.Prompt(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
	if strings.Join(got, " ") != "the notes" {
		t.Errorf("outcomes %q", got)
	}
}

func TestACompactionThatDoesNotComeAnyMoreIsSaidToHaveFailed(t *testing.T) {
	var got outcomes
	r := newHarness(t, Options{Settings: compacting(false).Settings}, say("one"))
	r.prompt("first")
	r.RequestCompact(CompactOptions{}, got.note)
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	for p := range r.Inbox().TakeSubmitted() {
		if err := r.Prompt(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
	r.RequestCompact(CompactOptions{}, got.note)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "; ") != "the session was left before it was compacted; interrupted" {
		t.Errorf("outcomes %q", got)
	}
}

func TestACompactionIsNotForWhileTheAgentWorks(t *testing.T) {
	var r *harness
	var errs []error
	during := on(func(*TurnStart) {
		_, err := r.Compact(t.Context(), CompactOptions{})
		_, again := r.Uncompact(t.Context())
		errs = append(errs, err, again)
	})
	r = newHarness(t, Options{Listeners: []Listener{during}}, say("one"))
	r.prompt("first")
	if len(errs) != 2 || !errors.Is(errs[0], ErrNotIdle) || !errors.Is(errs[1], ErrNotIdle) {
		t.Errorf("%v", errs)
	}
}

func TestTwentySmallTurnsAndTwoHugeResultsEndBelowWhatIsToBeKeptAndFree(t *testing.T) {
	huge := tool("huge", func(context.Context) (Result, error) { return TextResult(strings.Repeat("word ", 10000)), nil })
	var replies []reply
	for range 20 {
		replies = append(replies, say("answer "+strings.Repeat("word ", 200)))
	}
	replies = append(replies, use(call{"a", "huge", "{}"}, call{"b", "huge", "{}"}), say("done"), say("the notes"))
	settings := CompactionSettings{Enabled: false, ReserveTokens: 16384, KeepRecentTokens: 20000}
	r := full(t, Options{Tools: []Tool{huge}, Settings: Settings{Compaction: settings}}, append(replies, say("the beginning"))...)
	for range 20 {
		r.prompt("small " + strings.Repeat("word ", 100))
	}
	r.prompt("the last one")
	done, err := r.Compact(t.Context(), CompactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(r.asked(22), "small word"); n != 20 || done.Messages < 40 {
		t.Errorf("%d of the small turns are summarised, %d messages", n, done.Messages)
	}
	if done.After >= 20000+16384 {
		t.Errorf("%d tokens are left", done.After)
	}
	r.wantGoesOn()
}

func TestWhatTheLastRequestDidNotHavePassesTheContextChainBeforeItIsSummarised(t *testing.T) {
	hide := on(func(e *Context) {
		for i, it := range e.Items {
			if strings.Contains(it.Message.Text(), "secret") {
				m := it.Message.Clone()
				m.Content = []message.Block{message.TextBlock("hidden")}
				e.Items = append(append(append([]session.Item{}, e.Items[:i]...), session.Item{Message: m, Entry: it.Entry, Index: it.Index}), e.Items[i+1:]...)
			}
		}
	})
	add := on(func(e *TurnEnd) {
		if strings.Contains(e.Message.Text(), "secret") {
			e.Entries = []session.Draft{hint(strings.Repeat("word ", 2000))}
		}
	})
	r := full(t, Options{Listeners: []Listener{hide, add}}, say("one"), using(95000, text("the secret")), say("the notes"), say("the beginning"))
	r.setCompaction(func(s *CompactionSettings) { s.KeepRecentTokens = 1000 })
	r.prompt("first")
	r.prompt("second")
	if r.compactions() != 1 {
		t.Fatalf("%d compactions", r.compactions())
	}
	if asked := r.asked(2); strings.Contains(asked, "secret") || !strings.Contains(asked, "hidden") {
		t.Errorf("the request for the summary: %s", asked)
	}
}
