package command

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/session"
)

func sessionCommand(a *agent.Agent) Command {
	return Command{
		Name: "session", Help: "show the session: file, entries, model, tokens, cost",
		Run: func(context.Context, string) (Outcome, error) { return Outcome{Status: sessionInfo(a)}, nil },
	}
}

func sessionInfo(a *agent.Agent) string {
	s := a.Session()
	file := s.File()
	if file == "" {
		file = "not saved"
	}
	t := tally(s.Entries())
	lines := []string{
		"file     " + file,
		"id       " + s.ID(),
		fmt.Sprintf("entries  %d (%d on this branch)", len(s.Entries()), len(s.Branch())),
		fmt.Sprintf("messages %d of you, %d of the model, %d tool results", t.user, t.assistant, t.results),
		fmt.Sprintf("model    %s:%s", a.Model().Ref(), a.Thinking()),
		fmt.Sprintf("tokens   %d in, %d out, %d cache read, %d cache write", t.usage.Input, t.usage.Output, t.usage.CacheRead, t.usage.CacheWrite),
		"cost     " + cost(t.usage.Cost.Total),
	}
	if name := s.Name(); name != "" {
		lines = append([]string{"name     " + name}, lines...)
	}
	return strings.Join(lines, "\n")
}

// cost is unknown rather than nothing where no price is known.
func cost(total float64) string {
	if total == 0 {
		return "unknown or none"
	}
	return fmt.Sprintf("$%.4f", total)
}

// totals is what a session's entries add up to, all branches together: that is
// what was paid.
type totals struct {
	user, assistant, results int
	usage                    session.Usage
}

func tally(entries []*session.Entry) (t totals) {
	for _, e := range entries {
		if e.Type == session.TypeUsage {
			if u, err := session.Body[session.UsageEntry](e); err == nil {
				t.add(u.Usage)
			}
			continue
		}
		if e.Type != session.TypeMessage {
			continue
		}
		m := e.Message()
		if m == nil {
			continue
		}
		switch m.Role {
		case session.RoleUser:
			t.user++
		case session.RoleAssistant:
			t.assistant++
		case session.RoleToolResult:
			t.results++
		}
		t.add(m.Usage)
	}
	return t
}

func (t *totals) add(u *session.Usage) {
	if u == nil {
		return
	}
	t.usage.Input += u.Input
	t.usage.Output += u.Output
	t.usage.CacheRead += u.CacheRead
	t.usage.CacheWrite += u.CacheWrite
	t.usage.Cost.Total += u.Cost.Total
}
