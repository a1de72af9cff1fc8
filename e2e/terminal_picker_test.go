//go:build unix

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// talked is a session that a test finds in a list.
type talked struct {
	name    string
	prompts []string // each with an answer
	last    string   // the last answer
}

// keepsTalk writes a session of the project. The last one written is the newest.
func (w *world) keepsTalk(id string, s talked) {
	w.t.Helper()
	c := sessionLines{}
	for i, prompt := range s.prompts {
		answer := "fine"
		if i == len(s.prompts)-1 && s.last != "" {
			answer = s.last
		}
		c.entry(fmt.Sprintf(`"type":"message","message":{"role":"user","content":%q,"timestamp":1}`, prompt))
		c.entry(fmt.Sprintf(`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":%q}],"api":"openai-completions",`+
			`"provider":"slow","model":"small","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1}`, answer))
	}
	if s.name != "" {
		c.entry(fmt.Sprintf(`"type":"session_info","name":%q`, s.name))
	}
	path := w.agentFile("sessions/kept/" + id + ".jsonl")
	w.write(path, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-01-02T03:04:05.000Z","cwd":%q}`+"\n", id, w.project)+c.String())
	w.written++
	at := time.Date(2026, 1, 2, 3, w.written, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		w.t.Fatal(err)
	}
}

// keepsTalks writes 200 sessions, four of which have the word token: in the name, in a
// later prompt, in the last answer, in the first prompt.
func (w *world) keepsTalks() {
	for i := range 200 {
		s := talked{prompts: []string{fmt.Sprintf("talk %d of nothing", i)}}
		switch i {
		case 20:
			s.name = "refactor the token reader"
		case 70:
			s.prompts = append(s.prompts, "and count each token, 4711 of them")
		case 120:
			s.last = "all tests of the token pass"
		case 170:
			s.prompts[0] = "where is the token cut"
		}
		w.keepsTalk(fmt.Sprintf("talk%04d", i), s)
	}
}

// The list of sessions is narrowed by words in any order, which may be in the name, in
// any prompt, in the last answer.
func TestSessionsAreFoundByWhatWasSaid(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		c := cols(n)
		c.world = newWorld(t)
		c.world.keepsTalks()
		s := newDesk(t, c)
		s.rests("")
		s.Type("/resume\r")
		s.See("200")
		finds := func(words string, want int) {
			t.Helper()
			s.Type(words)
			if n >= 80 {
				s.matches(fmt.Sprintf(`\b%d of 200`, want))
			}
			s.See(words[strings.LastIndex(words, " ")+1:])
			s.Until(fmt.Sprintf("%d rows are left", want), func(now screentest.Screen) bool { return sessionRows(now) == want })
			s.Press("ctrl+u")
			if n >= 80 {
				s.UntilGone(fmt.Sprintf("%d of 200", want))
			}
			s.Until("all rows are back", func(now screentest.Screen) bool { return sessionRows(now) > 4 || sessionRows(now) > want })
		}
		finds("token", 4)
		finds("reader refactor", 1)
		finds("cut token", 1)
		finds("4711", 1)
		s.Press("esc")
		s.rests("")
		s.quits()
	})
}

// sessionRows are the rows of a list of sessions: each says how many messages one has,
// or, where the window is narrow, begins as its title does.
func sessionRows(now screentest.Screen) (n int) {
	for _, row := range now.Rows {
		row = strings.TrimPrefix(strings.TrimSpace(row), "▸ ")
		for _, title := range []string{"talk ", "refactor the", "where is"} {
			if strings.HasPrefix(row, title) {
				n++
			}
		}
	}
	return n
}

// A list fits a window of 8 rows with the question and the selected row; after Esc the
// rows are those from before.
func TestAPickerFitsALowWindow(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		w := newWorld(t)
		for i := range 40 {
			w.keepsTalk(fmt.Sprintf("talk%04d", i), talked{prompts: []string{fmt.Sprintf("talk %02d of nothing", i)}})
		}
		s := newDesk(t, scenery{world: w, terminal: screentest.Options{Cols: n, Rows: 8}})
		s.answered("hello", "Hello yourself.")
		before, _, _ := strings.Cut(unblank(s.Transcript()), "Hello yourself.")
		s.Type("/resume\r")
		selected := func(title string) {
			t.Helper()
			s.Until(title+" is selected, below the question", func(now screentest.Screen) bool {
				row, _ := now.Find("▸ " + title)
				question, _ := now.Find("Resume")
				return row > question && question >= 0
			})
		}
		selected("talk 39")
		s.Press("down")
		selected("talk 38")
		s.Press("pgdn")
		s.Until("another page is shown", func(now screentest.Screen) bool { return !now.Shows("talk 39") && now.Shows("▸ talk 3") })
		s.Press("pgup", "pgup")
		selected("talk 39")
		if n >= 40 { // all are read
			s.matches(`filter:.* 40\b`)
		} else {
			s.Quiet(500 * time.Millisecond)
		}
		s.Press("end")
		selected("talk 00")
		s.Press("home")
		selected("talk 39")
		s.Press("esc")
		s.rests("")
		after := unblank(s.Transcript())
		if !strings.HasPrefix(after, before+"Hello yourself.\n> /resume\n") || strings.Count(after, "\n") > strings.Count(before, "\n")+6 {
			t.Errorf("after Esc the rows are\n%s\nbefore they were\n%s", after, before)
		}
		for _, gone := range []string{"▸", "filter:", "talk 39"} {
			if strings.Contains(after, gone) {
				t.Errorf("%q is still there:\n%s", gone, after)
			}
		}
		s.quits()
	})
}

// unblank is a text without its empty rows.
func unblank(text string) string {
	var rows []string
	for row := range strings.Lines(text) {
		if strings.TrimSpace(row) != "" {
			rows = append(rows, strings.TrimRight(row, "\n"))
		}
	}
	return strings.Join(rows, "\n")
}
