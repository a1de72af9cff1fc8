package acp

import (
	sessions "pi/session"
	"pi/session/message"
)

// replayer shows what was said in a session.
type replayer struct{ session *session }

// replay shows the client what was said on the current branch, also what compactions took
// out of the context: texts, thoughts, images, and each call once, as it ended.
func (r replayer) replay() {
	branch := r.session.agent().Session().Branch()
	results := map[*sessions.Entry]map[string]*message.Message{}
	var calls *sessions.Entry // the last answer, whose results follow
	for _, e := range branch {
		m := e.Message()
		switch {
		case m == nil:
		case m.Role == message.RoleAssistant:
			calls, results[e] = e, map[string]*message.Message{}
		case m.Role == message.RoleToolResult && calls != nil:
			results[calls][m.ToolCallID] = m
		}
	}
	for _, e := range branch {
		if m := e.Message(); m != nil {
			r.replayMessage(e.ID, m, results[e])
		}
	}
}

// noteCalls notes the calls of the current branch without showing them: the client knows
// them, and no further one may have an id of theirs.
func (r replayer) noteCalls() {
	for _, e := range r.session.agent().Session().Branch() {
		m := e.Message()
		if m == nil || m.Role != message.RoleAssistant {
			continue
		}
		for _, b := range m.Content {
			if b.Type == message.BlockToolCall {
				r.session.calls.replayID(b.ID)
			}
		}
	}
}

// replayMessage shows one message; results are those of its calls.
func (r replayer) replayMessage(id string, m *message.Message, results map[string]*message.Message) {
	switch m.Role {
	case message.RoleUser:
		r.replayAll(contentChunks(userChunk, id, m.Content))
	case message.RoleAssistant:
		for _, b := range m.Content {
			switch {
			case b.Type == message.BlockThinking && !b.Redacted && b.Text != "":
				r.session.out.replay(chunk{thoughtChunk, id, textOf(b.Text)})
			case b.Type == message.BlockToolCall:
				r.replayCall(r.endedCall(b, results[b.ID]))
			default:
				r.replayAll(contentChunks(agentChunk, id, []message.Block{b}))
			}
		}
	case message.RoleCustom:
		if m.Display {
			r.replayAll(contentChunks(agentChunk, id, m.Content))
		}
	case message.RoleBashExecution:
		r.replayShell(id, m)
	}
}

func (r replayer) replayAll(all []update) {
	for _, u := range all {
		r.session.out.replay(u)
	}
}

// replayCall shows a call and then how it ended: some clients take content from updates alone.
func (r replayer) replayCall(c toolCall) {
	begun := c
	begun.SessionUpdate, begun.Status, begun.Content = "tool_call", callPending, nil
	r.session.out.replay(begun)
	r.session.out.replay(toolCall{SessionUpdate: "tool_call_update", ID: c.ID, Status: c.Status, Content: c.Content})
}

// endedCall is a call with its result; nil if it never got one.
func (r replayer) endedCall(b message.Block, result *message.Message) toolCall {
	c := r.session.view(nameOfCall(b.Name, b.Arguments))
	c.Status = callCompleted
	c.ID = r.session.calls.replayID(b.ID)
	content := []any{contentOf(textOf("no result: pi was ended"))}
	if result != nil {
		content = resultContent(result.Content)
	}
	if result == nil || result.IsError {
		c.Status = callFailed
	}
	if c.Status == callCompleted {
		if d := argumentDiffs(c, result.Text()); len(d) > 0 {
			content = d
		}
	}
	c.Content = &content
	return c
}

// replayShell shows a command that a user ran in a terminal.
func (r replayer) replayShell(id string, m *message.Message) {
	content := resultContent([]message.Block{message.TextBlock(m.Output)})
	c := toolCall{ID: r.session.calls.replayID(id), Title: callTitle("! "+cut(m.Command, 4096), nil),
		Name: "bash", Kind: "execute", Status: callCompleted, Content: &content}
	if m.Cancelled || m.ExitCode != nil && *m.ExitCode != 0 {
		c.Status = callFailed
	}
	r.replayCall(c)
}

// replayID returns the id by which the client gets to know a call that has ended.
func (c *calls) replayID(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.uniqueID(id)
}
