package command

import (
	"fmt"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
)

// moved returns the outcome of a move of the leaf: word, the message that the conversation
// ends with now, and the prompt that was taken back, if one was.
func moved(a *agent.Agent, m agent.Moved, word string) Outcome {
	s, text := a.Session(), word+": the conversation is empty here"
	if e := lastMessage(s.Path(m.Leaf)); e != nil {
		line, _ := entryText(e, true)
		text = fmt.Sprintf("%s: the conversation (%s) ends with %s", word, printable.Count(len(s.Context()), "message"), line)
	}
	return recalled(text, m.Recalled)
}

// recalled returns an outcome that gives back a prompt that was sent once, as a draft to
// edit. Its attachments are not given back; the status says so.
func recalled(status string, r agent.Recalled) Outcome {
	if r.Attachments > 0 {
		status += "\n" + printable.Count(r.Attachments, "attachment") + " went with that prompt: what goes along again is told when it is sent, the rest has to be attached again"
	}
	return Outcome{Status: status, Draft: r.Text}
}

// lastMessage returns the last entry of path that is a message; nil if there is none.
func lastMessage(path []*session.Entry) *session.Entry {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Message() != nil {
			return path[i]
		}
	}
	return nil
}
