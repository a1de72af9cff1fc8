package record

import (
	"encoding/json"
	"strings"

	"pi/agent"
)

// call is a call of a tool that runs.
type call struct {
	args   json.RawMessage // as the model sent them, clean
	parent string          // the id of the call that made it; "": a model or a hook did
}

// startCall writes the start of a call, be it of the model or of a hook.
func (t *Translator) startCall(e *agent.ToolExecutionStart) {
	l := line(nil).foreign("args", e.Input)
	c := &call{args: json.RawMessage(strings.TrimPrefix(string(l), `"args":`)), parent: t.parentOf(e.ID)}
	if len(c.args) == 0 {
		c.args = json.RawMessage("{}")
	}
	t.calls[e.ID] = c
	t.releaseTurn()
	t.write(t.beginCall("tool_execution_start", e.ID, e.Name).raw("args", c.args).optional("parentToolCallId", c.parent))
}

// parentOf returns the id of the running call that made the call id, whose id begins with
// that of its parent; "" if there is none.
func (t *Translator) parentOf(id string) string {
	if i := strings.LastIndexByte(id, '/'); i > 0 && t.calls[id[:i]] != nil {
		return id[:i]
	}
	return ""
}

// updateCall writes the progress of a call, unless that has ended.
func (t *Translator) updateCall(e *agent.ToolExecutionUpdate) {
	c := t.calls[e.ID]
	if c == nil {
		return
	}
	l := t.beginCall("tool_execution_update", e.ID, e.Name).raw("args", c.args)
	t.write(l.raw("partialResult", Result(e.Partial)).optional("parentToolCallId", c.parent))
}

// endCall writes the result of a call.
func (t *Translator) endCall(e *agent.ToolExecutionEnd) {
	parent := ""
	if c := t.calls[e.ID]; c != nil {
		parent = c.parent
		delete(t.calls, e.ID)
	}
	l := t.beginCall("tool_execution_end", e.ID, e.Name).raw("result", Result(e.Result)).flag("isError", e.Result.IsError)
	t.write(l.number("durationMs", e.Took.Milliseconds()).optional("parentToolCallId", parent))
}

// beginCall begins a record about a call.
func (t *Translator) beginCall(kind, id, name string) line {
	return t.begin(kind).text("toolCallId", id).text("toolName", name)
}
