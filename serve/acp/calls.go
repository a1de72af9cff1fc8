package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"pi/agent"
	"pi/session/message"
)

// progressPause is the time between two updates of what a call has put out.
const progressPause = 100 * time.Millisecond

// calls are the calls of tools in one session. All methods may be called by any goroutine.
type calls struct {
	session *session

	mu    *sync.Mutex // guards what follows, and keeps the order of what is sent
	used  map[string]bool
	open  map[string]*call // those without an end, by the id that the model gave
	order []string         // of those
}

// call is a call that has not ended.
type call struct {
	toolCall
	started bool        // the loop works on it
	sent    time.Time   // when its output was sent last
	output  *[]any      // what waits to be sent; nil: nothing
	timer   *time.Timer // that sends it; nil: none
}

// uniqueID returns the id of a further call, by which the client has seen none so far. The
// caller has the lock.
func (c *calls) uniqueID(id string) string {
	unique := id
	for n := 2; unique == "" || c.used[unique]; n++ {
		unique = fmt.Sprintf("%s#%d", id, n)
	}
	c.used[unique] = true
	return unique
}

// announce tells of a call that the model begins to write.
func (c *calls) announce(id, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[id] == nil {
		c.add(id, name, nil)
	}
}

// add tells of a call. The caller has the lock.
func (c *calls) add(id, name string, input json.RawMessage) *call {
	x := &call{toolCall: c.session.view(name, input)}
	x.ID, x.Status = c.uniqueID(id), callPending
	c.open[id], c.order = x, append(c.order, id)
	shown := x.toolCall
	shown.SessionUpdate = "tool_call"
	c.session.out.send(shown)
	return x
}

// start tells what is called with what.
func (c *calls) start(e *agent.ToolExecutionStart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[e.ID]
	if x == nil {
		c.add(e.ID, e.Name, e.Input).started = true
		return
	}
	x.started = true
	is := c.session.view(e.Name, e.Input)
	is.ID, is.Status = x.ID, x.Status
	x.toolCall = is
	is.SessionUpdate, is.Name = "tool_call_update", ""
	c.session.out.send(is)
}

// admit tells that no gate keeps a call from running.
func (c *calls) admit(e *agent.ToolCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[e.ID]
	if x == nil {
		return
	}
	u := toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Status: callRuns}
	if x.Content != nil { // a question about it, which may have had another title
		u.Content, u.Title = &[]any{}, x.Title
	}
	x.Status, x.Content = callRuns, nil
	c.session.out.send(u)
}

// progress shows what a call has put out so far, though not too often.
func (c *calls) progress(e *agent.ToolExecutionUpdate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[e.ID]
	if x == nil {
		return
	}
	output := resultContent(e.Partial.Content)
	if len(output) == 0 {
		return
	}
	x.output = &output
	switch wait := progressPause - time.Since(x.sent); {
	case x.timer != nil:
	case wait <= 0:
		c.flush(x)
	default:
		x.timer = time.AfterFunc(wait, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if x.timer != nil {
				c.flush(x)
			}
		})
	}
}

// flush sends what waits of the output of a call. The caller has the lock.
func (c *calls) flush(x *call) {
	c.session.out.send(toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Content: x.output})
	x.output, x.timer, x.sent = nil, nil, time.Now()
}

// end tells how a call ended.
func (c *calls) end(e *agent.ToolExecutionEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[e.ID]
	if x == nil {
		return
	}
	u := toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Status: callCompleted}
	if e.Result.IsError {
		u.Status = callFailed
	}
	content := resultContent(e.Result.Content)
	if touched := e.Result.Touched; touched != nil {
		u.Locations = []location{{touched.Path, touched.Line}}
		if change := changeOf(touched); change != nil && !e.Result.IsError {
			content = []any{*change}
		}
	}
	u.Content = &content
	if x.Content != nil {
		u.Title = x.Title
	}
	c.remove(e.ID)
	c.session.out.send(u)
}

// remove forgets a call that has ended. The caller has the lock.
func (c *calls) remove(id string) {
	if x := c.open[id]; x != nil && x.timer != nil {
		x.timer.Stop()
		x.timer = nil
	}
	delete(c.open, id)
	c.order = slices.DeleteFunc(c.order, func(other string) bool { return other == id })
}

// sweep ends the calls that the loop never got, as those of an answer that broke off.
func (c *calls) sweep(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Clone(c.order) {
		x := c.open[id]
		if x.started {
			continue
		}
		content := []any{contentOf(textOf(why))}
		c.remove(id)
		c.session.out.send(toolCall{SessionUpdate: "tool_call_update", ID: x.ID, Status: callFailed, Content: &content})
	}
}

// ask marks the call as one that a question is asked about, and returns how the client is
// shown it: a change of a file comes first, and the call is called as the question is; ok is
// false if there is no such call that waits at a gate.
func (c *calls) ask(id, title, question string) (shown toolCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[id]
	if id == "" || x == nil || x.Status != callPending {
		return toolCall{}, false
	}
	var content []any
	shown = x.toolCall
	if x.Kind == "edit" {
		content, shown.Title = wouldChange(shown), titleOfQuestion(title)
	}
	content = append(content, contentOf(textOf(question)))
	x.Content, shown.Content = &content, &content
	return shown, true
}

// shownID returns the id by which the client knows a call that has not ended; "" if there
// is none.
func (c *calls) shownID(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.open[id]; x != nil {
		return x.ID
	}
	return ""
}

// stop stops what would still be sent.
func (c *calls) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Clone(c.order) {
		c.remove(id)
	}
}

// resultContent is what a client is shown of the result of a tool.
func resultContent(blocks []message.Block) []any {
	content := []any{}
	for _, b := range blocks {
		switch {
		case b.Type == message.BlockText && b.Text != "":
			content = append(content, contentOf(textOf(b.Text)))
		case b.Type == message.BlockImage:
			content = append(content, contentOf(imageOf(b.Data, b.MimeType)))
		}
	}
	return content
}
