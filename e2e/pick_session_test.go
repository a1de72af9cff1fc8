//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// keepsSaid writes a session of this directory with prompts and the answer to each. A
// prompt that begins with # is a label of the entry before it, one with % the branch of git.
// It is older by so many hours.
func (w *world) keepsSaid(id string, hours int, texts ...string) {
	w.t.Helper()
	const at = `"timestamp":"2026-01-02T03:04:05.000Z"`
	var lines strings.Builder
	fmt.Fprintf(&lines, `{"type":"session","version":3,"id":%q,%s,"cwd":%q}`+"\n", id, at, w.project)
	parent := "null"
	for i, text := range texts {
		own := fmt.Sprintf(`"%08x"`, i+1)
		body := fmt.Sprintf(`"message","message":{"role":"user","content":%q,"timestamp":1}`, text)
		switch {
		case strings.HasPrefix(text, "%"):
			body = fmt.Sprintf(`"custom","customType":"pi.branch","data":{"name":%q}`, text[1:])
		case i%2 == 1 && !strings.HasPrefix(text, "#"):
			body = fmt.Sprintf(`"message","message":{"role":"assistant","content":[{"type":"text","text":%q}],"provider":"demo","model":"tour","stopReason":"stop","timestamp":1}`, text)
		case strings.HasPrefix(text, "#"):
			body = fmt.Sprintf(`"label","targetId":%s,"label":%q`, parent, text[1:])
		}
		fmt.Fprintf(&lines, `{"id":%s,"parentId":%s,%s,"type":%s}`+"\n", own, parent, at, body)
		parent = own
	}
	path := w.agentFile("sessions/kept/" + id + ".jsonl")
	w.write(path, lines.String())
	when := time.Now().Add(-time.Duration(hours)*time.Hour - time.Minute)
	if err := os.Chtimes(path, when, when); err != nil {
		w.t.Fatal(err)
	}
}

// talks writes two hundred sessions.
func (w *world) talks() {
	w.keepsSaid("s-first", 1, "refactor the tokenizer", "First part\n\ntests pass", "now rename it", "Renamed.\n\nall is green")
	w.keepsSaid("s-second", 2, "a flaky test", "It sleeps.\n\nadd a token sleep", "#resume")
	for i := range 198 {
		w.keepsSaid(fmt.Sprintf("s-%04d", i), 3+i, fmt.Sprintf("task number %d", i), "done with it")
	}
}

func TestSessionsAreFoundByAllThatWasSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talks()
	s := w.inTerminalOf(screentest.Options{Cols: 100, Rows: 24}, "pi")
	s.enter("/resume")
	s.asked("Resume · this directory · 200 sessions  type to filter")
	s.see(1, "▸ refactor the tokenizer")
	for _, row := range []string{"1 h  4 msg  … last: all is green", "2 h  2 msg  … last: add a token sleep"} {
		s.see(1, row)
	}
	for _, c := range []struct{ typed, count, first string }{
		{"token", "2 of 200", "▸ refactor the tokenizer"},
		{"renam now", "1 of 200", "▸ refactor the tokenizer"}, // in a later prompt, in any order
		{"green", "1 of 200", "▸ refactor the tokenizer"},     // the last words
		{"resume", "1 of 200", "▸ a flaky test"},              // a label
		{"s-0007", "1 of 200", "▸ task number 7"},             // the id
		{"19 num", "11 of 200", "▸ task number 16"},
		{"sleep green", "0 of 200", "nothing matches"},
	} {
		s.keys(c.typed)
		s.see(1, "filter: "+c.typed+"   "+c.count)
		s.see(1, c.first)
		s.Press("ctrl+u")
		s.see(1, "filter:    200")
	}
	s.Press("pgdn", "end")
	s.see(1, "▸ task number 197")
	s.keys("flaky\r")
	s.see(1, "session s-second, 2 messages")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTheListOfSessionsSaysOnWhichBranchOfGitTheyWere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keepsSaid("s-first", 1, "refactor the tokenizer", "all is green", "%trunk", "%a-branch-with-quite-a-long-name")
	w.keepsSaid("s-second", 2, "a flaky test", "add a sleep")
	s := w.inTerminalOf(screentest.Options{Cols: 100, Rows: 24}, "pi")
	s.enter("/resume")
	s.see(1, "1 h  2 msg  a-branch-with-quite-a-l…  … last: all is green")
	s.asked("2 h  2 msg                            … last: add a sleep")
	s.keys("quite-a-long-name")
	s.see(1, "filter: quite-a-long-name   1 of 2")
	s.keys("\r")
	s.see(1, "session s-first, 2 messages")
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTheListOfSessionsInASmallWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talks()
	s := w.inTerminalOf(screentest.Options{Cols: 40, Rows: 8}, "pi")
	s.until("the start is written", func() bool { return strings.Contains(s.Transcript(), ". Try:") })
	s.prompt()
	before := s.Transcript()
	s.enter("/resume")
	s.see(1, "▸ refactor the")
	s.asked("Resume · this directory · 200 sessions")
	s.Press("pgdn")
	s.until("another row is selected", func() bool {
		return strings.Contains(s.text(), "▸ ") && !strings.Contains(s.text(), "▸ refactor") && strings.Contains(s.text(), "Resume")
	})
	s.keys("tok")
	s.see(1, "▸ refactor the")
	s.keys("\x1b")
	s.prompt()
	now := s.Transcript()
	before, _, _ = strings.Cut(before, ". Try:")
	if rest, ok := strings.CutPrefix(now, before); !ok || strings.Contains(rest, "filter") || strings.Contains(rest, "refactor") || strings.Contains(rest, "still") {
		t.Errorf("before:\n%s\nnow:\n%s", before, now)
	}
	s.enter("/quit")
	s.leave(statusDone)
}

func TestResumeLeftWithEscBeginsANewSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keepsSaid("kept", 1, "what was said", "so it was")
	s := w.inTerminal("--resume")
	s.asked("Resume · this directory · 1 session ")
	s.esc()
	s.prompt()
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines:")
	s.enter("/quit")
	s.leave(statusDone)
	if b, err := os.ReadFile(w.agentFile("sessions/kept/kept.jsonl")); err != nil || strings.Contains(string(b), "a.txt") {
		t.Errorf("the session that was kept: %s, %v", b, err)
	}
	if files := w.sessions(); len(files) != 2 {
		t.Errorf("sessions: %q in %s", files, filepath.Join(w.home))
	}
}
