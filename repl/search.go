package repl

import (
	"fmt"
	"strings"

	"pi/internal/cells"
	"pi/internal/edit"
	"pi/internal/printable"
	"pi/repl/terminal"
	"pi/repl/terminal/history"
)

// record keeps a line that was sent, so that it can be called up again.
func (l *line) record(d edit.Draft) error { return l.history.Add(d) }

// search is the list below the line in which an entry of the history is looked for.
type search struct {
	palette terminal.Palette
	entries *history.Search
	field   edit.Field
	found   []int
	at      int // the selected one of found
	from    int // the first of found that is drawn
	done    bool
	choose  func(history.Entry)
}

// searchRows is how many entries are shown at once.
const searchRows = 8

func newSearch(l *line, p terminal.Palette) *search {
	s := &search{palette: p, entries: l.history.Search()}
	s.choose = func(e history.Entry) { l.walk.Show(e, l.buffer) }
	s.found = s.entries.Find("")
	return s
}

// Key gives the search a key: it has all of them.
func (s *search) Key(k terminal.Key) (used bool) {
	switch k.Name {
	case "up", "ctrl+p":
		s.at = max(0, s.at-1)
	case "down", "ctrl+n", "ctrl+r":
		s.at = min(max(0, len(s.found)-1), s.at+1)
	case "pageup":
		s.at = max(0, s.at-searchRows)
	case "pagedown":
		s.at = min(max(0, len(s.found)-1), s.at+searchRows)
	default:
		s.typed(k)
	}
	return true
}

// typed gives a key to the text that is searched for.
func (s *search) typed(k terminal.Key) {
	switch s.field.Key(k.Name, k.Text) {
	case edit.Submitted:
		s.done = true
		if s.at < len(s.found) {
			s.choose(s.entries.Entry(s.found[s.at]))
		}
	case edit.Cancelled:
		s.done = true
	case edit.Used:
		s.found, s.at, s.from = s.entries.Find(s.field.Text()), 0, 0
	}
}

// Done reports whether an entry was chosen, or the search given up.
func (s *search) Done() bool { return s.done }

// inRow is an entry as one row: in place of a long text, and of what was pasted, stands
// how much it is.
func inRow(d edit.Draft) string {
	const most = 400 // bytes; no row is longer
	if len(d.Tokens) == 0 && len(d.Text) > most {
		d.Tokens = []edit.Span{{From: 0, To: len(d.Text)}}
	}
	var row strings.Builder
	at := 0
	for _, t := range d.Tokens {
		label := t.Label
		if label == "" {
			text := d.Text[t.From:t.To]
			label = fmt.Sprintf("[paste: %s, %s] %s", printable.Count(1+strings.Count(text, "\n"), "line"), printable.Bytes(len(text)), printable.FirstLine(text, 40))
		}
		row.WriteString(d.Text[at:t.From] + label)
		at = t.To
		if row.Len() > most {
			return printable.Line(row.String()[:most])
		}
	}
	row.WriteString(d.Text[at:min(len(d.Text), at+most)])
	return printable.Line(row.String())
}

// Render draws the text that is searched for, and below it the entries that have it.
func (s *search) Render(width, height int) (rows []string, cursorRow, cursorColumn int) {
	sign := "search: "
	if width < 2*len(sign) {
		sign = ""
	}
	text, column := s.field.Render(max(1, width-len(sign)))
	count := fmt.Sprintf("  %d of %d", len(s.found), s.entries.Len())
	row := sign + text
	if cells.Width(row)+len(count) <= width {
		row += s.palette.Paint("dim", count)
	}
	rows = []string{row}
	shown := min(searchRows, height-1)
	s.from = min(s.from, s.at)
	s.from = max(s.from, s.at-shown+1)
	for i := s.from; i < len(s.found) && len(rows) <= shown; i++ {
		entry := inRow(s.entries.Entry(s.found[i]).Draft)
		if i == s.at {
			rows = append(rows, s.palette.Paint("accent", cells.Cut("▸ "+entry, width)))
			continue
		}
		rows = append(rows, cells.Cut("  "+entry, width))
	}
	return rows, 0, len(sign) + column
}
