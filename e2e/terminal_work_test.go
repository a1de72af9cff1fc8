//go:build unix

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// A command that ends the work is carried out once the user has agreed.
func TestACommandThatEndsTheWorkRunsAfterIt(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	first := s.ask("the first session")
	first.Text("A long answer ")
	s.See("A long answer")
	s.Type("/new\r")
	s.Until("the question has the keys", func(now screentest.Screen) bool { return now.Shows("Interrupt it?") && inDialog(now) })
	s.Type("y")
	s.SeeAnywhere("new session")
	second := s.ask("the second session")
	second.Answer("Yes.")
	s.rests("")
	if got := second.Request.Prompts(); !slices.Equal(got, []string{"the second session"}) {
		t.Errorf("the model was told %q", got)
	}
	s.quits()
}

// What a command says while an answer comes does not take the answer apart.
func TestWhatIsSaidDuringAnAnswerDoesNotBreakItsBlock(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	turn := s.ask("go")
	turn.Text("Code:\n\n```\nline one *\n")
	s.See("line one")
	s.Type("/modle\r")
	s.See("unknown command")
	s.Type("\x15/hotkeys\r")
	s.See("send")
	turn.Text("line two *\n# three\n```\n\nThe end.")
	turn.End()
	s.rests("")
	for _, row := range []string{"  line one *", "  line two *", "  # three"} {
		if !slices.ContainsFunc(strings.Split(s.Transcript(), "\n"), func(r string) bool { return strings.TrimRight(r, " ") == row }) {
			t.Errorf("no row %q in the transcript:\n%s", row, s.Transcript())
		}
	}
	s.quits()
}

// A component whose hook does not answer can be closed.
func TestAComponentThatIsStuckIsClosedByAKey(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.command("stuck", { handler = function(ctx)
  ctx.ui.custom({ place = "over", render = function() return { "the component" } end, handle_input = function(key) pi.exec("sleep", { "60" }) end })
end })`})
	s.rests("")
	s.Type("/stuck\r")
	s.See("the component")
	s.Type("x")
	s.Type("\x03")
	s.rests("")
	s.quits()
}

// What a hook puts into the line before there is one is there at the first prompt.
func TestAHookFillsTheLineAtTheStart(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.on("session_start", function(_, ctx) ctx.ui.set_editor_text("begin here") end)`})
	s.rests("begin here")
	s.Press("ctrl+c")
	s.quits()
}

// A command that outlasts the run beside which it was begun can be interrupted.
func TestACommandThatOutlastsTheRunIsInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.mailbox("started")
	s := newDesk(t, scenery{world: w, hook: `pi.command("slow", { handler = function(ctx)
  pi.exec("sh", { "-c", "sleep 60 & echo $! > started; wait" })
end })`})
	turn := s.ask("go")
	turn.Text("Beginning.")
	s.See("Beginning.")
	s.Type("/slow\r")
	pid := started()
	turn.End()
	s.matches(`/slow \d+ s .*Esc cancels`)
	s.rests("")
	s.Press("esc")
	s.SeeAnywhere("interrupted (Esc) · /slow")
	waitUntil(t, func() bool { return !processExists(pid) })
	s.answered("more", "Done.")
	s.quits()
}

// A command that puts a text into the line takes nothing of what was typed meanwhile.
func TestADraftOfACommandIsAboveWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.answered("the prompt", "Yes.")
	s.Type("/undo\rtyped meanwhile")
	s.Until("both are in the line", func(now screentest.Screen) bool {
		typed, ok := typedLine(now, "> ")
		return ok && strings.HasPrefix(typed, "the prompt") && strings.HasSuffix(typed, "typed meanwhile")
	})
	s.Press("ctrl+c")
	s.quits()
}

// An abort of a hook is told once, however short a time after an interrupt.
func TestAnAbortOfAHookIsToldAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.on("tool_call", function(event, ctx) ctx.abort() end)`})
	turn := s.ask("one")
	turn.Text("Beginning")
	s.See("Beginning")
	s.Press("esc")
	s.rests("")
	turn = s.ask("two")
	turn.Call("c1", "bash", "command", "true")
	turn.End()
	s.rests("")
	s.quits() // what is still to be told is told by then
	rows := 0
	for _, row := range strings.Split(s.Transcript(), "\n") {
		if strings.HasPrefix(row, "interrupted") {
			rows++
		}
	}
	if rows != 2 {
		t.Errorf("%d rows tell of an interrupt, want one for each:\n%s", rows, s.Transcript())
	}
}

// A backslash at the end of a paste is text: Enter sends it.
func TestABackslashThatWasPastedDoesNotKeepTheLine(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.rests("")
	text := "one\ntwo\nthree\nfour\nfive \\"
	s.Paste(strings.ReplaceAll(text, "\n", "\r"))
	s.See("[paste #1: 5 lines")
	s.Press("enter")
	turn := s.turn()
	turn.Answer("Read.")
	s.rests("")
	if got := turn.Request.Prompts(); !slices.Equal(got, []string{text}) {
		t.Errorf("the model was told %q", got)
	}
	s.quits()
}

// What goes along with a message is said while the agent works, too.
func TestWhatGoesAlongWithAQueuedMessageIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.project, "notes.txt"), "one\ntwo\n")
	s := newDesk(t, scenery{world: w})
	turn := s.ask("go")
	turn.Text("Beginning")
	s.See("Beginning")
	s.Type("and @notes.txt too\r")
	s.matches(`^attached @notes.txt \(8 B`)
	turn.End()
	next := s.turn()
	next.Answer("Read.")
	s.rests("")
	if got := next.Request.Prompts(); len(got) != 2 || !strings.Contains(got[1], "two") {
		t.Errorf("the model was told %q", got)
	}
	s.quits()
}
