package acp

import (
	"strings"

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
			r.replayBlock(id, b, results)
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

// replayBlock shows a part of an answer.
func (r replayer) replayBlock(id string, b message.Block, results map[string]*message.Message) {
	switch {
	case b.Type == message.BlockThinking && !b.Redacted && b.Text != "":
		r.session.out.replay(chunk{thoughtChunk, id, textOf(b.Text)})
	case b.Type == message.BlockToolCall:
		r.session.out.replay(r.endedCall(b, results[b.ID]))
	default:
		r.replayAll(contentChunks(agentChunk, id, []message.Block{b}))
	}
}

// endedCall is a call with its result; nil if it never got one.
func (r replayer) endedCall(b message.Block, result *message.Message) toolCall {
	c := r.session.view(b.Name, b.Arguments)
	c.SessionUpdate, c.Status = "tool_call", callCompleted
	c.ID = r.session.calls.replayID(b.ID)
	content := []any{contentOf(textOf("not run: the work on it was interrupted"))}
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

// argumentDiffs returns what a call of edit or write changes, as far as its arguments say it:
// the file as it was is not stored. result is what the tool said; "" if it has not run.
func argumentDiffs(c toolCall, result string) (diffs []any) {
	f, err := parseFields(c.RawInput)
	if err != nil || len(c.Locations) == 0 {
		return nil
	}
	path := c.Locations[0].Path
	add := func(f fields) {
		was, hasOld := f.text("oldText")
		if is, hasNew := f.text("newText"); hasOld && hasNew {
			diffs = append(diffs, diff{"diff", path, &was, is})
		}
	}
	switch c.Name {
	case "edit":
		add(f)
		edits, _ := f.list("edits")
		for _, raw := range edits {
			if edit, err := parseFields(raw); err == nil {
				add(edit)
			}
		}
	case "write":
		if text, ok := f.text("content"); ok && strings.HasPrefix(result, "Created ") {
			diffs = append(diffs, diff{Type: "diff", Path: path, NewText: text})
		}
	}
	return diffs
}

// replayShell shows a command that a person ran in a terminal.
func (r replayer) replayShell(id string, m *message.Message) {
	content := resultContent([]message.Block{message.TextBlock(m.Output)})
	c := toolCall{SessionUpdate: "tool_call", ID: r.session.calls.replayID(id), Title: callTitle("! "+cut(m.Command, 4096), nil),
		Name: "bash", Kind: "execute", Status: callCompleted, Content: &content}
	if m.Cancelled || m.ExitCode != nil && *m.ExitCode != 0 {
		c.Status = callFailed
	}
	r.session.out.replay(c)
}

// replayID returns the id by which the client gets to know a call that has ended.
func (c *calls) replayID(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.uniqueID(id)
}
