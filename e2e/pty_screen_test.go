//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// screenHook starts the program in a terminal with one hook.
func screenHook(t *testing.T, lua string) (*world, *screen) {
	t.Helper()
	w := newWorld(t)
	w.write(w.agentFile("hooks/shows.lua"), lua)
	return w, w.inTerminal()
}

func TestAHookSetsWhatStandsAroundThePrompt(t *testing.T) {
	t.Parallel()
	w, s := screenHook(t, `pi.on("session_start", function(event, ctx)
  ctx.ui.set_status("z", "a\n\tb\27[31m")
  ctx.ui.set_status("a", "first")
  ctx.ui.set_widget("todo", { "1. \27[2Jwrite", ctx.ui.theme.fg("error", "2. test") })
  ctx.ui.set_widget("done", { "0. think" })
  ctx.ui.set_title("pi at \27]0;evil\7 work\n")
  ctx.ui.set_working_message("thinking hard")
end)
pi.command("less", { handler = function(ctx)
  ctx.ui.set_status("z")
  ctx.ui.set_widget("todo", nil)
  ctx.ui.set_working_message()
  ctx.ui.set_editor_text("text of " .. (ctx.ui.get_editor_text() == "" and "nobody" or "somebody"))
end })`)
	s.see(1, "0. think\n1. write\n2. test\n")
	s.see(1, "first · a b\n>")
	s.until("the title is set", func() bool { return strings.Contains(s.output(), "\x1b]2;pi at work\x07") })
	w.mailbox("go")
	s.enter("run `read x < go`")
	s.see(1, "thinking hard 0 s")
	w.line("go")
	s.see(1, "printed nothing")
	s.enter("/less")
	s.until("the prompt holds the text", func() bool {
		return strings.HasSuffix(s.text(), "first\n> text of nobody") && s.reading()
	})
	s.keys("\x15")
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/quit")
	s.leave(statusDone)
	if strings.Contains(s.text(), "thinking hard") {
		t.Errorf("the working text is still there:\n%s", s.text())
	}
	s.harmless("\x1b[2J", "\x1b[31m", "\x1b]0;")
}

// written is all that the program wrote.
func TestAStatusThatATimerChangesIsShownWhileALineIsTyped(t *testing.T) {
	t.Parallel()
	w, s := screenHook(t, `pi.on("session_start", function(event, ctx)
  require("pi.timer").every(20, function()
    local news = require("pi.fs").read("news")
    if news then ctx.ui.set_status("news", news) end
  end)
end)`)
	s.prompt()
	s.keys("half a li")
	s.see(1, "> half a li")
	w.write(filepath.Join(w.project, "news"), "it rains")
	s.see(1, "it rains\n> half a li")
	s.keys("\x17\x17one line\x17\x17\x15/quit\r")
	s.leave(statusDone)
}

func TestAComponentOfAHookIsDrawnAndClosesItself(t *testing.T) {
	t.Parallel()
	_, s := screenHook(t, `pi.command("count", { handler = function(ctx)
  local n, keys, handle = 0, {}
  handle = ctx.ui.custom {
    wait = true,
    render = function(width) return { "width " .. width, "count " .. n, "\27[2Jkeys " .. table.concat(keys, ",") } end,
    handle_input = function(key, handle)
      keys[#keys + 1] = key
      if key == "up" then n = n + 1 elseif key == "enter" then handle.close() end
    end,
  }
  return { status = "counted to " .. n }
end })
pi.command("stuck", { handler = function(ctx)
  ctx.ui.custom { wait = true, render = function() return { "a stuck one" } end,
    handle_input = function() ctx.ui.notify("it hangs"); while true do end end }
  return { status = "out of it" }
end })`)
	s.enter("/count")
	s.see(1, "width 100\ncount 0\nkeys\n>")
	s.keys("\x1b[A\x1b[Aö ")
	s.see(1, "count 2\nkeys up,up,ö,space")
	s.keys("\r")
	s.see(1, "counted to 2")
	s.prompt()
	if strings.Contains(s.text(), "width 100") {
		t.Errorf("the component is still there:\n%s", s.text())
	}
	s.enter("/stuck")
	s.see(1, "a stuck one")
	s.keys("x")
	s.see(1, "it hangs")
	s.keys("\x03")
	s.see(1, "out of it")
	s.enter("/quit")
	s.leave(statusDone)
	if strings.Contains(s.text(), "error") {
		t.Errorf("who got out is told of an error:\n%s", s.text())
	}
	s.harmless("\x1b[2J")
}

func TestHooksDrawTheirMessagesAndCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/cards.lua"), `pi.register_message_renderer("card", function(message, opts, theme)
  return { theme.bold("card: " .. message.details.name), "width " .. opts.width .. "\27[2J" }
end)
pi.command("card", { handler = function(ctx)
  pi.send_message { custom_type = "card", content = "an ace", details = { name = "ace" } }
  pi.send_message { custom_type = "memo", content = "plain text" }
  pi.send_message({ custom_type = "memo", content = "unseen", display = false })
end })
pi.on("before_agent_start", function() return { message = { custom_type = "card", content = "a king", display = true, details = { name = "king" } } } end)
pi.tool { name = "add", description = "adds", parameters = { type = "object", properties = { a = { type = "integer" } } },
  execute = function(params) return { content = "sum", details = { sum = params.a + 1 } } end,
  render_call = function(args, opts, theme) return theme.fg("accent", "adding one to " .. args.a) end,
  render_result = function(result) return { "makes " .. result.details.sum } end,
}`)
	s, _ := talk(t, w, "call add {\"a\":41}\n---\ntext So it is.")
	s.enter("/card")
	s.see(1, "card: ace\nwidth 99\n")
	s.see(1, "[memo] plain text")
	s.enter("go")
	s.see(1, "card: king\n")
	s.see(1, "• adding one to 41 ✓\n  makes 42\n")
	s.see(1, "So it is.")
	s.enter("/quit")
	s.leave(statusDone)
	if text := s.text(); strings.Contains(text, "unseen") || strings.Count(text, "card: king") != 1 {
		t.Errorf("a message is shown that is not to be seen, or twice:\n%s", text)
	}
	s.harmless("\x1b[2J")
}

func TestAShortcutOfAHookRunsAtThePromptAndOneEndsTheProgram(t *testing.T) {
	t.Parallel()
	_, s := screenHook(t, `pi.shortcut("alt+i", { description = "date", handler = function(ctx)
  ctx.ui.set_editor_text(ctx.ui.get_editor_text() .. "2026-11-21")
end })
pi.shortcut("f5", { description = "ask for it", handler = function() return "read a.txt" end })
pi.shortcut("ctrl+q", { description = "leave", handler = function(ctx) ctx.shutdown() end })`)
	s.prompt()
	s.keys("on \x1bi")
	s.see(1, "> on 2026-11-21")
	s.keys("\x15\x1b[15~")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/hotkeys")
	s.see(1, "Alt+I                date (hook shows)")
	s.see(1, "Ctrl+D               quit, in an empty line")
	s.prompt()
	s.keys("half\x11")
	s.leave(statusDone)
}

// Terminals without codes for keys send Ctrl and Shift with Alt as Esc and another key.
func TestShortcutsWithTwoModifiersWorkInEveryEncoding(t *testing.T) {
	t.Parallel()
	_, s := screenHook(t, `for _, key in ipairs { "ctrl+alt+t", "alt+shift+d", "ctrl+alt+space" } do
  local n = 0
  pi.shortcut(key, { description = "d", handler = function() n = n + 1 return { status = key .. " came " .. n } end })
