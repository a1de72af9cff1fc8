package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"pi/agent"
	"pi/agent/mcp"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// before emits the events that came before an entry with a message was written.
func (p *player) before(e *session.Entry, m *message.Message) {
	switch m.Role {
	case message.RoleUser:
		p.prompt(m)
	case message.RoleAssistant:
		p.tell(&agent.TurnStart{TurnIndex: p.turn, Timestamp: m.Timestamp}, e.Timestamp)
		p.turn++
		p.context()
	case message.RoleToolResult:
		p.result(m)
	case message.RoleBashExecution:
		p.command(m)
	}
}

// after emits the events that came when an entry with a message had been written.
func (p *player) after(e *session.Entry, m *message.Message) {
	switch m.Role {
	case message.RoleUser:
		if p.beginsRun() {
			p.turn = 0
			p.tell(&agent.AgentStart{}, e.Timestamp)
		}
	case message.RoleAssistant:
		for i := range m.Content {
			if m.Content[i].Type == message.BlockToolCall && m.StopReason != message.StopError && m.StopReason != message.StopAborted {
				p.call(&m.Content[i])
			}
		}
	}
}

// beginsRun reports whether the prompt at the end of the branch began a run: one that was sent
// while the agent worked follows the results of its calls.
func (p *player) beginsRun() bool {
	branch := p.playback.Session().Branch()
	for _, e := range slices.Backward(branch[:len(branch)-1]) {
		if m := e.Message(); e.Type == session.TypeMessage && m != nil {
			return m.Role != message.RoleToolResult
		}
	}
	return true
}

// prompt asks about a prompt of the user.
func (p *player) prompt(m *message.Message) {
	e := &agent.Input{Source: "interactive"}
	for _, b := range m.Content {
		if b.Type == message.BlockText && e.Text == "" {
			e.Text = b.Text
		} else {
			e.Attachments = append(e.Attachments, b)
		}
	}
	was := *e
	p.ask(e, Finding{About: e.Text}, func() (did []Effect) {
		if e.Handled {
			return []Effect{{Kind: Handled, Text: "the model is not asked"}}
		}
		if e.Text != was.Text {
			did = append(did, Effect{Kind: Changed, Text: "the text is now " + e.Text})
		}
		if !sameBlocks(e.Attachments, was.Attachments) {
			did = append(did, Effect{Kind: Changed, Text: fmt.Sprintf("%s instead of %d", printable.Count(len(e.Attachments), "attachment"), len(was.Attachments))})
		}
		return did
	})
}

// context asks about what the model saw before an answer.
func (p *player) context() {
	e := &agent.Context{}
	if p.chain.Wants(agent.KindContext) {
		e.Entries, e.Items = p.playback.Session().Branch(), p.host.Seen()
	}
	was := e.Items
	p.ask(e, Finding{}, func() []Effect {
		if len(e.Stages) == 0 || slices.EqualFunc(e.Items, was, func(a, b session.Item) bool { return sameMessage(a.Message, b.Message) }) {
			return nil
		}
		if len(e.Items) != len(was) {
			return []Effect{{Kind: Changed, Text: fmt.Sprintf("the model sees %s instead of %d", printable.Count(len(e.Items), "message"), len(was))}}
		}
		return []Effect{{Kind: Changed, Text: fmt.Sprintf("the model sees %s of %d differently", printable.Count(differing(e.Items, was), "message"), len(was))}}
	})
}

// differing counts the items that are not the same in two lists of one length.
func differing(a, b []session.Item) (n int) {
	for i := range a {
		if !sameMessage(a[i].Message, b[i].Message) {
			n++
		}
	}
	return n
}

