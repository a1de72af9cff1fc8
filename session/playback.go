package session

// Playback goes through a recorded session as it came about, entry by entry, on all its
// branches: before each entry the session is what it was then, with the entries that were
// there and the leaf that the new one hangs on. It is for one goroutine; others may read the
// session meanwhile.
type Playback struct {
	s    *Session
	all  []*Entry
	next int // index of the entry to come
}

// NewPlayback goes back to the beginning of a session that is open for reading only, from
// [Read] or of a copy that nobody else uses. The session is empty until [Playback.Next].
func NewPlayback(s *Session) *Playback {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readOnly = true
	p := &Playback{s: s, all: clipped(s.tree.entries)}
	s.tree.entries = p.all[:0:0]
	s.tree.moveTo(nil)
	return p
}

// Session returns the session, as it is at this point.
func (p *Playback) Session() *Session { return p.s }

// Next returns the entry that comes next, or nil at the end. The session has its entries up
// to there and not the entry itself; [Playback.Add] adds it.
func (p *Playback) Next() *Entry {
	if p.next == len(p.all) {
		return nil
	}
	e := p.all[p.next]
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if t := &p.s.tree; t.leaf != e.parent {
		t.moveTo(e.parent)
	}
	return e
}

// Add adds the entry that Next returned, and makes it the leaf.
func (p *Playback) Add() {
	e := p.all[p.next]
	p.next++
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	t := &p.s.tree
	path := t.path()
	t.entries = p.all[:p.next:p.next]
	t.leaf, t.branch = e, append(t.branch[:len(path)], e)
}

// Close closes the file that bodies of entries are read from. What was not read by then
// cannot be read any more.
func (p *Playback) Close() { p.s.closeBodies() }