end`)
	s.prompt()
	for i, keys := range []string{"\x1b\x14", "\x1b[116;7u", "\x1b[27;7;116~"} {
		s.keys(keys)
		s.see(1, fmt.Sprintf("ctrl+alt+t came %d", i+1))
		s.prompt()
	}
	for i, keys := range []string{"\x1bD", "\x1b[100;4u"} {
		s.keys(keys)
		s.see(1, fmt.Sprintf("alt+shift+d came %d", i+1))
		s.prompt()
	}
	s.keys("\x1b\x00")
	s.see(1, "ctrl+alt+space came 1")
	s.prompt()
	s.keys("gone")
	s.esc()
	s.keys("\x15kept") // nobody waits for a second key behind Esc
	s.see(1, "> kept")
	s.keys("\x15")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestACommandSentRightAfterItsHookWasSavedIsKnown(t *testing.T) {
	t.Parallel()
	w, s := screenHook(t, "")
	s.prompt()
	for i := range 3 {
		w.write(w.agentFile("hooks/fresh.lua"), fmt.Sprintf(`pi.command("fresh%d", { handler = function() return { status = "it is fresh %d" } end })`, i, i))
		s.keys(fmt.Sprintf("/fresh%d\r", i))
		s.see(1, fmt.Sprintf("it is fresh %d", i))
		s.prompt()
	}
	s.enter("/quit")
	s.leave(statusDone)
	if strings.Contains(s.output(), "unknown") {
		t.Error("a command was unknown")
	}
}

func TestWhatAHookSaysForTheUserWhileTheAgentWorksIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/more.lua"), `pi.on("turn_start", function(event)
  if event.turn_index == 0 then pi.send_user_message("find *.txt") end
end)`)
	s := w.inTerminal()
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.see(1, "> find *.txt")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}

func TestDialogsOfAHookAreAnsweredWithKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/asks.lua"), `pi.command("ask", { handler = function(ctx)
  local choice = ctx.ui.select("Which?", { "red", "green", "blue" })
  local name = ctx.ui.input("Name?", "any", { timeout = 60000 })
  local text = ctx.ui.editor("Say more", "dear " .. tostring(name))
  local sure = ctx.ui.confirm("Sure?", "long " .. ("word "):rep(40) .. "end", { timeout = 1500 })
  return { status = ("got %s, %s, %s, %s"):format(choice, name, text, tostring(sure)) }
end })`)
	editor := filepath.Join(w.home, "editor")
	w.write(editor, "#!/bin/sh\necho editor up; read line; echo \" $line\" >> \"$1\"\n")
	if err := os.Chmod(editor, 0o700); err != nil {
		t.Fatal(err)
	}
	s := w.inTerminal()
	s.enter("/ask")
	s.answer("Which?", "\x1b[B\r")
	s.answer("Name?", "Ada\r")
	s.see(1, "[asks] Say more\neditor up")
	s.keys("and all\r")
	s.see(1, "word end") // a question of two rows, which nobody answers in time
	s.see(1, "got green, Ada, dear Ada and all, false")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestAnAnswerThatAHookStopsBehindTheStreamIsMarkedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/guard.lua"), `pi.on("message_update", function(event)
  if event.delta.text:find("forbidden") then
    pi.exec("sleep", { "0.2" })
    return { abort = { reason = "not that word", inject = "Do not say it." } }
  end
end)`)
	s, _ := talk(t, w, "text I say the forbidden word now.\nstall\n---\ntext I say nothing.")
	s.enter("talk")
	s.see(1, "stopped by hook guard: not that word\n")
	s.see(1, "I say nothing.")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestAnAnswerThatAHookStopsIsMarkedOnTheScreen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/guard.lua"), `pi.on("message_update", function(event)
  if event.message.content[1] and (event.message.content[1].text or ""):find("forbidden") then
    return { abort = { reason = "not that word", inject = "Do not say it." } }
  end
end)`)
	s, m := talk(t, w, "text I say the forbidden word now.\n---\ntext I say nothing.")
	s.enter("talk")
	s.see(1, "stopped by hook guard: not that word\n")
	s.see(1, "I say nothing.")
	s.enter("/quit")
	s.leave(statusDone)
	inOrder(t, messagesOf(t, m.asked()[1].body), []string{"talk", "Do not say it."})
}
