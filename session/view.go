package session

import (
	"slices"

	"pi/session/message"
)

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
