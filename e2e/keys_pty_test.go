//go:build unix

package e2e

import (
	"strings"
	"testing"
)

func TestAKeyThatIsReplacedIsFoundAtTheNextPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.model(`status 401 {"error":{"message":"this key has been withdrawn","code":"invalid_api_key"}}
---
text The new key is good.
---
text And it is kept.`)
	runs := w.agentFile("runs")
	w.write(w.keyFile(), "the-old-key\n")
	settings := strings.Replace(s.settings(), "env:LOCAL_KEY", "!echo x >>"+runs+"; cat "+w.keyFile(), 1)
	w.write(w.agentFile("config.toml"), settings)
	screen := w.inTerminal("--model", "local/small")
	screen.enter("first")
	screen.see(1, "this key has been withdrawn")
	screen.see(1, "the key is what the command in api_key of")
	screen.prompt()
	w.write(w.keyFile(), "the-new-key\n")
	screen.enter("second")
	screen.see(1, "The new key is good.")
	screen.enter("third")
	screen.see(1, "And it is kept.")
	screen.enter("/quit")
	screen.leave(statusDone)
	for i, want := range []string{"Bearer the-old-key", "Bearer the-new-key", "Bearer the-new-key"} {
		if got := s.asked()[i].header.Get("Authorization"); got != want {
			t.Errorf("request %d had %q, want %q", i+1, got, want)
		}
	}
	if got := mustRead(t, runs); got != "x\nx\n" {
		t.Errorf("the command ran %d times, want 2", len(got)/2)
	}
	if out := screen.output(); strings.Contains(out, "the-old-key") || strings.Contains(out, "the-new-key") {
		t.Errorf("a key is on the screen:\n%s", out)
	}
}

func TestCtrlCGivesUpWaitingForAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.model("text Never asked.")
	started := w.mailbox("started")
	w.write(w.agentFile("config.toml"), strings.Replace(s.settings(), "env:LOCAL_KEY", "!echo on >started; sleep 1000", 1))
	screen := w.inTerminal("--model", "local/small")
	screen.enter("go")
	started()
	screen.keys("\x03")
	screen.see(1, "interrupted")
	screen.prompt()
	if strings.Contains(screen.text(), "no key within") {
		t.Errorf("its time limit ended the command:\n%s", screen.text())
	}
	screen.enter("/quit")
	screen.leave(statusDone)
	if n := len(s.asked()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}
