package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"pi/serve/record"
	"pi/session"
	"pi/session/message"
)

// leafOf is the id of the entry that the next one hangs on; nil in an empty session.
func leafOf(s *session.Session) *string {
	if id := s.Leaf(); id != "" {
		return &id
	}
	return nil
}

// openEntries is the command get_entries.
func (s *Server) openEntries(r *request) work {
	has := r.has("since")
	since := r.optionalText("since")
	return func(context.Context, func()) (any, error) {
		current := s.agent.Session()
		leaf, entries := leafOf(current), current.Entries()
		if has {
			at := slices.IndexFunc(entries, func(e *session.Entry) bool { return e.ID == since })
			if at < 0 {
				return nil, wording("Entry not found: " + since)
			}
			entries = entries[at+1:]
		}
		list := make([]json.RawMessage, 0, len(entries))
		for _, e := range entries {
			list = append(list, record.Entry(e))
		}
		return map[string]any{"entries": list, "leafId": leaf}, nil
	}
}

// tree is the data of get_tree. It is written by hand: a long conversation is nested
// deeper than an encoder that calls itself should go.
func (s *Server) tree() any {
	current := s.agent.Session()
	leaf, _ := json.Marshal(leafOf(current)) // a string or null
	t := treeWriter{children: current.Children(), labels: lastLabels(current)}
	t.out = append(t.out, `{"tree":`...)
	t.write()
	t.out = append(append(append(t.out, `,"leafId":`...), leaf...), '}')
	return written(t.out)
}

// treeWriter writes the entries as they hang on each other.
type treeWriter struct {
	out      []byte
	children map[string][]*session.Entry
	labels   map[string]label
}

// label is the name of an entry, and since when it has it.
type label struct{ text, timestamp string }

// lastLabels are the names that entries have.
func lastLabels(s *session.Session) map[string]label {
	labels := map[string]label{}
	for _, e := range s.Entries() {
		if e.Type != session.TypeLabel {
			continue
		}
		if l, err := session.Body[session.Label](e); err == nil {
			labels[l.TargetID] = label{l.Label, e.Timestamp}
		}
	}
	return labels
}

// siblings are the entries that hang on one and are still to be written.
type siblings struct {
	rest  []*session.Entry
	first bool
}

// write writes the roots and all that hangs on them.
func (t *treeWriter) write() {
	stack := []siblings{t.below("")}
	t.out = append(t.out, '[')
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.rest) == 0 {
			t.out = append(t.out, ']')
			if stack = stack[:len(stack)-1]; len(stack) > 0 {
				t.out = append(t.out, '}')
			}
			continue
		}
		e := top.rest[0]
		if top.rest = top.rest[1:]; !top.first {
			t.out = append(t.out, ',')
		}
		top.first = false
		t.begin(e)
		stack = append(stack, t.below(e.ID))
	}
}

// below are the entries that hang on one, the oldest first.
func (t *treeWriter) below(id string) siblings {
	children := slices.Clone(t.children[id])
	slices.SortStableFunc(children, func(a, b *session.Entry) int { return strings.Compare(a.Timestamp, b.Timestamp) })
	return siblings{children, true}
}

// begin writes an entry up to those that hang on it.
func (t *treeWriter) begin(e *session.Entry) {
	t.out = append(append(t.out, `{"entry":`...), record.Entry(e)...)
	if l := t.labels[e.ID]; l.text != "" {
		text, _ := encode(l.text)
		stamp, _ := encode(l.timestamp)
		t.out = append(append(t.out, `,"label":`...), text...)
		t.out = append(append(t.out, `,"labelTimestamp":`...), stamp...)
	}
	t.out = append(t.out, `,"children":[`...)
}

// forks is the data of get_fork_messages.
func (s *Server) forks() any {
	list := []map[string]string{}
	for _, e := range s.agent.Session().Entries() {
		if isUserMessage(e) {
			if text := e.Message().Text(); text != "" {
				list = append(list, map[string]string{"entryId": e.ID, "text": text})
			}
		}
	}
	return map[string]any{"messages": list}
}

// isUserMessage reports whether an entry is a message of a user.
func isUserMessage(e *session.Entry) bool {
	if e == nil || e.Type != session.TypeMessage {
		return false
	}
	m := e.Message()
	return m != nil && m.Role == message.RoleUser
}
