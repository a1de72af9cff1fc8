package compaction

import (
	"fmt"
	"slices"

	"pi/session"
	"pi/session/message"
)

// CanKeepFrom returns an error if a compaction cannot retain a branch from the entry id
// on: the entry is not there, or it lies between a call and its result.
func CanKeepFrom(branch []*session.Entry, id string) error {
	at := slices.IndexFunc(branch, func(e *session.Entry) bool { return e.ID == id })
	if at < 0 {
		return fmt.Errorf("entry %q is not on the branch", id)
	}
	open := map[string]bool{} // the calls of the last answer before it that have no result there
	for _, e := range branch[:at] {
		switch m := e.Message(); {
		case m == nil:
		case m.Role == message.RoleAssistant:
			clear(open)
			for _, c := range m.ToolCalls() {
				open[c.ID] = true
			}
		case m.Role == message.RoleToolResult:
			delete(open, m.ToolCallID)
		}
	}
	for _, e := range branch[at:] {
		m := e.Message()
		switch {
		case m == nil:
		case m.Role == message.RoleAssistant:
			return nil
		case m.Role == message.RoleToolResult && open[m.ToolCallID]:
			return fmt.Errorf("entry %q lies between a tool call and its result", id)
		}
	}
	return nil
}
