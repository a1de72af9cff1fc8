package repl

import (
	"strings"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// A notice never splits a sentence: while a block of an answer is open it waits for the
// end of that. After two seconds it is also shown in the zone, until then.

// noticeWait is how long a notice is not shown at all because a block is open.
const noticeWait = 2 * time.Second

type notice struct {
	rows []string
	at   time.Time
}

// notices are those that wait for the end of a block.
type notices struct {
	palette terminal.Palette
	waiting []notice
}

// waitingRows are the rows of the notices that have waited for long.
func (n *notices) waitingRows(columns int) (rows []string) {
	for _, x := range n.waiting {
		if time.Since(x.at) >= noticeWait {
			for _, row := range x.rows {
				rows = append(rows, cells.Cut(row, columns))
			}
		}
	}
	return rows
}

// tell shows rows between two blocks. The caller has the lock.
func (s *screen) tell(rows []string) {
	if s.flow.open == nil {
		s.add(kindNotice, rows...)
		return
	}
	s.notices.waiting = append(s.notices.waiting, notice{rows, s.now()})
	time.AfterFunc(noticeWait, func() { s.change(func() {}) })
}

// tellWaiting shows the notices that waited for the end of a block. The caller has the
// lock.
func (s *screen) tellWaiting() {
	for _, n := range s.notices.waiting {
		s.add(kindNotice, n.rows...)
	}
	s.notices.waiting = nil
}

// notify shows a line that is no part of the conversation.
func (s *screen) notify(text string, level agent.Level) {
	text = strings.TrimRight(printable.Text(text), "\n")
	s.change(func() { s.tell(s.noticeRows(text, level)) })
}

// noticeRows words a notice. The caller has the lock.
func (s *screen) noticeRows(text string, level agent.Level) (rows []string) {
	style := "dim"
	switch level {
	case agent.LevelError:
		style, text = "error", "error: "+text
	case agent.LevelWarning:
		style, text = "warning", "warning: "+text
	}
	for _, row := range s.wrapped([]string{text}) {
		rows = append(rows, s.palette.Paint(style, row))
	}
	return rows
}
