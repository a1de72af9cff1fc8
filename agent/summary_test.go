package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// scribe answers requests for summaries one after the other, and all further ones with
// the last answer; it keeps what it was asked.
type scribe struct {
	answers []scribed
	asked   []*llm.Request
}

type scribed struct {
	content []message.Block
	stop    message.StopReason
	err     error
}

func says(text string) scribed {
	return scribed{content: []message.Block{message.TextBlock(text)}, stop: message.StopEnd}
}

func (s *scribe) ask(_ context.Context, r *llm.Request) (*message.Message, llm.Stop, error) {
	a := s.answers[min(len(s.asked), len(s.answers)-1)]
	s.asked = append(s.asked, r)
	return &message.Message{Role: message.RoleAssistant, Content: a.content, Usage: &message.Usage{Input: 10}}, llm.Stop{Reason: a.stop}, a.err
}

func (s *scribe) prompt(n int) string { return s.asked[n].Messages[0].Text() }

func writer(answers ...scribed) (*summaryWriter, *scribe) {
	s := &scribe{answers: answers}
	return &summaryWriter{Ask: s.ask, Now: time.Now, Model: &llm.Model{Provider: "acme", ID: "one"}, Longest: 1000}, s
}

func item(text string) session.Item {
	return session.Item{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}, Index: -1}
}

func TestTheBeginningOfATurnThatIsSummarisedInPartsKeepsItsFirstPart(t *testing.T) {
	w, s := writer(says("what was before"), says("part one"), says("both parts"))
	w.InputLimit = 500
	text, err := w.conversation(t.Context(), &compaction.Plan{Summarize: []session.Item{item("long ago")},
		TurnPrefix: []session.Item{item(strings.Repeat("do it; ", 200)), item(strings.Repeat("no, so; ", 200))}})
	if err != nil || text != "what was before\n\n"+prefixHeading+"\n\nboth parts" || w.Usage.Input != 30 {
		t.Fatalf("%q, %v, used %+v", text, err, w.Usage)
	}
	if first := s.prompt(1); strings.Contains(first, "<notes>") || strings.Contains(first, "The notes between the tags") {
		t.Errorf("the first part: %s", first)
	}
	if second := s.prompt(2); !strings.Contains(second, "<notes>\npart one\n</notes>") || !strings.HasSuffix(second, nextPrefix) {
		t.Errorf("the model is not told what to do with the notes: %s", second)
	}
}

func TestTheFilesThatWereTouchedFollowTheSummary(t *testing.T) {
	w, _ := writer(says("the notes"))
	w.Longest = 40 // of which a quarter is room for 40 characters of paths
	text, err := w.conversation(t.Context(), &compaction.Plan{Summarize: []session.Item{item("a")},
		Files: compaction.FileOps{Read: []string{"a.go", "long/" + strings.Repeat("x", 40)}, Written: []string{"b.go"}}})
	if want := "the notes\n\n## Files changed\n\n- b.go\n\n## Files read\n\n- a.go\n- and 1 more"; err != nil || text != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
}

func TestNobodyIsAskedWhereNothingIsLeftOut(t *testing.T) {
	w, s := writer()
	for previous, want := range map[string]string{"": onlyShortened, "old notes": "old notes"} {
		if text, err := w.conversation(t.Context(), &compaction.Plan{PreviousSummary: previous}); err != nil || text != want || len(s.asked) != 0 {
			t.Errorf("%q, %v", text, err)
		}
	}
}

func TestWhatAProviderFindsTooLongIsAskedForInShorterParts(t *testing.T) {
	tooLong := scribed{err: &llm.ProviderError{Provider: "acme", Overflow: true}}
	tooManyBytes := scribed{err: &llm.ProviderError{Provider: "acme", Status: 413}}
	for _, refused := range []scribed{tooLong, tooManyBytes} {
		w, s := writer(refused, says("a part"), says("so far"))
		text, err := w.branch(t.Context(), []session.Item{item(strings.Repeat("word ", 800)), item(strings.Repeat("word ", 800))})
		if err != nil || text != "so far" || len(s.asked) < 3 || len(s.prompt(1)) >= len(s.prompt(0)) || !strings.Contains(s.prompt(2), "<notes>\na part\n</notes>") {
			t.Errorf("%q, %v after %d requests", text, err, len(s.asked))
		}
	}
	w, s := writer(tooLong)
	var failed *llm.ProviderError
	if _, err := w.branch(t.Context(), []session.Item{item("short")}); !errors.As(err, &failed) || len(s.asked) != 1 {
		t.Errorf("what cannot be shorter: %v after %d requests", err, len(s.asked))
	}
}

func TestASummaryIsAskedForInTheWordsOfHooksAndTheUser(t *testing.T) {
	w, s := writer(says("x"))
	w.Prompt, w.Added, w.Instructions = "only this", []string{"and that"}, "the names"
	w.Model.MaxTokens = 300
	if _, err := w.branch(t.Context(), []session.Item{item("a")}); err != nil {
		t.Fatal(err)
	}
	if r := s.asked[0]; !strings.HasSuffix(s.prompt(0), "\n\nonly this\n\nand that\n\nThe user asks you to mind this: the names") || r.System != branchSystem || r.MaxTokens != 300 || r.Thinking != "off" {
		t.Errorf("asked %+v with %q", r, s.prompt(0))
	}
}

func TestAnAnswerThatIsNoSummaryIsAnError(t *testing.T) {
	for want, a := range map[string]scribed{
		"answered with nothing":     {stop: message.StopEnd},
		"called tools":              {content: []message.Block{message.TextBlock("a"), {Type: message.BlockToolCall, ID: "1", Name: "ls"}}, stop: message.StopToolUse},
		"before it wrote anything;": {stop: message.StopLength},
	} {
		w, _ := writer(a)
		if _, err := w.branch(t.Context(), []session.Item{item("a")}); err == nil || !strings.Contains(err.Error(), want) || w.Usage.Input != 10 {
			t.Errorf("%v, want %q", err, want)
		}
	}
	w, _ := writer(scribed{content: []message.Block{message.TextBlock("half of it")}, stop: message.StopLength})
	if text, err := w.branch(t.Context(), []session.Item{item("a")}); err != nil || text != "half of it" || w.CutAt != 1000 {
		t.Errorf("%q cut at %d, %v", text, w.CutAt, err)
	}
}
