//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// command is a hook with one command, whose status is what its body returns.
func commandHook(name, body string) string {
	return fmt.Sprintf("pi.command(%q, { handler = function(ctx)\n%s\nend })\n", name, body)
}

func TestAHookGivesTheTerminalToAProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := filepath.Join(w.home, "asks")
	w.write(script, "#!/bin/sh\nprintf '\\033[?1049h\\033[2JPROGRAM of %s? ' \"$WHO\"\nread line\nprintf '\\033[?1049l'\necho \"$line\" > answer\nexit 3\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(w.agentFile("hooks/widget.lua"), `pi.on("session_start", function(event, ctx) ctx.ui.set_widget("w", { "A WIDGET" }) end)`)
	s := newDesk(t, scenery{world: w, hook: commandHook("give", fmt.Sprintf(`
  local r, err = ctx.ui.run(%q, { "x" }, { env = { WHO = "ada" } })
  local missing, why = ctx.ui.run("/no/such/program")
  return { status = "it ended with " .. tostring(r and r.code) .. "; " .. tostring(missing) .. ", " .. why }`, script))})
	s.rests("")
	s.See("A WIDGET")
	s.Type("/give\r")
	s.See("PROGRAM of ada?")
	s.Type("typed into it\r")
	s.See("it ended with 3; nil, ")
	now := s.rests("")
	if now.Shows("PROGRAM") || now.Count("A WIDGET") != 1 || now.Modes.Alternate {
		t.Errorf("the terminal did not come back:\n%s", now)
	}
	if got := mustRead(t, filepath.Join(w.project, "answer")); got != "typed into it\n" {
		t.Errorf("the program read %q", got)
	}
	s.answered("hello", "Hello.")
	s.quits()
}

// What the agent says while a program has the terminal is there afterwards.
func TestWhatTheAgentSaysWaitsForTheProgramThatHasTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := filepath.Join(w.home, "waits")
	w.write(script, "#!/bin/sh\nprintf '\\033[2J\\033[HPROGRAM? '\nread line\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newDesk(t, scenery{world: w, hook: commandHook("give", fmt.Sprintf("ctx.ui.run(%q, {})\n  return { status = \"it is back\" }", script))})
	turn := s.ask("go")
	turn.Text("Before it.\n\n")
	s.See("Before it.")
	s.Type("/give\r")
	s.See("PROGRAM?")
	turn.Text("During it.\n\nAnd after it.")
	s.Type("\r")
	s.See("During it.")
	turn.End()
	s.See("it is back")
	s.rests("")
	shown := s.Transcript()
	for _, text := range []string{"During it.", "And after it."} {
		if strings.Count(shown, text) != 1 {
			t.Errorf("%q is there %d times:\n%s", text, strings.Count(shown, text), shown)
		}
	}
	s.quits()
}

func TestAFieldIsEditedAsTheLineIs(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: commandHook("rename", `
  local field = ctx.ui.field{ text = "one two", placeholder = "a name" }
  local got = ctx.ui.custom{ wait = true, cursor = true, render = function(width) return { "Name: " .. field.render(width - 6)[1] } end,
    handle_input = field.handle_input }
  return { status = "got <" .. tostring(got) .. ">" }`)})
	s.rests("")
	s.Type("/rename\r")
	s.See("Name: one two")
	s.Press("ctrl+w")
	s.Type("日本")
	s.Press("backspace", "home")
	s.Type("X")
	s.Until("the field is edited, the cursor in it", func(now screentest.Screen) bool {
		row, col := now.Find("Name: Xone 日")
		return row >= 0 && now.Row == row && now.Col == col+len("Name: X")
	})
	s.Press("ctrl+u", "end", "ctrl+u")
	s.See("Name: a name")
	s.Type("Ada\r")
	s.See("got <Ada>")
	s.rests("")
	s.quits()
}

func TestChoicesHaveDescriptionsAndSeveralMayBeTaken(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: commandHook("pick", `
  local one = ctx.ui.select("WHICH ONE?", { { value = 1, label = "red", description = "like blood" }, { value = 2, label = "green", description = "like grass" } })
  local all = ctx.ui.select("WHICH ONES?", { "a1", "b2", "c3" }, { multi = true, default = { "b2" } })
  return { status = "took " .. tostring(one) .. " and " .. table.concat(all or { "nothing" }, "+") }`)})
	s.rests("")
	s.Type("/pick\r")
	now := s.See("WHICH ONE?")
	for _, text := range []string{"red", "like blood", "green", "like grass", "scene"} {
		if !now.Shows(text) {
			t.Errorf("%q is not shown:\n%s", text, now)
		}
	}
	s.Type("grass\r")
	s.quietly("WHICH ONES?")
	s.Press("up", "space", "enter")
	s.See("took 2 and a1+b2")
	s.rests("")
	s.quits()
}

func TestAlwaysIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: commandHook("sure", `
  local yes = ctx.ui.confirm("PUSH?", "to origin", { always = "push" })
  return { status = "sure: " .. tostring(yes) .. " " .. tostring(ctx.ui.confirm("PUSH?", "to origin", { always = "push" })) }`)})
	s.rests("")
	s.Type("/sure\r")
	now := s.See("PUSH?")
	if !now.Shows("scene") || !strings.Contains(strings.ToLower(now.Text()), "always") {
		t.Errorf("the hook or the answer is not there:\n%s", now)
	}
	s.Type("a")
	s.See("sure: true true")
	s.Type("/sure\r")
	s.Until("nobody is asked again", func(now screentest.Screen) bool { return now.Count("sure: true true") == 2 })
	s.rests("")
	s.Type("/new\r")
	s.See("new session")
	s.rests("")
	s.Type("/sure\r")
	s.See("PUSH?") // what was answered belongs to the session
	s.Type("a")
	s.Until("it is answered", func(now screentest.Screen) bool { return now.Count("sure: true true") == 3 })
	s.quits()
}

// What is being typed answers no dialog that a hook opens, and stays in the line.
func TestADialogOfAHookTakesNothingThatWasBeingTyped(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.on("message_update", function(event, ctx)
  if event.delta.text:find("ask") then
    require("pi.timer").after(1, function() ctx.ui.notify("answered " .. tostring(ctx.ui.confirm("SURE?", "", {}))) end)
  end
end)`})
	turn := s.ask("go")
	s.Type("ye")
	s.steers("ye")
	turn.Text("ask ")
	s.See("SURE?")
	s.Type("s\x1b[C y")
	s.Until("the keys are in the line", func(now screentest.Screen) bool {
		return now.Shows("SURE?") && now.Shows("steer> yes y")
	})
	s.quietly("SURE?")
	if strings.Contains(s.Transcript(), "answered") {
		t.Errorf("it was answered:\n%s", s.Transcript())
	}
	s.Type("y")
	turn.Text("and more.")
	s.See("answered true")
	s.steers("yes y")
	turn.End()
	s.rests("yes y")
	s.Press("ctrl+c")
	s.quits()
}

func TestADialogIsTakenAwayWithItsSignal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newDesk(t, scenery{world: w, hook: `local timer = require("pi.timer")
pi.tool{ name = "dig", description = "digs", parameters = { type = "object", properties = {} }, execute = function(params, ctx)
  local signal = ctx.signal
  timer.after(1, function() ctx.ui.notify("it was " .. tostring(ctx.ui.select("STILL THERE?", { "a", "b" }, { signal = signal }))) end)
  local off
  off = timer.every(20, function() if require("pi.fs").read("stop") then off() ctx.abort() end end)
  timer.sleep(100000)
end }`})
	s.rests("")
	s.Type("go\r")
	turn := s.turn()
	turn.Call("c1", "dig")
	turn.End()
	s.See("STILL THERE?")
	w.write(filepath.Join(w.project, "stop"), "x")
	s.See("it was nil")
	now := s.rests("")
	if now.Shows("STILL THERE?") {
		t.Errorf("the dialog is still there:\n%s", now)
	}
	s.quits()
}

// The keys for a question may be typed before it is there, but not for the one behind it:
// that has to be read first.
func TestTheSecondQuestionOfACommandTakesNoKeysThatWereTypedBeforeIt(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.command("two", { handler = function(ctx)
  if not ctx.ui.confirm("First?", "") then return "no" end
  return { status = "took " .. tostring(ctx.ui.select("Second?", { "delete all", "keep all" })) }
end })`})
	s.rests("")
	s.Type("/two\r")
	s.See("First?")
	s.Type("yx")
	s.Until("the second is there, and the key behind the answer in the line", func(now screentest.Screen) bool {
		return now.Shows("Second?") && isLine(now, "> ", "x")
	})
	s.Press("backspace")
	s.rests("")
	s.Pause(looks)
	s.Press("down", "enter")
	s.See("took keep all")
	s.quits()
}
