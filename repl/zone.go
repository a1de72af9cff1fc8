package repl

import (
	"pi/agent"
	"pi/repl/terminal"
)

// section is a part of the live zone. When the zone is too high, sections give way in
// the order of their rank: the one with the lowest loses rows first.
type section struct {
	rank rank
	rows []string
	// least rows stay whatever happens.
	least int
	// fromEnd is set where the last rows are the ones to lose; else it is the first.
	fromEnd bool
}

// rank says which section of the zone gives way first.
type rank uint8

const (
	rankAir rank = iota // a blank row
	rankWidget
	rankHeader
	rankFooter
	rankBlock
	rankOutput
	rankQueue
	rankStatus
	rankLive // the row that says what is waited for, and the row of the cursor
)

// zoneRows is how many rows the zone may have in a window of height rows: a third, but
// six where there are so many; with a panel all but two.
func zoneRows(height int, panel bool) int {
	if panel {
		return max(1, height-2)
	}
	return min(height, max(6, height/3))
}

// fit shortens sections until together they have at most limit rows.
func fit(sections []section, limit int) {
	total := 0
	for _, s := range sections {
		total += len(s.rows)
	}
	for r := rankAir; r <= rankLive && total > limit; r++ {
		for i := len(sections) - 1; i >= 0 && total > limit; i-- {
			s := &sections[i]
			if s.rank != r {
				continue
			}
			n := min(total-limit, len(s.rows)-min(s.least, len(s.rows)))
			if s.fromEnd {
				s.rows = s.rows[:len(s.rows)-n]
			} else {
				s.rows = s.rows[n:]
			}
			total -= n
		}
	}
}

// zone puts the live zone together, from top to bottom. The caller has the lock.
func (s *screen) zone(columns, rows int) terminal.Zone {
	panel := s.panels.top()
	component := s.panels.component()
	limit := zoneRows(rows, panel != nil || component != nil || s.line.overlay != nil)
	busy := s.busy.rows(columns, s)
	sections := []section{
		{rank: rankHeader, rows: s.widgets.rows(s.palette, columns, agent.Header), fromEnd: true},
		{rank: rankBlock, rows: s.flow.liveRows(columns)},
		{rank: rankOutput, rows: s.calls.liveRows(columns, s.now())},
		{rank: rankOutput, rows: s.notices.waitingRows(columns, s.now())},
		{rank: rankLive, rows: busy, least: 1},
		{rank: rankQueue, rows: s.queueRows(columns)},
		{rank: rankQueue, rows: s.notices.mention.rows(s.palette, columns, s.now())},
		{rank: rankWidget, rows: s.widgets.plan.rows(s.palette, columns), fromEnd: true},
		{rank: rankWidget, rows: s.widgets.rows(s.palette, columns, agent.Above), fromEnd: true},
	}
	z := terminal.Zone{NoCursor: true}
	at, row := -1, 0
	for _, part := range s.typing(columns, max(1, limit-len(busy)), rows, panel, component) {
		if part.row >= 0 {
			at, row, z.Column, z.NoCursor = len(sections), part.row, part.column, false
		}
		sections = append(sections, section{rank: part.rank, rows: part.rows, least: part.least, fromEnd: true})
	}
	sections = append(sections,
		section{rank: rankWidget, rows: s.widgets.rows(s.palette, columns, agent.Below), fromEnd: true},
		section{rank: rankFooter, rows: s.widgets.rows(s.palette, columns, agent.Footer), fromEnd: true})
	fit(sections, limit)
	for i, x := range sections {
		if i == at {
			z.Row = min(len(z.Rows)+row, len(z.Rows)+max(0, len(x.rows)-1))
		}
		z.Rows = append(z.Rows, x.rows...)
	}
	if z.NoCursor {
		z.Row = max(0, len(z.Rows)-1)
	}
	return z
}

// part is a part of what has the keys, and where the cursor is in it; row is -1 for
// nowhere.
type part struct {
	rank        rank
	least       int
	rows        []string
	row, column int
}

// airyHeight is how many rows a window has in which a blank one stands above the status.
const airyHeight = 30

// typing is what has the keys, in at most limit rows: the panel in view, or a component
// of a hook and the line. A panel that does not take keys yet stands above the line, and
// so does a component that does not cover it.
func (s *screen) typing(columns, limit, height int, p *shownPanel, c *surface) (parts []part) {
	line := func(limit int) part {
		rows, row, column := s.line.render(columns, limit, max(1, height/3), s.lineSign())
		return part{rankLive, len(rows), rows, row, column}
	}
	switch {
	case p != nil && p.hasKeys(s.now()):
		rows, row, column := p.Render(columns, limit)
		return []part{{rankLive, len(rows), rows, row, column}}
	case p != nil:
		below := line(max(1, limit/3))
		rows, _, _ := p.Render(columns, max(1, limit-len(below.rows)))
		return []part{{rankLive, len(rows), rows, -1, 0}, below}
	case c != nil && c.options.Over && c.hasKeys(s.now()):
		rows, row, column := c.rows(columns, limit)
		return []part{{rankLive, len(rows), rows, row, column}}
	}
	below := line(limit)
	if c == nil {
		var air []string
		if height >= airyHeight && s.status.model != "" {
			air = []string{""}
		}
		return []part{{rankAir, 0, air, -1, 0}, {rankStatus, 0, s.statusRows(columns), -1, 0}, below}
	}
	above, row, column := c.rows(columns, max(1, limit-len(below.rows)))
	if row >= 0 && c.hasKeys(s.now()) {
		below.row = -1
	}
	return []part{{rankLive, len(above), above, row, column}, below}
}
