//go:build unix

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

var styled = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// Without colours roles, states and selections are told apart by their text; on a dumb
// terminal nothing but text is written.
func TestWithoutColoursTheTextTells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]scenery{
		"NO_COLOR":          {env: []string{"NO_COLOR=1"}},
		"--plain":           {args: []string{"--plain"}},
		"[ui] plain":        {settings: "[ui]\nplain = true\n"},
		"TERM=dumb":         {env: []string{"TERM=dumb"}},
		"NO_COLOR, 20 cols": {env: []string{"NO_COLOR=1"}, terminal: screentest.Options{Cols: 20}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := !strings.HasPrefix(name, "NO_COLOR")
			c.args = append(c.args, "--model", "slow/large", "--thinking", "low")
			s := newDesk(t, c)
			prompt := func() {
				t.Helper()
				s.Until("there is a prompt", func(now screentest.Screen) bool {
					return strings.HasPrefix(now.CursorRow(), ">") && now.Before() == "> "
				})
			}
			prompt()
			s.Type("go\r")
			turn := s.turn()
			turn.Think("I wonder about this.")
			turn.Text("I do it.")
			turn.Call("c1", "edit", "path", "a.txt", "edits", []map[string]string{{"oldText": "beta", "newText": "gamma"}})
			turn.Call("c2", "bash", "command", "echo printed; exit 3")
			turn.End()
			s.turn().Fail(401, "the key is not good")
			s.SeeAnywhere("the key is not good")
			prompt()
			shown := s.Transcript()
			want := []string{`(?m)^.+I wonder`, `- *beta`, `\+ *gamma`, `✗|exit 3`, `(?i)error`}
			if plain {
				want = []string{`(?m)^you: go|^> go`, `(?m)^thinking: I wonder`, `(?m)^tool edit:`, `(?m)^tool bash:`, `(?m)^error: `, `- *beta`, `\+ *gamma`, `exit 3`}
			}
			for _, pattern := range want {
				if !regexp.MustCompile(pattern).MatchString(shown) {
					t.Errorf("nothing matches %s:\n%s", pattern, shown)
				}
			}
			s.Type("/model\r")
			if plain {
				s.matches(`^ *1[.)]? .*slow`)
			} else {
				s.matches(`^▸ .*(slow|small|large)`)
			}
			if plain {
				s.Press("enter") // Esc is no key there
			} else {
				s.Press("esc")
			}
			prompt()
			out := s.Output()
			if styled.MatchString(out) {
				t.Errorf("colours are written: %q", styled.FindString(out))
			}
			if name == "TERM=dumb" && strings.Contains(out, "\x1b") {
				at := strings.Index(out, "\x1b")
				t.Errorf("an escape sequence is written: %q", out[max(at-40, 0):min(at+40, len(out))])
			}
			s.Press("ctrl+d")
			s.ended(statusDone)
		})
	}
}

// Nobody sees there that a slash takes the place of what /undo put into the line: the command
// does when it is sent.
func TestACommandTakesThePlaceOfAPlainLineOfTheProgram(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{args: []string{"--plain"}})
	stands := func(line string) {
		t.Helper()
		s.Until("the plain line is "+line, func(now screentest.Screen) bool {
			return strings.TrimRight(now.CursorRow(), " ") == strings.TrimRight("> "+line, " ")
		})
	}
	stands("")
	s.Type("go\r")
	turn := s.turn()
	turn.Text("I do it.")
	turn.End()
	s.SeeAnywhere("I do it.")
	stands("")
	for range 2 {
		s.Type("/undo\r")
		stands("go")
		s.Type("/redo\r")
		s.SeeAnywhere("redone: the conversation")
		stands("")
	}
	s.Press("ctrl+d")
	s.ended(statusDone)
}
