//go:build unix

package e2e

import (
	"context"
	"pi/session/compaction"
	"regexp"
	"strings"
	"testing"

	"pi/agent"
)

// compaction is the event as the program would make it.
func (s *stage) compaction() *agent.SessionBeforeCompact {
	items := s.agent.Session().Context()
	branch := s.agent.Session().Branch()
	return &agent.SessionBeforeCompact{
		Preparation: agent.Preparation{FirstKeptEntryID: branch[len(branch)-1].ID, FirstKeptEntryIndex: len(branch) - 1,
			MessagesToSummarize: items[:len(items)-1], TokensBefore: 1000, PreviousSummary: "it began with a door",
			FileOps: compaction.FileOps{Read: []string{"a.txt"}, Edited: []string{"b.go", "c.go"}}},
		BranchEntries: branch, Messages: items, CustomInstructions: "the colours", Model: s.agent.Model(), Reason: "manual",
	}
}

func TestACustomCompactionBringsItsOwnSummary(t *testing.T) {
	t.Parallel()
	s := newStage(t, "custom_compaction.lua")
	s.ask("paint it", "blue")
	s.model.tell("## Goal\nPaint.")
	e := s.compaction()
	s.handle(e)
	if e.Compaction == nil || e.Cancel {
		t.Fatalf("no summary; told %q", s.audience.told)
	}
	if want := "## Goal\nPaint.\n\n## Files\n- read: a.txt\n- edited: b.go, c.go"; e.Compaction.Summary != want {
		t.Errorf("the summary is %q", e.Compaction.Summary)
	}
	for _, want := range []string{"it began with a door", "[user] paint it", "take care of this: the colours"} {
		if !strings.Contains(s.model.request(), want) {
			t.Errorf("the model was not told %q:\n%s", want, s.model.request())
		}
	}
}

func TestACustomCompactionThatFailsLeavesItToTheProgram(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"!": "the model is tired", " ": "the model said nothing"} {
		s := newStage(t, "custom_compaction.lua")
		s.ask("paint it", "blue")
		s.model.tell(answer)
		e := s.compaction()
		s.handle(e)
		if e.Compaction != nil || e.Cancel || !s.audience.heard("no summary of your own: ") || !s.audience.heard(want) {
			t.Errorf("%q: got %+v, told %q", answer, e.Compaction, s.audience.told)
		}
	}
}

func TestTheStatusLineShowsWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := newStage(t, "status_line.lua")
	shows := func(when, want string) {
		t.Helper()
		if got := s.audience.drawn(); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("%s it shows %q, want %s", when, got, want)
		}
	}
	const took = `[0-9.]+m?s`
	shows("at the start", "")
	s.ask("hello", "hi")
	shows("after a run", "75% cached · "+took)
	s.git("init", "-q")
	s.write("a.txt", "a")
	s.write("b.txt", "b")
	s.ask("hello", "hi")
	shows("with changes", "2 changed · 75% cached · "+took)
	s.handle(&agent.SessionStart{Reason: "new", SessionID: "s"})
	shows("in a new session", "2 changed")
}

func TestTheStatusLineIsOnTheScreen(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal("--hook", example(t, "status_line.lua"))
	s.enter("read a.txt")
	s.see(1, "0% cached · ")
	s.keys("/quit\r")
	s.leave(statusDone)
}

func TestAHandoffGoesThroughTheEditor(t *testing.T) {
	t.Parallel()
	s := newStage(t, "handoff.lua")
	s.ask("paint it", "blue")
	run := func(answer string) string {
		s.model.tell(answer)
		out, err := s.chain.Commands()[0].Run(context.Background(), "")
		if err != nil {
			t.Fatal(err)
		}
		return out.Status
	}
	before := s.agent.Session().ID()
	if got := run("A summary."); got != "Handoff called off" || s.agent.Session().ID() != before {
		t.Errorf("an empty text: %q", got)
	}
	s.audience.edit = "My summary."
	if got := run("A summary."); !strings.HasPrefix(got, "This is a new session") || s.agent.Session().ID() == before {
		t.Errorf("a text: %q", got)
	}
	if items := s.agent.Session().Context(); len(items) != 1 || items[0].Message.Text() != "My summary." {
		t.Errorf("the new session begins with %d messages", len(items))
	}
	if asked := strings.Join(s.audience.asked, ""); !strings.Contains(asked, "A summary.") {
		t.Errorf("the editor showed %q", asked)
	}
}
