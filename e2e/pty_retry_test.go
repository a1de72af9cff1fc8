//go:build unix

package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// talkAgain is talk with a model whose failures are waited for.
func talkAgain(t *testing.T, w *world, baseDelay, answers string) (*screen, *modelServer) {
	t.Helper()
	m := newModelServer("openai-completions", answers, "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), "[retry]\nbase_delay = \""+baseDelay+"\"\n"+m.settings())
	return w.inTerminal(), m
}

func TestAnAnswerThatIsCutIsWrittenFromItsBeginning(t *testing.T) {
	t.Parallel()
	const start = "think I have to greet\ntext Dear reader, hello wor"
	w := newWorld(t)
	s, m := talkAgain(t, w, "3s", start+"\ncut\n---\n"+start+"ld and all.\n---\ntext Bye.")
	s.enter("greet me")
	s.see(1, "hello world and all.")
	counted := map[string]bool{}
	for _, m := range regexp.MustCompile(`retry 1/3 in (\d) s: local: the answer ended early `).FindAllStringSubmatch(s.output(), -1) {
		counted[m[1]] = true
	}
	if len(counted) < 2 {
		t.Errorf("counted down: %v", counted)
	}
	s.enter("bye")
	s.see(1, "Bye.")
	for text, times := range map[string]int{"the answer starts over": 1, "I have to greet": 2, "Dear reader, hello world and all.": 1, "retry": 0} {
		if n := strings.Count(s.text(), text); n != times {
			t.Errorf("%q is shown %d times:\n%s", text, n, s.text())
		}
	}
	s.enter("/quit")
	s.leave(statusDone)
	if n := len(m.asked()); n != 3 {
		t.Errorf("asked %d times", n)
	}
}

func TestEscAndCtrlCCancelTheWaitForAnotherTry(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"Esc": "\x1b", "Ctrl+C": "\x03"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s, m := talkAgain(t, w, "40s", "status 529 {\"error\":{\"message\":\"Overloaded\"}}\n---\ntext Here I am.")
			s.enter("hello")
			s.see(1, "retry 1/3 in ")
			s.see(1, "local: HTTP 529: Overloaded  Esc interrupts")
			s.keys("and no")
			s.keys(key)
			s.see(1, "interrupted")
			s.until("what was typed is in the prompt", func() bool { return strings.HasSuffix(s.text(), "\n> and no") })
			if strings.Contains(s.text(), "retry 1/3 in") {
				t.Errorf("the wait is still there:\n%s", s.text())
			}
			if n := strings.Count(s.text(), "HTTP 529: Overloaded"); n != 1 {
				t.Errorf("the reason is said %d times:\n%s", n, s.text())
			}
			s.keys("w?\r")
			s.see(1, "Here I am.")
			s.enter("/quit")
			s.leave(statusDone)
			if n := len(m.asked()); n != 2 {
				t.Errorf("asked %d times", n)
			}
			if got := w.stopReasons(); got != "aborted stop" {
				t.Errorf("the session has answers that ended with %s", got)
			}
		})
	}
}

// stopReasons are those of the answers in the only session.
func (w *world) stopReasons() string {
	w.t.Helper()
	b, err := os.ReadFile(w.sessions()[0])
	if err != nil {
		w.t.Fatal(err)
	}
	var reasons []string
	for _, part := range strings.Split(string(b), `"stopReason":"`)[1:] {
		reason, _, _ := strings.Cut(part, `"`)
		reasons = append(reasons, reason)
	}
	return strings.Join(reasons, " ")
}
