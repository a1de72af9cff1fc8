package acp

import (
	"encoding/json"
	"strings"

	"pi/agent"
	"pi/internal/printable"
	"pi/session/message"
)

// An agent that a hook uses shows as the call of the tool that uses it, whose progress tells what
// it does. One that works for no call is a call itself, of the kind think.

// childStarts tells of an agent that begins to work.
func (c *calls) childStarts(e *agent.ChildStart) {
	if e.Call != "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addChild(e.Name, e.Prompt)
}

// addChild tells of an agent that works. The caller has the lock.
func (c *calls) addChild(name, prompt string) *call {
	x := &call{toolCall: toolCall{SessionUpdate: "tool_call", ID: c.uniqueID("agent-" + newID()), Name: "agent", Kind: "think", Status: callRuns}}
	x.Title = printable.Cut(printable.Line(strings.TrimSuffix(name+": "+prompt, ": ")), titleOfCall)
	x.RawInput, _ = json.Marshal(struct { // strings can always be encoded
		Name   string `json:"name"`
		Prompt string `json:"prompt,omitempty"`
	}{name, cut(prompt, mostText)})
	if c.children == nil {
		c.children = map[string]*call{}
	}
	c.children[name] = x
	c.session.out.send(x.toolCall)
	return x
}

// childWorks shows what an agent does.
func (c *calls) childWorks(e *agent.ChildUpdate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.children[e.Name]
	if x == nil { // it began before the session was opened
		x = c.addChild(e.Name, "")
	}
	c.show(x, resultContent([]message.Block{message.TextBlock(e.Text)}))
}

// childEnds tells how an agent ended.
func (c *calls) childEnds(e *agent.ChildEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.children[e.Name]
	if x == nil {
		return
	}
	delete(c.children, e.Name)
	x.drop()
	u := toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Status: callCompleted}
	text := e.Text
	if e.StopReason != "completed" {
		u.Status, text = callFailed, e.Error
	}
	if content := resultContent([]message.Block{message.TextBlock(text)}); len(content) > 0 {
		u.Content = &content
	}
	c.session.out.send(u)
}
