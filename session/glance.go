package session

import "pi/session/message"

// Glance says how many messages [Session.Context] has, and the first of the
// user's texts among them. It decodes hardly more than that one message, for
// somebody waits for it when a session is opened; so messages whose bodies turn
// out to be broken are counted too.
func (s *Session) Glance() (messages int, prompt string) {
	path := s.Branch()
	at, first := LastCompaction(path)
	edits := EditsOn(path[first:])
	if at >= 0 && edited(path[at], edits) != nil {
		messages++
	}
	for _, e := range path[first:] {
		if !e.givesMessage(edits[e.ID]) {
			continue
		}
		messages++
		if prompt != "" {
			continue
		}
		if m := edited(e, edits); m != nil && m.Role == message.RoleUser {
			prompt = m.Text()
		}
	}
	return messages, prompt
}

// givesMessage reports whether an entry has a message in the context, without decoding
// it where its type is enough; edit is the last edit of it, or nil. It is not asked
// about compactions.
func (e *Entry) givesMessage(edit *ContextEdit) bool {
	if edit != nil && edit.Replacement == nil {
		return false
	}
	switch e.Type {
	case TypeMessage, TypeCustomMessage:
		return true
	case TypeBranchSummary:
		return e.Message() != nil
	}
	return false
}
