//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// talk starts the program in a terminal with a model that gives these answers.
func talk(t *testing.T, w *world, answers string) (*screen, *modelServer) {
	t.Helper()
	m := newModelServer("openai-completions", answers, "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	return w.inTerminal(), m
}

func TestCommandsOfTheUserAreShownToTheModelUnlessKeptBack(t *testing.T) {
	t.Parallel()
	s, m := talk(t, newWorld(t), "text I saw it.")
	s.enter("!echo shown to the model | tr a-z A-Z")
	s.see(1, "SHOWN TO THE MODEL")
	s.enter("!!echo kept back | tr a-z A-Z")
	s.see(1, "KEPT BACK")
	s.enter("what did I run?")
	s.see(1, "I saw it.")
	s.enter("/quit")
	s.leave(statusDone)
	sent := messagesOf(t, m.asked()[0].body)
	inOrder(t, sent, []string{"SHOWN TO THE MODEL", "what did I run?"})
	if strings.Contains(sent, "KEPT BACK") {
		t.Errorf("the model saw what was kept back: %s", sent)
	}
}

func TestANewSessionStartsWithNothingAndHooksHearOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/tell.lua"), `pi.on("session_start", function(event, ctx) ctx.ui.notify("started: " .. event.reason) end)
pi.on("session_shutdown", function(event, ctx) ctx.ui.notify("left: " .. event.reason) end)`)
	s, m := talk(t, w, "text One.\n---\ntext Two.")
	s.see(1, "started: startup")
	s.enter("the first word is xyzzy")
	s.see(1, "One.")
	s.enter("/new")
	s.see(1, "left: new")
	s.see(1, "started: new")
	s.enter("what was the first word?")
	s.see(1, "Two.")
	s.enter("/quit")
	s.leave(statusDone)
	if sent := messagesOf(t, m.asked()[1].body); strings.Contains(sent, "xyzzy") {
		t.Errorf("the new session has the old conversation: %s", sent)
	}
	if files := w.sessions(); len(files) != 2 {
		t.Errorf("want two sessions, have %q", files)
	}
}

func TestWhatIsPastedReachesTheModelAsItWas(t *testing.T) {
	t.Parallel()
	const pasted = "func main() {\n\tfmt.Println(\"ü\")\n}\n/quit\n!rm -rf nothing"
	s, m := talk(t, newWorld(t), "text Nice.")
	s.prompt()
	s.keys("look at this: \x1b[200~" + pasted + "\x1b[201~")
	s.see(1, "look at this: ")
	s.keys("\r")
	s.see(1, "Nice.")
	s.enter("/quit")
	s.leave(statusDone)
	inOrder(t, messagesOf(t, m.asked()[0].body), []string{`look at this: func main() {\n\tfmt.Println(\"ü\")\n}\n/quit\n!rm -rf nothing"`})
}

func TestTheModelCanBeChangedAtThePrompt(t *testing.T) {
	t.Parallel()
	s, m := talk(t, newWorld(t), "text Small.\n---\ntext Large.")
	s.enter("hello")
	s.see(1, "Small.")
	s.enter("/model local/large")
	s.see(1, "local/large")
	s.enter("hello")
	s.see(1, "Large.")
	s.prompt()
	s.keys("\x04")
	s.leave(statusDone)
	for i, want := range []string{`"model":"small"`, `"model":"large"`} {
		if body := string(m.asked()[i].body); !strings.Contains(body, want) {
			t.Errorf("request %d does not have %s", i, want)
		}
	}
}

func TestAnAnswerIsInterruptedAndTheNextOneIsWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/late.lua"), `pi.on("tool_call", function(event, ctx)
  assert(pi.exec("sh", { "-c", "echo asked > started; sleep 60" }))
end)`)
	started := w.mailbox("started")
	s, m := talk(t, w, "text I try.\ncall bash {\"command\":\"touch made\"}\n---\ntext As you wish.")
	s.enter("try it")
	started()
	s.keys("\x03")
	s.see(2, "interrupted") // the call and the run; an older prompt may still stand on a screen that is late
	s.enter("leave it")
	s.see(1, "As you wish.")
	s.enter("/quit")
	s.leave(statusDone)
	inOrder(t, messagesOf(t, m.asked()[1].body), []string{"try it", "touch made", `"role":"tool"`, "leave it"})
	if _, err := os.Stat(filepath.Join(w.project, "made")); err == nil {
		t.Error("the call ran though its gate never answered")
	}
}

func TestAPrintedAnswerIsHarmlessOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.project, "evil.txt"), "before\x1b]0;owned\x07\x1b[2Jafter\n")
	s := w.inTerminal("-p", "read evil.txt")
	s.see(1, "before")
	s.leave(statusDone)
	s.harmless("\x1b]0;", "\x1b[2J")
}
