//go:build unix

package e2e

import (
	"strings"
	"testing"
)

const (
	clearLine = "\x15"
	undoKey   = "\x1f"
)

// stands waits until the prompt is open and this stands in it.
func (s *screen) stands(line string) {
	s.t.Helper()
	s.until("the prompt holds "+line, func() bool {
		text := s.text()
		return text[strings.LastIndexByte(text, '\n')+1:] == "> "+line && s.reading()
	})
}

func TestALineThatMayBeMeantForACommandStaysAndTheNextEnterSendsIt(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal()
	s.enter("/thinkin hard")
	s.see(1, "unknown command /thinkin")
	s.see(1, "did you mean /thinking?")
	s.see(1, "Enter again sends it to the model as it is")
	s.stands("/thinkin hard")
	s.keys("\r")
	s.see(1, "I cannot do that: /thinkin hard")

	s.enter("/etcetera")
	s.see(1, "unknown command /etcetera")
	s.stands("/etcetera")
	s.keys(clearLine)
	s.enter("list")
	s.see(1, "This directory has")
	s.enter("/etcetera") // it is not the line before any more
	s.see(2, "unknown command /etcetera")
	s.stands("/etcetera")
	s.keys(clearLine)

	s.enter("/usr/bin/env: no such file")
	s.see(1, "I cannot do that: /usr/bin/env: no such file")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTabNeverRemovesWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/pick.lua"), `pi.command("pick", {
	complete = function(prefix) return { "alpha", "beta" } end,
	handler = function(ctx) return { status = "picked " .. ctx.args_raw } end })`)
	s := w.inTerminal()
	s.prompt()
	s.keys("/pick be\t")
	s.stands("/pick beta")
	s.keys(clearLine)
	s.prompt()
	s.keys("/pick no such\t thing")
	s.stands("/pick no such thing")
	s.keys("\r")
	s.see(1, "picked no such thing")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestALineThatWasRefusedIsEditedLikeAnyOther(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal()
	s.enter("/thinkin")
	s.see(1, "unknown command /thinkin")
	s.stands("/thinkin")
	s.keys("g hard")
	s.stands("/thinking hard")
	s.keys("\r")
	s.see(1, "unknown thinking level")
	s.enter("/quit")
	s.leave(statusDone)
}

// What /undo puts into the line is there to be edited, or for /redo to take the place of.
func TestACommandTakesThePlaceOfWhatTheProgramPutIntoTheLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/fill.lua"), `pi.command("fill", { handler = function(ctx) ctx.ui.set_editor_text(ctx.args[1] .. (ctx.args[2] and " " or "")) end })`)
	s := w.inTerminal()
	s.enter("/fill ready")
	s.stands("ready")
	s.keys("/")
	s.stands("/")
	s.keys(clearLine)
	s.enter("/fill see more") // which is there to be gone on with
	s.stands("see")
	s.keys("/tmp")
	s.stands("see /tmp")
	s.keys(clearLine)
	s.enter("list")
	s.see(1, "This directory has")
	s.enter("/undo")
	s.stands("list")
	s.keys("/")
	s.stands("/")
	s.keys(undoKey)
	s.stands("list")
	s.keys("!") // it was wanted, and is edited from here on
	s.stands("list!")
	s.keys("/")
	s.stands("list!/")
	s.keys(clearLine)
	s.enter("/redo")
	s.see(1, "redone: the conversation")
	s.enter("/undo")
	s.stands("list")
	s.keys("/redo\r")
	s.see(2, "redone: the conversation")
	s.keys(clearLine)
	s.enter("/quit")
	s.leave(statusDone)
}

// What waited when the work was interrupted is back in the line, and gives way as well.
func TestACommandTakesThePlaceOfWhatWaited(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.ask("go")
	s.Type("and then this\r")
	s.matches(`↳ .*: and then this`)
	s.Press("esc")
	s.rests("and then this")
	s.Type("/undo\r")
	s.See("undone")
	s.rests("go")
	s.Press("ctrl+c")
	s.quits()
}
