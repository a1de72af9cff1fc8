package repl

import (
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/edit"
	"pi/repl/terminal"
	"pi/repl/terminal/history"
)

// searching is a search over some lines, the newest last.
func searching(t *testing.T, lines ...string) (*line, *search) {
	t.Helper()
	h := history.Open(filepath.Join(t.TempDir(), "history"), nil)
	for _, text := range lines {
		if err := h.Add(edit.Draft{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	l := newStage(80).line
	l.history, l.walk = h, h.Walk()
	return l, newSearch(l, terminal.Palette{})
}

func types(s *search, keys ...string) {
	for _, k := range keys {
		key := terminal.Key{Name: k}
		if len(k) == 1 {
			key.Text = k
		}
		s.Key(key)
	}
}

func TestALineIsFoundByItsParts(t *testing.T) {
	l, s := searching(t, "go test ./...", "git status", "go vet ./repl", "make test")
	rows, _, _ := s.Render(60, 20)
	if len(rows) != 5 || rows[0] != "search:   4 of 4" || rows[1] != "▸ make test" || rows[4] != "  go test ./..." {
		t.Errorf("%q", rows)
	}
	types(s, "t", "e", "s", "t")
	rows, _, column := s.Render(60, 20)
	if len(rows) != 3 || rows[0] != "search: test  2 of 4" || column != 12 {
		t.Errorf("%q, cursor in %d", rows, column)
	}
	types(s, "down", "down", "enter")
	if !s.Done() || l.text() != "go test ./..." {
		t.Errorf("the line is %q", l.text())
	}
}

func TestASearchThatIsGivenUpLeavesTheLine(t *testing.T) {
	l, s := searching(t, "one")
	l.set("half")
	types(s, "o", "esc")
	if !s.Done() || l.text() != "half" {
		t.Errorf("the line is %q", l.text())
	}
}

func TestTheSelectedLineIsInView(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, strings.Repeat("x", i+1))
	}
	_, s := searching(t, lines...)
	for _, key := range []string{"pagedown", "down", "pagedown", "pagedown", "pagedown", "up", "pageup", "up"} {
		types(s, key)
		rows, _, _ := s.Render(12, 6)
		selected := 0
		for _, row := range rows {
			if strings.HasPrefix(row, "▸") {
				selected++
			}
			if widthOf(row) > 12 {
				t.Errorf("%q", row)
			}
		}
		if selected != 1 || len(rows) > 6 {
			t.Errorf("after %s: %q", key, rows)
		}
	}
}

func TestALongEntryIsOneRowThatSaysHowMuchItIs(t *testing.T) {
	paste := "func main() {\n\tprintln()\n}\n"
	for _, c := range []struct {
		name  string
		draft edit.Draft
		want  string
	}{
		{"short", edit.Draft{Text: "one\ntwo\x1b[2J"}, "one two"},
		{"a paste", edit.Draft{Text: "look: " + paste, Tokens: []edit.Span{{From: 6, To: 6 + len(paste)}}}, "look: [paste: 4 lines, 27 bytes] func main() {"},
		{"a labelled one", edit.Draft{Text: "see /tmp/x.png now", Tokens: []edit.Span{{From: 4, To: 14, Label: "[shot.png]"}}}, "see [shot.png] now"},
		{"long", edit.Draft{Text: strings.Repeat("x", 5000)}, "[paste: 1 line, 5000 bytes] " + strings.Repeat("x", 39) + "…"},
	} {
		if got := inRow(c.draft); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
