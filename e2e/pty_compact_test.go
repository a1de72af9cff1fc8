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
	s.keys("and weigh\r")
	s.see(1, "and weigh  Alt+Up takes it back")
	s.esc()
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
	s.answer("Compact now?", "y")
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

func TestACompactionThatIsAskedForDuringTheWorkEndsItOnlyIfTheUserWantsThat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pipe := w.mailbox("began")
	const call = `call bash {"command":"echo yes > began; until [ -e go ]; do sleep 0.02; done; rm go"}`
	s, m := talk(t, w, call+"\n---\ntext All done.\n---\n"+call+"\n---\ntext The notes.\n---\ntext The notes.\n---\ntext Well then.")
	s.enter("wait for it")
	pipe()
	s.keys("/compact the doors\r")
	s.answer("/compact ends what runs. Interrupt it?", "n")
	s.answered()
	w.write(filepath.Join(w.project, "go"), "")
	s.see(1, "All done.")
	s.enter("once more")
	pipe()
	s.keys("/compact the doors\r")
	s.answer("/compact ends what runs. Interrupt it?", "y")
	s.see(1, "compacted: ")
	s.enter("and now?")
	s.see(1, "Well then.")
	s.enter("/quit")
	s.leave(statusDone)
	if asked := messagesOf(t, m.asked()[3].body); !strings.Contains(asked, "the doors") {
		t.Errorf("the request for the summary: %s", asked)
	}
	inOrder(t, messagesOf(t, m.asked()[5].body), []string{"The notes.", "and now?"})
}
