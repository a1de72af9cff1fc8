package session

import (
	"runtime"
	"sync"
	"sync/atomic"

	"pi/session/message"
)

// ContextOf returns the context of a branch as [Session.Context] gives it, from its path
// from the root. Entries before the first one that the compaction keeps are not even
// decoded.
func ContextOf(path []*Entry) []Item {
	at, first := LastCompaction(path)
	decodeAll(path[first:])
	items := make([]Item, 0, len(path)-first+1)
	edits := EditsOn(path[first:])
	if at >= 0 {
		if m := edited(path[at], edits); m != nil {
			items = append(items, Item{Message: m, Entry: path[at], Index: at})
		}
	}
	for i := first; i < len(path); i++ {
		if path[i].Type == TypeCompaction {
			continue
		}
		m := edited(path[i], edits)
		if m == nil || i < at && m.Role == message.RoleSystem {
			continue // a system prompt from before a compaction no longer holds
		}
		items = append(items, Item{Message: m, Entry: path[i], Index: i})
	}
	return items
}

// decodeAll decodes the bodies of a long path on all processors: somebody waits
// for it when a session is resumed.
func decodeAll(path []*Entry) {
	const share = 256
	if len(path) <= share {
		return
	}
	var taken atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for end := int(taken.Add(share)); end-share < len(path); end = int(taken.Add(share)) {
				for _, e := range path[end-share : min(end, len(path))] {
					e.decoded()
				}
			}
		})
	}
	all.Wait()
}

// LastCompaction returns the position of the compaction in force on a path from the
// root, -1 if there is none, and that of the first entry that is still in the context.
// They are found without decoding what lies before the compaction.
func LastCompaction(path []*Entry) (at, first int) {
	for at = len(path) - 1; at >= 0; at-- {
		if _, ok := path[at].compactionBody(); ok {
			return at, firstKeptIndex(path, at)
		}
	}
	return -1, 0
}

// firstKeptIndex returns the position of the first entry that the compaction at position
// at keeps, at+1 if it names none before it. If two entries of the file have that id, it
// is the later one.
func firstKeptIndex(path []*Entry, at int) int {
	c, _ := path[at].compactionBody()
	for i := at - 1; i >= 0; i-- {
		if e := path[i]; e.ID == c.firstKept || e.fileID != "" && e.fileID == c.firstKept {
			return i
		}
	}
	return at + 1
}

// EditsOn returns the last edit of each entry that is edited in path, by the id of that
// entry.
func EditsOn(path []*Entry) map[string]*ContextEdit {
	var edits map[string]*ContextEdit
	for _, e := range path {
		if e.Type != TypeContextEdit {
			continue
		}
		if c, ok := e.decoded().(*ContextEdit); ok {
			if edits == nil {
				edits = map[string]*ContextEdit{}
			}
			edits[c.TargetID] = c
		}
	}
	return edits
}

// edited returns the message of an entry as the edits make it; nil if the entry has no
// message or an edit took it out. Any message can be taken out, but only those of
// editable roles have their content replaced.
func edited(e *Entry, edits map[string]*ContextEdit) *message.Message {
	m := e.Message()
	c := edits[e.ID]
	if m == nil || c == nil || c.Replacement != nil && !Editable(m.Role) {
		return m
	}
	if c.Replacement == nil {
		return nil
	}
	n := m.Clone()
	n.Content, n.Plain = c.Replacement.Content, c.Replacement.Plain
	if m.Role == message.RoleAssistant || m.Role == message.RoleToolResult {
		n.Plain = false
	}
	return n
}
