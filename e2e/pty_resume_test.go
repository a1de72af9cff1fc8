//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pi/session"
)

// keeps writes a session of this directory, whose prompt is text, and returns its
// file. The last one written is the newest.
func (w *world) keeps(id, cwd, text string) string {
	w.t.Helper()
	path := w.agentFile("sessions/kept/" + id + ".jsonl")
	w.write(path, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-01-02T03:04:05.000Z","cwd":%q}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":%q,"timestamp":1767323045000}}
`, id, cwd, text))
	w.written++
	at := time.Date(2026, 1, 2, 3, w.written, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// held opens a session as another process would, until the function is called.
func (w *world) held(path string) (release func()) {
	w.t.Helper()
	s, err := session.Open(path, session.Options{LockDir: w.agentFile("locks")})
	if err != nil {
		w.t.Fatal(err)
	}
	return func() {
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

const leaveUnsaved = "Quit, and lose that?"

const busyQuestion = "What to do with the session?"

func TestWhoWantsASessionThatAnotherProcessHasIsAsked(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", "copy", "read", "wait", "new"} {
		t.Run("answer "+answer, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := w.keeps("aaaa", w.project, "who is there?")
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			release := w.held(path)
			s := w.inTerminal("--resume", "aaaa")
			s.see(1, fmt.Sprintf("who is there?: in use by process %d on ", os.Getpid()))
			if rows := s.text(); !regexp.MustCompile(`(?m)^who is there\?: in use by .* since [0-9:-]+ *(\n|$)`).MatchString(rows) || strings.Contains(rows, path) {
				t.Errorf("who has the session is not said in one row:\n%s", rows)
			}
			s.answer(busyQuestion, answer+"\r")
			switch answer {
			case "":
				s.leave(statusSession)
				release()
				return
			case "copy":
				s.see(1, "going on in a copy, session ")
				s.enter("list")
				s.see(1, "a.txt")
			case "read":
				s.see(1, "the session is open for reading only")
				s.enter("list")
				s.see(1, "error: the session is open for reading only")
				s.see(1, "/branch here goes on in a copy that can be written")
				s.enter("!echo ran > ran.txt")
				s.see(2, "error: the session is open for reading only")
			case "new":
				s.see(1, "this is a new session; the other one stays as it is")
				s.enter("list")
				s.see(1, "a.txt")
			case "wait":
				s.see(1, "waiting until it is free")
				release()
				s.enter("list")
				s.see(1, "a.txt")
			}
			s.enter("/quit")
			s.leave(statusDone)
			now, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if answer != "wait" {
				release()
			}
			if same := string(now) == string(before); same != (answer != "wait") {
				t.Errorf("after %q the session is\n%s", answer, now)
			}
			if _, err := os.Stat(filepath.Join(w.project, "ran.txt")); err == nil {
				t.Error("a command ran whose output no session has")
			}
		})
	}
}

func TestCtrlCEndsAWaitForASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.keeps("aaaa", w.project, "who is there?")
	defer w.held(path)()
	s := w.inTerminal("--resume", "aaaa", "--wait")
	s.see(1, "waiting until it is free; Ctrl+C ends the wait")
	s.keys("\x03")
	s.leave(statusInterrupted)
}

func TestASessionIsPickedAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeps("aaaa", w.project, "the first prompt")
	w.keeps("bbbb", w.project, "the second prompt")
	w.keeps("cccc", "/nowhere", "prompt of elsewhere")
	s := w.inTerminal("--resume", "--thinking", "low")
	s.see(1, "Resume · this directory · 2 sessions  type to filter")
	s.see(1, "the first prompt")
	s.see(1, "the second prompt")
	if strings.Contains(s.text(), "prompt of elsewhere") {
		t.Errorf("sessions of other directories are shown:\n%s", s.text())
	}
	s.asked("Resume · this directory · 2 sessions")
	s.keys("\t")
	s.see(1, "Resume · all directories · 3 sessions")
	s.see(1, "prompt of elsewhere")
	s.see(1, "/nowhere")
	s.keys("first\r")
	s.see(1, "session aaaa, 1 message")
	s.enter("/session")
	s.see(1, "aaaa.jsonl")
	s.see(1, "thinking: low, but tour is not known to think: off")

	// one that another process has can be copied
	defer w.held(w.agentFile("sessions/kept/cccc.jsonl"))()
	s.enter("/resume cccc")
	s.answer("in use by process ", "copy\r")
	s.see(1, "it is a copy of "+w.agentFile("sessions/kept/cccc.jsonl")[:20])
	s.enter("/new")
	s.enter("/resume")
	s.see(1, "(a copy) prompt of elsewhere")
	s.answer("3 sessions", "\x1b")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}

// Who goes on with another session in the running program sees where it had ended, as at
// the start, and what was cut off.
func TestASessionThatBecomesCurrentShowsItsLastExchange(t *testing.T) {
	t.Parallel()
	const asks = `{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"assistant",` +
		`"content":[{"type":"text","text":"I look."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"sleep 60"}}],` +
		`"api":"openai-completions","provider":"x","model":"y","stopReason":"toolUse","timestamp":1767323046000}}`
	const interrupted = `{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"toolResult",` +
		`"toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"interrupted"}],"isError":true,"timestamp":1767323047000}}`
	const broken = `{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"assistant",` +
		`"content":[{"type":"text","text":"I beg"}],"api":"openai-completions","provider":"x","model":"y","stopReason":"aborted","timestamp":1767323046000}}`
	for name, c := range map[string]struct {
		entries []string
		cut     string
	}{
		"a call without a result":    {[]string{asks}, "cut off: bash sleep 60 had not ended when the program did"},
		"a call that was stopped":    {[]string{asks, interrupted}, "cut off: bash sleep 60 was interrupted"},
		"an answer that was stopped": {[]string{broken}, "cut off: the answer was interrupted"},
		"a prompt without an answer": {nil, "cut off: the prompt has no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := w.keeps("aaaa", w.project, "is it there?\nsecond row")
			file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range c.entries {
				fmt.Fprintln(file, e)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			s := w.inTerminal()
			s.enter("/resume aaaa")
			s.see(1, "> is it there? …")
			s.see(1, c.cut)
			s.enter("/quit")
			s.leave(statusDone)
		})
	}
}

