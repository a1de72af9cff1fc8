//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPromptIsAnsweredOnTheScreen(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal()
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.see(1, "beta")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestAHookThatIsEditedWhileTheProgramRunsIsInForceAtTheNextPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.agentFile("hooks/gate.lua")
	gate := func(reason string) string {
		return `pi.on("tool_call", function() return { block = true, reason = "` + reason + `" } end)` + "\n"
	}
	w.write(hook, gate("the first reason"))
	s := w.inTerminal()
	s.enter("list")
	s.see(1, "did not work: the first reason")

	s.prompt()
	w.write(hook, gate("the second reason"))
	s.see(1, "hook gate loaded")
	s.enter("list")
	s.see(1, "did not work: the second reason")

	s.prompt()
	w.write(hook, "this is no Lua\n")
	s.see(1, "the last good version keeps running")
	s.enter("list sub")
	s.see(2, "did not work: the second reason")

	s.prompt()
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	s.see(1, "hook gate removed")
	w.write(w.agentFile("hooks/late.lua"), `pi.command("late", { handler = function(ctx) return { status = "prompts so far: " .. (function()
  local n = 0
  for _, m in ipairs(ctx.messages) do if m.role == "user" then n = n + 1 end end
  return n
end)() } end })`)
	s.see(1, "hook late loaded")
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/late")
	s.see(1, "prompts so far: 4")
	s.enter("/quit")
	s.leave(statusDone)
	if files := w.sessions(); len(files) != 1 {
		t.Errorf("want one session, have %q", files)
	}
}

func TestCtrlCStopsACommandAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.mailbox("started")
	s := w.inTerminal()
	s.enter("run `echo $$ > started; sleep 6000`")
	pid := started()
	s.keys("\x03")
	s.until("the command is gone", func() bool { return !processExists(pid) })
	s.see(1, "interrupted")
	s.prompt()
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestADialogOfAHookIsAnsweredAtTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/gate.lua"), `pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" then return end
  if not ctx.ui.confirm("Run it?", event.input.command) then return { block = true, reason = "Blocked by user" } end
end)`)
	s := w.inTerminal()
	s.enter("run `echo one > ran`")
	s.answer("Run it?", "n")
	s.see(1, "did not work: Blocked by user")
	s.prompt()
	if _, err := os.Stat(filepath.Join(w.project, "ran")); err == nil {
		t.Error("the command ran though the answer was no")
	}
	s.enter("run `echo two > ran`")
	s.answer("Run it?", "y")
	s.see(1, "printed nothing")
	s.prompt()
	if b, err := os.ReadFile(filepath.Join(w.project, "ran")); err != nil || string(b) != "two\n" {
		t.Errorf("the command did not run though the answer was yes: %q, %v", b, err)
	}
	s.enter("/quit")
	s.leave(statusDone)
}

func TestThePromptOfTheCommandLineComesFirst(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestWhatIsTypedWhileTheAgentWorksReachesTheModelAfterTheTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", "call bash {\"command\":\"echo up > started; read line < go\"}\n---\ntext The answer to both.", "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	started := w.mailbox("started")
	w.mailbox("go")
	s := w.inTerminal()
	s.enter("wait for me")
	started()
	s.keys("and look at this too\r")
	s.see(1, "after this tool: and look at this too")
	w.write(filepath.Join(w.project, "go"), "now\n")
	s.see(1, "The answer to both.")
	s.enter("/quit")
	s.leave(statusDone)
	asked := m.asked()
	if len(asked) != 2 {
		t.Fatalf("the model was asked %d times, want 2", len(asked))
	}
	inOrder(t, messagesOf(t, asked[1].body), []string{"wait for me", `"role":"tool"`, "and look at this too"})
}

func TestTheProgramGoesOnAfterErrorsOfModelsHooksAndCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", "status 401 {\"error\":{\"message\":\"the key is not good\"}}\n---\ntext Hello again.", "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	w.write(w.agentFile("hooks/faulty.lua"), `pi.on("turn_start", function() error("this hook is faulty") end)
pi.command("fail", { handler = function() error("this command fails") end })`)
	s := w.inTerminal()
	s.enter("hello")
	s.see(1, "this hook is faulty")
	s.see(1, "the key is not good")
	s.enter("/fail")
	s.see(1, "faulty.lua:2: this command fails")
	s.enter("/no-such-command")
	s.see(1, "unknown command /no-such-command")
	s.stands("/no-such-command")
	s.keys(clearLine)
	s.enter("hello")
	s.see(1, "Hello again.")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTheTerminalIsRestoredAfterASignal(t *testing.T) {
	t.Parallel()
	for sig, status := range map[syscall.Signal]int{syscall.SIGTERM: statusTerminated, syscall.SIGHUP: statusHungUp} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := newWorld(t).inTerminal()
			s.prompt()
			s.Signal(sig)
			s.leave(status)
		})
	}
}

func TestAModuleOfAHookThatIsEditedIsInForceToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/greet/init.lua"), `local words = require "words"
pi.state.loads = (pi.state.loads or 0) + 1
pi.command("greet", { handler = function() return { status = words .. ", load " .. pi.state.loads } end })`)
	w.write(w.agentFile("hooks/greet/words.lua"), `return "good morning"`)
	s := w.inTerminal()
	s.enter("/greet")
	s.see(1, "good morning, load 1")
	s.prompt()
	w.write(w.agentFile("hooks/greet/words.lua"), `return "good evening"`)
	s.see(1, "hook greet loaded")
	s.enter("/greet")
	s.see(1, "good evening, load 2")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestWhatOthersWroteDoesNotReachTheTerminalAsCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.project, "evil.txt"), "before\x1b]0;owned\x07\x1b[2J\x1b[31mafter\n")
	s := w.inTerminal()
	s.enter("read evil.txt")
	s.see(1, "evil.txt has 1 line")
	s.see(1, "before")
	s.prompt()
	s.harmless("\x1b]0;", "\x1b[2J", "\x1b[31m")
	s.enter("/quit")
	s.leave(statusDone)
}
