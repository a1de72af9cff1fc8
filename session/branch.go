package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"

	"pi/session/rawjson"
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
	s.mu.Lock()
	o.Parent = ""
	if s.journal.store != nil && s.journal.wanted {
		o.Parent = s.path
		if abs, err := filepath.Abs(s.path); err == nil {
			o.Parent = abs
		}
	}
	s.mu.Unlock()
	next := New(o)
	if len(path) == 0 {
		return next, nil
	}
	if err := next.startWith(s.linesOf(path, next.loader.header)); err != nil {
		return nil, fmt.Errorf("copy session: %w", err)
	}
	return next, nil
}

// linesOf yields the lines of a copy of a path: header, the entries, and label entries
// for those whose label is not on the path, each with its newline.
func (s *Session) linesOf(path []*Entry, header Header) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if !yield(append(bytes.Clone(header.raw), '\n'), nil) {
			return
		}
		for i := range path {
			line, err := lineInCopy(path, i)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(append(line[:len(line):len(line)], '\n'), nil) {
				return
			}
		}
		for _, l := range s.labelsFor(path) {
			if !yield(append(l.raw, '\n'), nil) {
				return
			}
		}
	}
}

// lineInCopy returns the line of the i-th entry of a path for another file. If its id,
// parent or first kept entry was repaired in memory, it is written as it is there;
// otherwise the line keeps its bytes. The error is a *[GoneError].
func lineInCopy(path []*Entry, i int) (json.RawMessage, error) {
	e := path[i]
	line := e.rawUncached()
	if line == nil {
		return nil, &GoneError{e.ID}
	}
	h, _ := scanHead(line)
	var repaired rawjson.Object
	if rawjson.Unquote(h.id) != e.ID || rawjson.Unquote(h.parent) != e.ParentID {
		repaired.Text("id", e.ID)
		repaired.Nullable("parentId", e.ParentID)
	}
	if _, ok := e.compactionBody(); ok {
		if kept := firstKeptIndex(path, i); kept < i && path[kept].fileID != "" {
			repaired.Text("firstKeptEntryId", path[kept].ID)
		}
	}
	if repaired == nil || !json.Valid(line) {
		return line, nil
	}
	return rawjson.Overlay(line, nil, repaired), nil
}

// labelsFor makes label entries for the entries of a path whose label in the tree is not
// the one that the path itself gives them, because it was set on another branch. They
// hang behind the path, each on the one before.
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
		own, err := encodeFields(Label{TargetID: e.ID, Label: is[e.ID]})
		if err != nil {
			continue // two strings always encode
		}
		l := &Entry{Type: TypeLabel, ID: newEntryID(taken), Timestamp: isoTime(s.opts.Now())}
		l.setParent(&Entry{ID: last.ID}) // only its ID, which is also its id in the copy
		l.raw = l.encode(own)
		taken[l.ID], last, labels = l, l, append(labels, l)
	}
	return labels
}

// startWith is called for a session without a file. It writes lines, the first of which
// is the header, to the file and loads the session from it. On failure no file is left.
func (s *Session) startWith(lines iter.Seq2[[]byte, error]) error {
	s.journal.pending, s.journal.wanted = nil, true
	st := s.journal.store
	if st == nil {
		return s.startInMemory(lines)
	}
	if err := st.createWith(lines); err != nil {
		return s.journal.saveError(err)
	}
	s.journal.checkLocked()
	s.loader.header, st.end = Header{}, fileEnd{}
	if err := s.load(st.f); err != nil {
		st.close()
		return err
	}
	return nil
}

// startInMemory is startWith for a session that is never saved.
func (s *Session) startInMemory(lines iter.Seq2[[]byte, error]) error {
	for line, err := range lines {
		if err != nil {
			return err
		}
		if s.loader.lines == 0 { // skip the header, which is set already
			s.loader.lines = 1
			continue
		}
		s.loader.add(line, -1)
	}
	s.tree.link(s.loader.waiting, &s.problems)
	s.loader.waiting = nil
	s.tree.moveTo(s.tree.last())
	return nil
}
