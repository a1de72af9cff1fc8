package repl

import (
	"slices"
	"time"

	"pi/agent"
	"pi/internal/printable"
)

// An agent that a hook uses in a tool shows as the call of that. One that works otherwise has a row of
// its own in the live zone, which says what it does. Esc ends it only with the command that waits for it;
// /agents ends any.

// agentRow is an agent that works for no call.
type agentRow struct {
	name, text string
	began      time.Time
}

// agentRows are those that work, in the order in which they began.
type agentRows []*agentRow

func (a agentRows) find(name string) *agentRow {
	if i := slices.IndexFunc(a, func(r *agentRow) bool { return r.name == name }); i >= 0 {
		return a[i]
	}
	return nil
}

// rows are those of the zone.
func (a agentRows) rows(c *calls, columns int, now time.Time) (rows []string) {
	for _, r := range a {
		x := &call{title: []string{printable.Line("agent " + r.name + ": " + r.text)}}
		rows = append(rows, c.headRow(x, printable.Seconds(now.Sub(r.began)), columns))
	}
	return rows
}

// agentStarts shows an agent that works for no call of a tool.
func (r *REPL) agentStarts(e *agent.ChildStart) {
	if e.Call != "" {
		return
	}
	s := r.screen
	s.change(func() {
		s.agents = append(s.agents, &agentRow{e.Name, printable.FirstLine(e.Prompt, agentText), s.now()})
		r.work.tick()
		if s.plain {
			s.add(kindNotice, printable.Line("... agent "+e.Name+" works: "+printable.FirstLine(e.Prompt, agentText)))
		}
	})
}

// agentText is how many characters of what an agent does are shown.
const agentText = 200

// agentWorks shows what an agent does.
func (r *REPL) agentWorks(e *agent.ChildUpdate) {
	r.screen.change(func() {
		if row := r.screen.agents.find(e.Name); row != nil {
			row.text = e.Last()
		}
	})
}

// agentEnds takes the row of an agent away.
func (r *REPL) agentEnds(e *agent.ChildEnd) {
	s := r.screen
	s.change(func() {
		row := s.agents.find(e.Name)
		if row == nil {
			return
		}
		s.agents = slices.DeleteFunc(s.agents, func(other *agentRow) bool { return other == row })
		r.work.tick()
		if s.plain {
			s.add(kindNotice, printable.Line("... agent "+e.Name+" has ended: "+e.StopReason+" "+printable.Seconds(s.now().Sub(row.began))))
		}
	})
}
