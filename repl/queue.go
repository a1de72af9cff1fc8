package repl

import (
	"pi/internal/cells"
)

// queueRowsShown is how many queued messages have a row of their own.
const queueRowsShown = 3

// queueRows are the rows of the messages that wait, the newest last: that one can be
// taken back. The caller has the lock.
func (s *screen) queueRows(columns int) (rows []string) {
	shown := s.queue[max(0, len(s.queue)-queueRowsShown):]
	for i, q := range shown {
		row := "  ↳ " + q.when + ": " + q.text
		if i == len(shown)-1 {
			const how = "  Alt+Up takes it back"
			if room := columns - len(how); room >= 20 {
				rows = append(rows, s.palette.Paint("dim", cells.Cut(row, room)+how))
				continue
			}
		}
		rows = append(rows, s.palette.Paint("dim", cells.Cut(row, columns)))
	}
	return rows
}
