package repl

import (
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// Nothing that is said splits a sentence of an answer: rows of others are put into the
// transcript where no row of the open block can change any more, which is between two
// paragraphs, and behind a block of code, not in it. Until then they wait, and are shown in the zone:
// what the person asked for at once, notices after two seconds.

// noticeWait is how long a notice is not shown at all because a block is open.
const noticeWait = 2 * time.Second

// notice is some rows that wait.
type notice struct {
	kind   kind
	rows   []string
	from   time.Time // when they are shown in the zone
	behind bool      // they stand behind the rows of all calls
}

// notices are those that wait.
type notices struct {
	palette terminal.Palette
	waiting []notice
	mention mention
}

// mention is what a key has done, shown in the zone for a moment.
type mention struct {
	text  string
	until time.Time
}

// mentionTime is how long that is.
const mentionTime = 2 * time.Second

// waitingShown is how many rows that wait are drawn, the newest.
const waitingShown = 30

// waitingRows are the rows of the zone, not wider than it is.
func (n *notices) waitingRows(columns int, now time.Time) (rows []string) {
	for _, x := range slices.Backward(n.waiting) {
		for _, row := range slices.Backward(x.rows) {
			if len(rows) == waitingShown {
				break
			}
			if !now.Before(x.from) {
				rows = append(rows, cells.Cut(row, columns))
			}
		}
	}
	slices.Reverse(rows)
	return rows
}

// tell shows a notice. The caller has the lock.
func (s *screen) tell(rows []string) { s.interject(kindNotice, noticeWait, rows) }

// answerKey shows what a key has done. The caller has the lock.
func (s *screen) answerKey(text string) {
	s.interject(kindNotice, 0, s.noticeRows(text, agent.LevelInfo))
}

// mention shows what a key has done for a moment, in the zone alone: the status says it from
// then on. In plain mode there is no zone. The caller has the lock.
func (s *screen) mention(text string) {
	if s.plain {
		s.answerKey(text)
		return
	}
	s.notices.mention = mention{strings.TrimRight(printable.Text(text), "\n"), s.now().Add(mentionTime)}
	time.AfterFunc(mentionTime+time.Millisecond, func() { s.change(func() {}) })
}

// rows are those of the zone.
func (m mention) rows(p terminal.Palette, columns int, now time.Time) []string {
	if m.text == "" || !now.Before(m.until) {
		return nil
	}
	var rows []string
	for line := range strings.SplitSeq(m.text, "\n") {
		for _, row := range cells.Wrap(line, max(1, columns)) {
			rows = append(rows, p.Paint("dim", row))
		}
	}
	return rows
}

// interject puts rows into the transcript as soon as they split nothing. If that takes
// longer than patience they are shown in the zone meanwhile. The caller has the lock.
func (s *screen) interject(k kind, patience time.Duration, rows []string) {
	s.notices.waiting = append(s.notices.waiting, notice{kind: k, rows: rows, from: s.now().Add(patience)})
	s.tellWaiting()
}

// tellWaiting puts the rows that wait into the transcript, unless they would split
// something. The caller has the lock.
func (s *screen) tellWaiting() {
	f := &s.flow
	if len(s.notices.waiting) == 0 || f.open != nil && (f.open.IsInside() || len(f.open.Live()) > 0) {
		return
	}
	var stay []notice
	for _, n := range s.notices.waiting {
		if n.behind && len(s.calls.all) > 0 {
			stay = append(stay, n)
			continue
		}
		s.add(n.kind, n.rows...)
	}
	s.notices.waiting = stay
	if f.open != nil { // its next rows bring their own blank row
		f.last = kindOf(f.shows)
	}
}

// notify shows a line that is no part of the conversation.
func (s *screen) notify(text string, level agent.Level) {
	s.change(func() { s.tell(s.noticeRows(text, level)) })
}

// noticeRows words a notice. The caller has the lock.
func (s *screen) noticeRows(text string, level agent.Level) (rows []string) {
	text = strings.TrimRight(printable.Text(text), "\n")
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
