//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// A notice does not stand between two lines of code: until the block ends it is in the zone.
func TestANoticeWaitsForTheEndOfABlockOfCode(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.on("message_update", function(event, ctx)
  if event.delta.text:find("two") then ctx.ui.notify("NOTICE") end
end)`})
	turn := s.ask("go")
	turn.Text("Look:\n\n```go\none\n")
	s.See("one")
	turn.Text("two\n")
	s.Until("the notice is in the zone", func(now screentest.Screen) bool {
		notice, _ := now.Find("NOTICE")
		code, _ := now.Find("  two")
		return code >= 0 && notice > code
	})
	turn.Text("three\n```\n")
	turn.Text("\nThat is all.")
	turn.End()
	s.rests("")
	rows := strings.Split(unblank(s.Transcript()), "\n")
	at := slices.Index(rows, "  one")
	if want := []string{"  one", "  two", "  three", "NOTICE", "That is all."}; at < 0 || len(rows) < at+5 || !slices.Equal(rows[at:at+5], want) {
		t.Errorf("the rows are\n%s\nwant among them %q", strings.Join(rows, "\n"), want)
	}
	s.quits()
}

// A list that is left with Esc leaves no row: of one that a key has opened, nothing at all.
func TestAListThatIsLeftLeavesNoRow(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(*desk)
		list string
		more string
	}{
		{"of models, by its key", func(s *desk) { s.Press("alt+m") }, "Model · now", ""},
		{"of the tree, by its keys", func(s *desk) { s.Press("esc", "esc") }, "Tree ·", ""},
		{"of models", func(s *desk) { s.Type("/model\r") }, "Model · now", "\n> /model"},
		{"of settings", func(s *desk) { s.Type("/settings\r") }, "Settings ·", "\n> /settings"},
		{"of providers", func(s *desk) { s.Type("/login\r") }, "Sign in to which provider?", "\n> /login"},
		{"of prompts", func(s *desk) { s.Type("/branch\r") }, "Branch off", "\n> /branch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{})
			s.answered("hello", "Hello yourself.")
			said := func() string {
				before, _, _ := strings.Cut(unblank(s.Transcript()), "\nslow/small")
				return before
			}
			before := said()
			c.open(s)
			s.See(c.list)
			s.Pause(looks)
			s.Press("esc")
			s.rests("")
			s.Until("the status is back", func(now screentest.Screen) bool { return !now.Shows(c.list) && now.Shows("of 100k") })
			if got := said(); got != before+c.more {
				t.Errorf("the rows are\n%s\nthey were\n%s", got, before)
			}
		})
	}
}

// A refused line is edited like any other, and only an Enter on it sends it.
func TestARefusedLineStaysAndIsEdited(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.rests("")
	s.Type("/modle\r")
	s.See("unknown command /modle")
	s.rests("/modle")
	s.Type("x")
	s.rests("/modlex")
	s.Press("ctrl+c")
	s.rests("")
	s.Type("/modle\r")
	s.Until("it is refused again", func(now screentest.Screen) bool { return now.Count("unknown command /modle") == 2 })
	s.rests("/modle")
	s.Press("enter")
	if got := s.turn().Request.Last(); got != "/modle" {
		t.Errorf("the second Enter sent %q", got)
	}
}

// Who has begun another line does not find the refused one in it, and is not told to send it.
func TestALineThatIsRefusedLateIsNotOffered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newDesk(t, scenery{world: w, hook: `pi.command("wait", { handler = function()
  pi.exec("sh", { "-c", "until [ -e go-on ]; do sleep 0.01; done" })
end })`})
	s.rests("")
	s.Type("/wait\r")
	s.See("/wait")
	s.Type("/modle\r")
	s.See("next: /modle")
	s.Type("another")
	s.See("another")
	w.write(filepath.Join(w.project, "go-on"), "")
	s.See("unknown command /modle")
	if now := s.rests("another"); now.Shows("Enter again") {
		t.Errorf("the line that is not there is offered:\n%s", now)
	}
	s.Press("ctrl+c")
	s.quits()
}

// A key is named only where it does what is said.
func TestWhatWaitsSaysHowItIsTakenBack(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{
		settings: "keys.take_back = \"f6\"\n",
		hook: `pi.command("later", { handler = function() pi.send("said by a hook") end })
pi.command("sure", { handler = function(ctx) ctx.ui.confirm("Sure?", "") end })`,
	})
	s.ask("go")
	s.Type("and this\r")
	s.matches(`↳ .*: and this  F6 takes it back$`)
	s.Type("/later\r")
	s.matches(`↳ .*: said by a hook$`)
	s.matches(`↳ .*: and this  F6 takes it back$`)
	s.Type("/sure\r")
	s.See("Sure?")
	s.Until("no key is named that the question has", func(now screentest.Screen) bool { return now.Shows("and this") && !now.Shows("takes it back") })
}

// Before the question about a project, the row of the cursor may have something in it.
func TestTheQuestionAboutAProjectHasRowsOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.projectFile("hooks/a.lua"), hookSays("one"))
	link := filepath.Join(t.TempDir(), "pi")
	if err := os.Symlink(w.command().Path, link); err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"", "left over"} {
		s := newDesk(t, scenery{world: w, terminal: screentest.Options{Cols: 40}, command: []string{"/bin/sh", "-c", "printf '" + before + "'; exec " + link}})
		now := s.See(trustQuestion)
		want := []string{before, "This project brings hooks that you have", "not approved. Hooks are programs: they", "see every prompt and may run anything.", "  .pi/hooks/a.lua", "76 bytes  00427cd18c98  new", "session_start"}
		if before == "" {
			want = want[1:]
		}
		if !slices.Equal(now.Rows[:len(want)], want) {
			t.Errorf("behind %q the rows are\n%s", before, now)
		}
		s.Until("the question has the keys", func(now screentest.Screen) bool {
			return strings.HasPrefix(strings.TrimLeft(now.Before(), " "), "answer: ")
		})
		s.Press("esc")
		s.quits()
	}
}

// Another program that has the terminal, too, may write over the line and change the modes.
func TestCtrlLDrawsAnewWhatWasWrittenOver(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.answered("hello", "Hello yourself.")
	s.Type("half a line")
	before := s.rests("half a line")
	s.Scribble("\rSCRIBBLED OVER\x1b[A\rTHE STATUS, TOO\x1b[K\x1b[B\x1b[?2004l\x1b[31m")
	s.See("SCRIBBLED")
	s.Press("ctrl+l")
	after := s.rests("half a line")
	if after.Text() != before.Text() {
		t.Errorf("the screen is\n%s\nit was\n%s", after, before)
	}
	s.Press("ctrl+c")
	s.quits()
}

// What a key has changed is said in the zone, and the status has it from then on.
func TestKeysThatChangeTheModelSaySoInTheZoneAlone(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{settings: `models = ["slow/*"]`})
	s.answered("hello", "Hello yourself.")
	before, _, _ := strings.Cut(unblank(s.Transcript()), "\nslow/small")
	s.Press("ctrl+p")
	s.matches("^model: slow/large")
	s.Until("it is gone, and the status has it", func(now screentest.Screen) bool {
		return !now.Shows("model: ") && len(rowsWith(now, "slow/large:")) == 1
	})
	after, _, _ := strings.Cut(unblank(s.Transcript()), "\nslow/large")
	if after != before {
		t.Errorf("the rows are\n%s\nthey were\n%s", after, before)
	}
	s.quits()
}