// call asks about a tool call. One of a tool of a server was told as what it is.
func (p *player) call(b *message.Block) {
	name, sent := b.Name, b.Arguments
	called, arguments, server, isOfServer := mcp.Recorded(name, sent)
	if isOfServer {
		name, sent = called, arguments
	}
	input, ok := p.tools.arguments(p.ctx, name, sent)
	if !ok {
		return
	}
	p.calls[b.ID] = call{name, input}
	e := &agent.ToolCall{ID: b.ID, Name: name, Input: input}
	if t, known := p.tools[name]; known {
		e.Annotations = agent.AnnotationsOf(t.Tool)
	}
	if isOfServer {
		e.Server, e.Annotations = &server, server.Claims
	}
	p.ask(e, Finding{Tool: name, Call: b.ID, input: input}, func() (did []Effect) {
		if e.Block {
			return []Effect{{Kind: Blocked, Text: e.Reason}}
		}
		if !bytes.Equal(e.Input, input) {
			did = append(did, Effect{Kind: Changed, Text: "the arguments are now " + string(e.Input)})
		}
		for _, text := range e.AdditionalContext {
			did = append(did, Effect{Kind: Added, Text: text})
		}
		return did
	})
}

// result asks about the result of a tool call that reached its gate.
func (p *player) result(m *message.Message) {
	c, ran := p.calls[m.ToolCallID]
	if !ran {
		return
	}
	e := &agent.ToolResult{ID: m.ToolCallID, Name: c.name, Input: c.input,
		Result: agent.Result{Content: m.Content, Details: m.Details, IsError: m.IsError, Usage: m.Usage}}
	was := e.Result
	p.ask(e, Finding{Tool: c.name, Call: m.ToolCallID, input: c.input}, func() (did []Effect) {
		now := e.Result
		if !sameBlocks(now.Content, was.Content) {
			did = append(did, Effect{Kind: Changed, Text: fmt.Sprintf("the result has %s instead of %s", sizeOf(now.Content), sizeOf(was.Content))})
		}
		if !bytes.Equal(now.Details, was.Details) {
			did = append(did, Effect{Kind: Changed, Text: "the details"})
		}
		if now.IsError != was.IsError {
			did = append(did, Effect{Kind: Changed, Text: fmt.Sprintf("is_error is now %v", now.IsError)})
		}
		if now.Terminate {
			did = append(did, Effect{Kind: Changed, Text: "the run ends"})
		}
		return did
	})
}

// command asks about a command of the user.
func (p *player) command(m *message.Message) {
	e := &agent.UserBash{Command: m.Command, ExcludeFromContext: m.ExcludeFromContext, Cwd: p.playback.Session().Cwd()}
	p.ask(e, Finding{About: m.Command}, func() (did []Effect) {
		switch {
		case e.Blocked != "":
			return []Effect{{Kind: Blocked, Text: e.Blocked}}
		case e.Result != nil:
			return []Effect{{Kind: Handled, Text: "the hook gives the output " + e.Result.Output}}
		case e.Command != m.Command:
			return []Effect{{Kind: Changed, Text: "the command is now " + e.Command}}
		}
		return nil
	})
}

// aboutInput says in a few words which call has these arguments: their command or path, or all
// of them.
func aboutInput(input json.RawMessage) string {
	var known struct{ Command, Path, Pattern string }
	if json.Unmarshal(input, &known) == nil {
		for _, text := range []string{known.Command, known.Path, known.Pattern} {
			if text != "" {
				return text
			}
		}
	}
	return string(input)
}

func sameBlocks(a, b []message.Block) bool {
	return slices.EqualFunc(a, b, func(x, y message.Block) bool { return x.Equal(&y) })
}

// sameMessage reports whether two messages read alike for a model.
func sameMessage(a, b *message.Message) bool {
	if a == b {
		return true
	}
	return a.Role == b.Role && sameBlocks(a.Content, b.Content) && a.Summary == b.Summary && a.IsError == b.IsError && a.Output == b.Output
}

// sizeOf says how much text a result has.
func sizeOf(content []message.Block) string {
	n := 0
	for _, b := range content {
		n += len(b.Text) + len(b.Data)
	}
	return printable.Bytes(n)
}
