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
	x := exchangeOf(branch[at:])
	s := r.screen
	_, height := r.person.term.Size()
	s.change(func() {
		s.endBlock()
		s.add(kindPrompt, s.promptRow(x.prompt))
		rows := s.painter().Rows(x.answer)
		if n := len(rows) - (max(2, height/3) - 2); n > 0 { // without the prompt and the blank row
			rows = append([]string{s.palette.Paint("dim", "…")}, rows[n+1:]...)
		}
		s.add(kindText, rows...)
		for _, text := range x.cutOff() {
			s.add(kindNotice, s.noticeRows("cut off: "+text, agent.LevelWarning)...)
		}
	})
}

// promptRow is the first row of a prompt, as the echo of a prompt begins. The caller has
// the lock.
func (s *screen) promptRow(text string) string {
	sign := promptSign
	if s.plain {
		sign = "you: "
	}
	first, _, more := strings.Cut(strings.TrimSpace(printable.Text(text)), "\n")
	row := sign + strings.ReplaceAll(first, "\t", "    ")
	if more {
		row += " …"
	}
	return s.palette.Paint("user", cells.Cut(row, s.columns))
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

// exchange is a prompt and what came after it.
type exchange struct {
	prompt string
	answer string           // the last text of the model
	open   []string         // titles of calls that have no result
	ended  []string         // of calls that were interrupted, and nothing came after them
	last   *message.Message // of the model; nil: none came
}

// cutOff tells what did not come to its end; nil for nothing.
func (x exchange) cutOff() (texts []string) {
	for _, title := range x.open {
		texts = append(texts, title+" had not ended when the program did; the model is told so")
	}
	for _, title := range x.ended {
		texts = append(texts, title+" was interrupted")
	}
	switch {
	case texts != nil:
	case x.last == nil:
		texts = append(texts, `the prompt has no answer; say "go on" to have one`)
	case x.last.StopReason == message.StopAborted:
		texts = append(texts, "the answer was interrupted")
	case x.last.StopReason == message.StopError:
		texts = append(texts, strings.TrimSuffix("the request failed: "+printable.Line(x.last.ErrorMessage), ": "))
	}
	return texts
}

// exchangeOf reads the entries that begin with a prompt.
func exchangeOf(entries []*session.Entry) (x exchange) {
	x.prompt = entries[0].Message().Typed()
	calls := map[string]string{}
	var order []string
	for _, e := range entries[1:] {
		m := messageOf(e)
		switch {
		case m == nil:
		case m.Role == message.RoleAssistant:
			x.last, x.ended = m, nil
			if text := strings.TrimSpace(m.Text()); text != "" {
				x.answer = text
			}
			for _, c := range m.ToolCalls() {
				calls[c.ID] = titleOf(c.Name, c.Arguments)[0]
				order = append(order, c.ID)
			}
		case m.Role == message.RoleToolResult:
			if m.IsError && strings.HasSuffix(strings.TrimSpace(m.Text()), "interrupted") {
				x.ended = append(x.ended, calls[m.ToolCallID])
			}
			delete(calls, m.ToolCallID)
		}
	}
	for _, id := range order {
		if title, ok := calls[id]; ok {
			x.open = append(x.open, title)
		}
	}
	return x
}
