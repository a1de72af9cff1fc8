//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// compactions is how many there are in the files of sessions.
func (w *world) compactions() (n int) {
	w.t.Helper()
	files, err := filepath.Glob(w.agentFile("sessions/*/*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			w.t.Fatal(err)
		}
		n += strings.Count(string(text), `"type":"compaction"`)
	}
	return n
}

// compacting waits until the model of a compaction was asked, as request n. The
// line changes each second, so the screen does not have to.
func (s *screen) compacting(m *modelServer, n int) {
	s.t.Helper()
	s.until("the model is asked", func() bool {
		return strings.Contains(s.text(), "compacting ") && strings.Contains(s.text(), "Esc cancels") && len(m.asked()) == n
	})
}

func TestEscCancelsACompactionAndKeepsWhatElseIsTyped(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"Esc": "\x1b", "Ctrl+C": "\x03", "Esc, 40 columns": "\x1b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s, m := talk(t, w, "text Hello.\n---\nstall\n---\ntext Well then.")
			s.enter("hello")
			s.see(1, "Hello.")
			if strings.HasSuffix(name, "columns") {
				s.Resize(40, screenLines)
			}
			s.enter("/compact")
			s.compacting(m, 2)
			s.until("seconds are counted", func() bool { return strings.Contains(s.text(), "compacting 1 s") })
			s.keys("and no")
			s.keys(key)
			s.see(1, "interrupted")
			s.until("what was typed is in the prompt", func() bool { return strings.HasSuffix(s.text(), "\n> and no") })
			s.until("the row of the compaction is gone", func() bool { return !strings.Contains(s.text(), " cancel") })
			s.see(1, "· compacting · 1 s")
			s.keys("w?\r")
			s.see(1, "Well then.")
			s.enter("/quit")
			s.leave(statusDone)
			inOrder(t, messagesOf(t, m.asked()[2].body), []string{"hello", "Hello.", "and now?"})
			if n := w.compactions(); n != 0 {
				t.Errorf("%d compactions", n)
			}
		})
	}
}
