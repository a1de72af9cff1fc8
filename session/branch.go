package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// CopyPath makes a new session in o.Dir that has the path from the root to leaf
// and names this one as its parent. leaf "" is the empty path.
//
// The lines are those of this session byte for byte, except where damage was
// repaired in memory: there the id and the parent are written as they are here,
// so that the chain holds for every reader. Labels that lie elsewhere and name
// an entry of the path follow behind it. A path with entries is in its file, and
// on the disk, when this returns, or there is no new session; the file of an
// empty one appears as that of [New] does. This session may be open for reading
// only, and is not changed.
func (s *Session) CopyPath(leaf string, o Options) (*Session, error) {
	path := s.Path(leaf)
	if len(path) == 0 && leaf != "" {
		return nil, fmt.Errorf("copy session: no entry %q", leaf)
	}
	o.Parent = s.whereKept()
	next := New(o)
	if len(path) == 0 {
		return next, nil
	}
	lines, err := s.linesOf(path, next.pending)
	if err == nil {
		err = next.startWith(lines)
	}
	if err != nil {
		return nil, fmt.Errorf("copy session: %w", err)
	}
	return next, nil
}

// whereKept is the absolute path of the file; "" if there is none.
func (s *Session) whereKept() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil || !s.started {
		return ""
	}
	if path, err := filepath.Abs(s.store.path); err == nil {
		return path
	}
	return s.store.path
}

// linesOf returns the header, the lines of a path, and those of its labels
// behind it.
func (s *Session) linesOf(path []*Entry, header []byte) ([]byte, error) {
	size := len(header)
	for _, e := range path {
		size += e.length() + 1
	}
	lines := append(make([]byte, 0, size), header...)
	for _, e := range path {
		line, err := e.copied()
		if err != nil {
			return nil, err
		}
		lines = append(append(lines, line...), '\n')
	}
	for _, l := range s.labelsFor(path) {
		lines = append(append(lines, l.raw...), '\n')
	}
	return lines, nil
}

// length is that of the line, which need not be read for it.
func (e *Entry) length() int {
	if e.src != nil {
		return e.size
	}
	return len(e.raw)
}

// copied is the line of an entry in another file: as it stands, unless it says
// of the tree what is not so in memory.
func (e *Entry) copied() (json.RawMessage, error) {
	line := e.Raw()
	if line == nil {
		return nil, fmt.Errorf("entry %s can no longer be read from the file", e.ID)
	}
	h, _ := scanHead(line)
	if unquote(h.id) == e.ID && unquote(h.parent) == e.ParentID || !json.Valid(line) {
		return line, nil
	}
	parent := []byte("null")
	if e.ParentID != "" {
		parent = quote(e.ParentID)
	}
	return overlay(line, nil, []keyed{{"id", quote(e.ID)}, {"parentId", parent}})
}

// labelsFor makes the entries that give the entries of a path the names they
// have in the tree, as far as the path itself does not. They are in the order of
// the path and hang behind it, each on the one before.
func (s *Session) labelsFor(path []*Entry) []*Entry {
	is, says := labelsIn(s.Entries()), labelsIn(path)
	taken := make(map[string]*Entry, len(path))
	for _, e := range path {
		taken[e.ID] = e
	}
	last, labels := path[len(path)-1], []*Entry(nil)
	for _, e := range path {
		if is[e.ID] == says[e.ID] {
			continue
		}
		own, err := flatten(Label{TargetID: e.ID, Label: is[e.ID]})
		if err != nil {
			continue // two strings always encode
		}
		l := &Entry{Type: TypeLabel, ID: newEntryID(taken), Timestamp: iso(s.opts.Now())}
		l.setParent(&Entry{ID: last.ID}) // by its id here, which is the one in the copy
		l.raw = l.line0(own)
		taken[l.ID], last, labels = l, l, append(labels, l)
	}
	return labels
}

// startWith writes these lines, of which the first is the header, to the file of
// a session that has none yet, and loads them from there. On failure no file is
// left.
func (s *Session) startWith(lines []byte) error {
	header := len(s.pending)
	s.pending, s.started = nil, true
	if s.store == nil {
		s.lines = 1
		s.settle(s.ingest(lines[header:], -1, nil))
		s.leaf = s.last()
		return nil
	}
	if err := s.store.begin(lines); err != nil {
		return s.saveError(err)
	}
	s.noteLock()
	s.header, s.lines = Header{}, 0
	s.store.size, s.store.tail = 0, nil
	if err := s.load(s.store.f, s.store.path); err != nil {
		s.store.close()
		return err
	}
	return nil
}

// begin makes the file with these lines and brings it to the disk. What could
// not be written whole is taken away: nobody else has seen it.
func (st *store) begin(lines []byte) error {
	err := st.create()
	if err == nil {
		_, _, err = st.write(lines)
	}
	if err == nil {
		err = st.sync()
	}
	if err != nil && st.f != nil {
		st.close()
		os.Remove(st.path)
	}
	return err
}
