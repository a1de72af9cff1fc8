//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
		return strings.Contains(s.text(), "compacting … Esc cancels") && len(m.asked()) == n
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
			s.until("seconds are counted", func() bool { return strings.Contains(s.text(), " s · 15 to") })
			s.keys("and no")
			s.keys(key)
			s.see(1, "interrupted")
			s.until("what was typed is in the prompt", func() bool { return strings.HasSuffix(s.text(), "\n> and no") })
			if strings.Contains(s.text(), "compacting") {
				t.Errorf("the line is still there:\n%s", s.text())
			}
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

func TestEscCancelsOnlyTheCompactionOfARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModelServer("openai-completions", "text Earlier.\n---\ncall bash {\"command\":\"seq 1 9000\"}\n---\nstall\n---\ntext All done.\n---\ntext That too.", "")
	t.Cleanup(m.http.Close)
	small := strings.Replace(m.settings(), "context_window = 100000", "context_window = 4000", 1)
	w.write(w.agentFile("config.toml"), small+"\n[compaction]\nreserve_tokens = 2000\nkeep_recent_tokens = 500\n")
	s := w.inTerminal()
	s.enter("what was")
	s.see(1, "Earlier.")
	s.enter("count")
	s.compacting(m, 3)
	s.keys("and weigh\r\x1b")
	s.see(1, "queued: and weigh")
	s.see(1, "All done.")
	s.see(1, "That too.")
	s.enter("/quit")
	s.leave(statusDone)
	inOrder(t, messagesOf(t, m.asked()[4].body), []string{"count", "All done.", "and weigh"})
	if n := w.compactions(); n != 0 {
		t.Errorf("%d compactions", n)
	}
}

func TestASignalDuringACompactionLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, m := talk(t, w, "text Hello.\n---\nstall")
	s.enter("hello")
	s.see(1, "Hello.")
	s.enter("/compact")
	s.compacting(m, 2)
	s.Signal(syscall.SIGTERM)
	s.leave(statusTerminated)
}

func TestAHookMayAskWhileAContextIsCompacted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/ask.lua"), `pi.on("session_before_compact", function(event, ctx)
  if not ctx.ui.confirm("Compact now?", "") then return { cancel = true } end
end)`)
	s, _ := talk(t, w, "text Hello.\n---\ntext The notes.")
	s.enter("hello")
	s.see(1, "Hello.")
	s.enter("/compact")
	s.see(1, "[y/N]")
	s.keys("y\r")
	s.see(1, "compacted: ")
	s.enter("/quit")
	s.leave(statusDone)
	if n := w.compactions(); n != 1 {
		t.Errorf("%d compactions", n)
	}
}

func TestADumbTerminalSaysThatCtrlCCancelsACompaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = append(w.env, "TERM=dumb")
	s, _ := talk(t, w, "text Hello.\n---\nstall")
	enter := func(line string) {
		s.until("the prompt is open", func() bool { return strings.HasSuffix(s.text(), "\n>") })
		s.keys(line + "\r")
	}
	enter("hello")
	s.see(1, "Hello.")
	enter("/compact")
	s.see(1, "compacting … Ctrl+C cancels")
	s.keys("\x03")
	s.see(1, "interrupted")
	enter("/quit")
	s.leave(statusDone)
	if n := w.compactions(); n != 0 {
		t.Errorf("%d compactions", n)
	}
}

func TestACompactionThatIsAskedForDuringTheWorkComesAfterIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pipe := w.mailbox("began")
	s, m := talk(t, w, `call bash {"command":"echo yes > began; until [ -e go ]; do sleep 0.02; done"}`+"\n---\ntext All done.\n---\ntext The notes.\n---\ntext Well then.")
	s.enter("wait for it")
	pipe()
	s.keys("/compact the doors\r")
	s.see(1, "the context is compacted before the next request, or at the end of the work")
	s.keys("/compact again\r")
	s.see(1, "a compaction waits already")
	w.write(filepath.Join(w.project, "go"), "")
	s.see(1, "All done.")
	s.see(1, "compacted: ")
	s.enter("and now?")
	s.see(1, "Well then.")
	s.enter("/quit")
	s.leave(statusDone)
	if asked := messagesOf(t, m.asked()[2].body); !strings.Contains(asked, "the doors") {
		t.Errorf("the request for the summary: %s", asked)
	}
	inOrder(t, messagesOf(t, m.asked()[3].body), []string{"The notes.", "and now?"})
}
