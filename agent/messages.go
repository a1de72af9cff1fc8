package agent

import (
	"context"

	"pi/session"
	"pi/session/message"
)

// What is said by others than the model is told before it is stored, to listeners to the
// messages of all roles: prompts, results of tools, custom messages, and commands of the user.

// askMessage emits the start and the end of a message that is about to be stored, and returns
// it with the content that listeners have given it. What it is and which call it belongs to
// stays, as whether that has failed, and a content that is empty does not count.
func (ls *listeners) askMessage(ctx context.Context, m *message.Message) *message.Message {
	ctx = uncancelled(ctx)
	ls.emitIf(ctx, KindOtherMessageStart, func() Event { return &MessageStart{Message: m, Other: true} })
	if !ls.wants(KindOtherMessageEnd) {
		return m
	}
	e := &MessageEnd{Message: m, Other: true}
	ls.emit(ctx, e)
	if e.Message == nil || e.Message == m || e.Message.Role != m.Role {
		return m
	}
	changed := m.Clone()
	if m.Role == message.RoleBashExecution {
		changed.Output = e.Message.Output
		return changed
	}
	if len(e.Message.Content) > 0 {
		changed.Content, changed.Plain = e.Message.Content, e.Message.Plain
	}
	if m.Role != message.RoleUser {
		changed.Details = e.Message.Details
	}
	return changed
}

// askCustom is askMessage for a custom message that listeners want in the session as an entry.
func (ls *listeners) askCustom(ctx context.Context, c session.CustomMessage, now int64) session.CustomMessage {
	m := ls.askMessage(ctx, &message.Message{Role: message.RoleCustom, Timestamp: now,
		CustomType: c.CustomType, Content: c.Content, Plain: c.Plain, Display: c.Display, Details: c.Details})
	c.Content, c.Plain, c.Details = m.Content, m.Plain, m.Details
	return c
}
