package session

import (
	"runtime"
	"slices"
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

// View builds what a model sees of a session again and again while the session
// grows: it remembers what it built last and adds what is new. Its lists are
// those of [Session.Context] and [Session.ForModel], and never change. The zero value
// is ready; it is not safe for concurrent use.
type View struct {
	of    *Session
	path  []*Entry
	edits map[string]*ContextEdit
	items []Item

	sent    []Item // what pairing was given
	pairing pairing
}

// Context returns what [Session.Context] does. If the branch only grew since the last
// call, only the new entries are looked at.
func (v *View) Context(s *Session) []Item {
	path := s.Branch()
	from := len(v.path)
	if !v.extends(s, path) {
		_, from = LastCompaction(path)
		*v = View{of: s, edits: EditsOn(path[from:]), items: ContextOf(path), sent: v.sent, pairing: v.pairing}
	} else {
		for i := len(v.path); i < len(path); i++ {
			if m := edited(path[i], v.edits); m != nil {
				v.items = append(v.items, Item{Message: m, Entry: path[i], Index: i})
			}
		}
	}
	s.noteUnreadable(path[from:])
	v.path = path
	return v.items[:len(v.items):len(v.items)]
}

// extends reports whether path begins with the path of the last call, and nothing behind
// that changes what was built for it, as a compaction or an edit would.
func (v *View) extends(s *Session, path []*Entry) bool {
	have := len(v.path)
	if v.of != s || have == 0 || have > len(path) || path[have-1] != v.path[have-1] {
		return false
	}
	for _, e := range path[have:] {
		if e.Type == TypeCompaction || e.Type == TypeContextEdit {
			return false
		}
	}
	return true
}

// ForModel returns what [Session.ForModel] does for items that Context returned. Those
// that the last call had at the beginning are not looked at again.
func (v *View) ForModel(items []Item) []*message.Message {
	have := len(v.sent)
	if len(items) < have || !slices.EqualFunc(items[:have], v.sent, func(a, b Item) bool { return a.Message == b.Message }) {
		have, v.pairing = 0, pairing{out: make([]*message.Message, 0, len(items))}
	}
	v.pairing.path = v.path
	for i := have; i < len(items); i++ {
		v.pairing.add(items[i])
	}
	v.sent = items
	p := v.pairing // ended, with more to come in v nevertheless
	p.out, p.results, p.between = slices.Clip(p.out), slices.Clone(p.results), slices.Clip(p.between)
	p.endAnswer()
	return slices.Clip(p.out)
}

// Context returns the messages of the branch, as the core builds them: from
// the last compaction on the branch its summary, what it keeps, and what
// follows; with the context edits applied. Failed answers are among them, see
// [ForModel].
func (s *Session) Context() []Item {
	return new(View).Context(s)
}

// The sentences that stand for what is not there.
const (
	beginText       = "What was said before this point is not shown."
	interruptedText = "interrupted"
	removedText     = "The result of this call was removed from the context."
)

// ForModel turns a context into what is sent: messages of the roles user,
// assistant and toolResult, each call with exactly one result right behind it.
//
//   - failed and aborted answers, excluded commands, system messages and
//     messages of unknown roles are left out;
//   - shell commands of the user, hooks' messages and summaries become user
//     messages;
//   - a call without a result gets an error result "interrupted", or, where a session
//     is known that has its result ([Session.ForModel]), one that says that it was
//     removed; a result without a call, or a second one, is left out. The result of a
//     call is looked for up to the next answer;
//   - empty text is left out, and with it messages in which nothing remains;
//   - an answer at the very beginning, whose prompt was taken out, gets a user
//     message before it that says so: no API takes a conversation without;
//   - a call of a tool whose name no API takes has a name that all take;
//   - what is no valid UTF-8 or an unpaired surrogate becomes U+FFFD, and tool
//     arguments that are no JSON object become {}.
//
// The same items give the same messages, and more items at the end leave those
// for the earlier ones as they were, except for calls still without a result.
// Messages that need no change are those of the items.
func ForModel(items []Item) []*message.Message { return forModel(items, nil) }

// ForModel is [ForModel] for a list that was made of what Context returned: results
// that the session has and the list has not were removed.
func (s *Session) ForModel(items []Item) []*message.Message { return forModel(items, s.Branch()) }

// forModel turns items into the messages that are sent. path is the branch they are of,
// or nil if no session is known.
func forModel(items []Item, path []*Entry) []*message.Message {
	p := pairing{out: make([]*message.Message, 0, len(items)), path: path}
	for _, it := range items {
		p.add(it)
	}
	p.endAnswer()
	return p.out
}

// pairing holds back what follows an answer until all its results are known.
type pairing struct {
	out     []*message.Message
	calls   []message.Block
	results []*message.Message // of calls, nil as long as there is none
	between []*message.Message // what else stands before the next answer
	time    int64              // of the answer
	at      int                // of the answer on the path, -1 if it is not there

	path []*Entry // what the list was made of; nil: nothing is known
}

// add adds the next item. What no model sees is left out; other messages become what a
// model may see, and wait in between until the answer before them is complete.
func (p *pairing) add(it Item) {
	m := it.Message
	if m == nil || message.Hidden(m) {
		return
	}
	m = message.Clean(message.AsUser(m))
	switch {
	case m.Role == message.RoleToolResult:
		// A result without a call in the current answer, or a second one for it, is dropped.
		for i, c := range p.calls {
			if c.ID == m.ToolCallID && p.results[i] == nil {
				p.results[i] = m
				break
			}
		}
	case len(m.Content) == 0:
	case m.Role == message.RoleAssistant:
		p.addAnswer(m)
		if p.at = -1; it.Entry != nil && it.Index < len(p.path) && p.path[it.Index] == it.Entry {
			p.at = it.Index
		}
	default:
		p.between = append(p.between, m)
	}
}

// addAnswer ends the answer before and begins a new one, whose results are to follow. An
// answer that comes first gets a user message before it.
func (p *pairing) addAnswer(m *message.Message) {
	p.endAnswer()
	if len(p.out) == 0 {
		p.out = append(p.out, &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(beginText)}, Timestamp: m.Timestamp})
	}
	p.out = append(p.out, m)
	p.calls, p.time = m.ToolCalls(), m.Timestamp
	p.results = make([]*message.Message, len(p.calls))
}

// endAnswer appends the results of the current answer, and then the messages that came
// between them. A call without a result gets one: that it was interrupted, or that its result
// was removed from the context. The time of that is the answer's, because the present would
// make every request different.
func (p *pairing) endAnswer() {
	for i, c := range p.calls {
		if p.results[i] != nil {
			continue
		}
		removed := p.hasResult(c.ID)
		text := interruptedText
		if removed {
			text = removedText
		}
		p.results[i] = &message.Message{Role: message.RoleToolResult, ToolCallID: c.ID, ToolName: c.Name,
			Content: []message.Block{message.TextBlock(text)}, IsError: !removed, Timestamp: p.time}
	}
	p.out = append(append(p.out, p.results...), p.between...)
	p.calls, p.results, p.between = nil, nil, nil
}

// hasResult reports whether the branch has a result of that call of the current answer:
// if so, somebody removed it from the list.
func (p *pairing) hasResult(call string) bool {
	if p.at < 0 {
		return false
	}
	for _, e := range p.path[p.at+1:] {
		switch m := e.Message(); {
		case m == nil:
		case m.Role == message.RoleToolResult && m.ToolCallID == call:
			return true
		case m.Role == message.RoleAssistant && !message.Hidden(m):
			return false
		}
	}
	return false
}