func TestASessionIsDeletedFromThePickerAfterAQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.keeps("aaaa", w.project, "the first prompt")
	w.keeps("bbbb", w.project, "the second prompt")
	s := w.inTerminal()
	s.enter("/resume")
	s.answer("this directory · 2 sessions", "first")
	s.see(1, "1 of 2")
	s.Press("delete")
	s.answer("Move this session to the trash?", "\r")
	s.see(1, "session aaaa stays")
	s.see(1, "filter: first")
	s.Press("delete")
	s.answer("Move this session to the trash?", "y\r")
	s.see(1, "session aaaa is in the trash: ")
	s.see(1, "this directory · 1 session ")
	s.see(1, "nothing matches")
	s.keys("\x1b")
	s.enter("/resume rm bbbb")
	s.answer("Move this session to the trash?", "y\r")
	s.see(1, "session bbbb is in the trash: ")
	s.enter("/quit")
	s.leave(statusDone)
	if _, err := os.Stat(path); err == nil {
		t.Error("it is still there")
	}
	if trash, err := filepath.Glob(filepath.Join(w.home, ".local/share/Trash/files/*.jsonl")); err != nil || len(trash) != 2 {
		t.Errorf("in the trash are %q, %v", trash, err)
	}
}

func TestWhatCannotBeSavedIsExportedElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.inTerminal()
	s.enter("run `rm \"$PI_SESSION_FILE\"`")
	s.see(1, "/export FILE writes all of it elsewhere")
	s.enter("/session")
	s.see(1, "state    part of it is only in memory: ")
	s.enter("/export saved.jsonl")
	s.see(1, " is in "+w.project)
	s.enter("/quit")
	s.answer(leaveUnsaved, "y")
	s.leave(statusFailed)
	if files := w.sessions(); len(files) != 0 {
		t.Errorf("the file is back: %q", files)
	}
	if shown := w.pi("sessions", "show", "./saved.jsonl"); strings.Count(shown, "PI_SESSION_FILE") < 2 {
		t.Errorf("the export shows\n%s", shown)
	}
	if answer := w.pi("--session", "./saved.jsonl", "-p", "read a.txt"); !strings.Contains(answer, "alpha") {
		t.Errorf("the export goes on with %q", answer)
	}
}

func TestRemovingSessionsIsAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.keeps("aaaa", w.project, "the first prompt")
	other := w.keeps("bbbb", "/nowhere", "the second\x1b[2J prompt")
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	for _, c := range []struct {
		answers []string // to the question, then to that about deleting for good
		noTrash bool
		says    string
		stays   bool
	}{
		{[]string{""}, false, "nothing was removed", true},
		{[]string{"no"}, false, "nothing was removed", true},
		{[]string{"y", "n"}, true, "session aaaa stays", true},
		{[]string{"y", "y"}, true, "deleted session aaaa for good", false},
		{[]string{"yes"}, false, "session bbbb is in the trash: ", false},
	} {
		if c.noTrash {
			w.env = []string{"XDG_DATA_HOME=/proc/nowhere"}
		} else {
			w.env = nil
		}
		args := []string{"sessions", "rm", "aaaa", "bbbb"}
		if c.noTrash {
			args = args[:3]
		} else if !c.stays {
			args = []string{"sessions", "rm", "bbbb"}
		}
		s := w.inTerminal(args...)
		s.see(1, "Move to the trash? [y/N]")
		s.keys(c.answers[0] + "\n")
		if len(c.answers) > 1 {
			s.see(1, "no trash for session")
			s.see(1, "Delete it for good? [y/N]")
			s.keys(c.answers[1] + "\n")
		}
		s.see(1, c.says)
		s.leave(statusDone)
		s.harmless("\x1b[2J")
		if there(path) != c.stays && c.noTrash || there(other) != c.stays && !c.noTrash {
			t.Errorf("after %q: %v, %v", c.answers, there(path), there(other))
		}
	}
	if there(path) || there(other) {
		t.Error("they are still there")
	}
}
