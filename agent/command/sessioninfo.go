package command

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/session/message"
)

func sessionCommand(a *agent.Agent) Command {
	return Command{
		Name: "session", Topic: TopicSession, Help: "show the session: file, entries, model, tokens, cost",
		Run: func(context.Context, string) (Outcome, error) { return Outcome{Status: sessionInfo(a)}, nil },
	}
}

// sessionInfo describes the current session for the user, one property a line.
func sessionInfo(a *agent.Agent) string {
	s := a.Session()
	file := s.File()
	if file == "" {
		file = "not saved"
	}
	t, n := a.Totals(), map[message.Role]int{} // messages of all branches together
	for _, e := range s.Entries() {
		if m := e.Message(); m != nil {
			n[m.Role]++
		}
	}
	lines := []string{
		"file     " + file,
		"id       " + s.ID(),
		fmt.Sprintf("entries  %d (%d on this branch)", len(s.Entries()), len(s.Branch())),
		fmt.Sprintf("messages %d of you, %d of the model, %d tool results", n[message.RoleUser], n[message.RoleAssistant], n[message.RoleToolResult]),
		fmt.Sprintf("model    %s:%s", a.Model().Ref(), a.Thinking()),
		fmt.Sprintf("tokens   %d in, %d out, %d cache read, %d cache write", t.Input, t.Output, t.CacheRead, t.CacheWrite),
		"context  " + fullness(t.ContextUsage),
		"cost     " + cost(t),
	}
	if name := s.Name(); name != "" {
		lines = append([]string{"name     " + name}, lines...)
	}
	if branch := s.GitBranch(); branch != "" {
		lines = append(lines, "branch   "+branch)
	}
	if parent := s.Header().ParentSession; parent != "" {
		lines = append(lines, "parent   "+parent)
	}
	if cwd := s.Cwd(); cwd != "" && cwd != a.Cwd() {
		lines = append(lines, "begun in "+cwd)
	}
	if s.ReadOnly() {
		lines = append(lines, "state    open for reading only")
	} else if err := s.Unsaved(); err != nil {
		lines = append(lines, "state    part of it is only in memory: "+err.Error()+"; /export saves it elsewhere")
	}
	return strings.Join(lines, "\n")
}

func fullness(c agent.ContextUsage) string {
	if c.Window == 0 {
		return fmt.Sprintf("about %d tokens", c.Tokens)
	}
	return fmt.Sprintf("about %d of %d tokens (%.0f%%)", c.Tokens, c.Window, c.Percent)
}

// cost returns the costs of a session for the user. It says "unknown" instead of $0
// where no price is known, and marks a sum that lacks some prices.
func cost(t agent.Totals) string {
	switch {
	case t.Priced:
		return fmt.Sprintf("$%.4f", t.Cost.Total)
	case t.Cost.Total == 0:
		return "unknown"
	}
	return fmt.Sprintf("$%.4f and more: not every price is known", t.Cost.Total)
}
