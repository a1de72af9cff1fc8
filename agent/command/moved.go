package command

import (
	"fmt"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
)

// moved is the outcome of a move of the leaf.
func moved(a *agent.Agent, m agent.Moved, word string) Outcome {
	s, text := a.Session(), word+": the conversation is empty here"
	if e := lastMessage(s.Path(m.Leaf)); e != nil {
		line, _ := entryText(e, true)
		text = fmt.Sprintf("%s: the conversation (%s) ends with %s", word, printable.Count(len(s.Context()), "message"), line)
	}
	return recalled(text, m.Recalled)
}

// recalled gives back what was sent once.
func recalled(status string, r agent.Recalled) Outcome {
	if r.Attachments > 0 {
		status += "\n" + printable.Count(r.Attachments, "attachment") + " went with that prompt: what its text names with @ goes along again, the rest has to be attached again"
	}
	return Outcome{Status: status, Draft: r.Text}
}

// lastMessage is what the conversation of a path ends with.
func lastMessage(path []*session.Entry) *session.Entry {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Message() != nil {
			return path[i]
		}
	}
	return nil
}
