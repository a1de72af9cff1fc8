package repl

import (
	"strings"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// showLastExchange shows where a session that goes on had ended: the first row of the
// last prompt and the last rows of its answer, together at most a third of the window;
// and what was cut off in it.
func (r *REPL) showLastExchange() {
	branch := r.agent.Session().Branch()
	at := lastPrompt(branch)
	if at < 0 || !r.person.HasUI() {
		return
	}
	prompt, answer, open := exchange(branch[at:])
	s := r.screen
	_, height := r.person.term.Size()
	s.change(func() {
		room := max(2, height/3) - 2
		first, _, more := strings.Cut(strings.TrimSpace(printable.Text(prompt)), "\n")
		row := promptSign + first
		if more {
			row += " …"
		}
		s.add(kindPrompt, s.palette.Paint("user", cells.Cut(row, s.columns)))
		rows := s.painter().Rows(answer)
		if n := len(rows) - room; n > 0 {
			rows = append([]string{s.palette.Paint("dim", "…")}, rows[n+1:]...)
		}
		s.add(kindText, rows...)
		for _, name := range open {
			s.add(kindNotice, s.noticeRows("cut off: "+name+" had not ended when the program did; the model is told so", agent.LevelWarning)...)
		}
		if len(open) == 0 && answer == "" {
			s.add(kindNotice, s.noticeRows("cut off: the prompt has no answer; say \"go on\" to have one", agent.LevelWarning)...)
		}
	})
}

// lastPrompt is the index of the last prompt of a branch, -1 for none.
func lastPrompt(branch []*session.Entry) int {
	for i := len(branch) - 1; i >= 0; i-- {
		if m := messageOf(branch[i]); m != nil && m.Role == message.RoleUser {
			return i
		}
	}
	return -1
}

func messageOf(e *session.Entry) *message.Message {
	if e.Type != session.TypeMessage {
		return nil
	}
	return e.Message()
}

// exchange is the text of a prompt, the last text of its answers, and the calls that have
// no result.
func exchange(entries []*session.Entry) (prompt, answer string, open []string) {
	calls := map[string]string{}
	var order []string
	for i, e := range entries {
		m := messageOf(e)
		switch {
		case m == nil:
		case i == 0:
			prompt = m.Text()
		case m.Role == message.RoleAssistant:
			if text := strings.TrimSpace(m.Text()); text != "" {
				answer = text
			}
			for _, c := range m.ToolCalls() {
				calls[c.ID] = titleOf(c.Name, c.Arguments)[0]
				order = append(order, c.ID)
			}
		case m.Role == message.RoleToolResult:
			delete(calls, m.ToolCallID)
		}
	}
	for _, id := range order {
		if title, ok := calls[id]; ok {
			open = append(open, title)
		}
	}
	return prompt, answer, open
}
