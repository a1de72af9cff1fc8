package session

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"

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
	o.Parent = s.whereKept()
	next := New(o)
	if len(path) == 0 {
		return next, nil
	}
	if err := next.startWith(s.linesOf(path, next.pending)); err != nil {
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

// linesOf yields the header, the lines of a path, and those of its labels behind
// it, each with its newline.
func (s *Session) linesOf(path []*Entry, header []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if !yield(header, nil) {
			return
		}
		for i := range path {
			line, err := copied(path, i)
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

// copied is the line of an entry of a path in another file: as it stands, unless
// it says of the tree what is not so in memory.
func copied(path []*Entry, i int) (json.RawMessage, error) {
	e := path[i]
	line := e.passing()
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
		if kept := keptFrom(path, i); kept < i && path[kept].fileID != "" {
			repaired.Text("firstKeptEntryId", path[kept].ID)
		}
	}
	if repaired == nil || !json.Valid(line) {
		return line, nil
	}
	return rawjson.Overlay(line, nil, repaired), nil
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
func (s *Session) startWith(lines iter.Seq2[[]byte, error]) error {
	if s.store == nil {
		return s.startInMemory(lines)
	}
	s.pending, s.started = nil, true
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

func (s *Session) startInMemory(lines iter.Seq2[[]byte, error]) error {
	var all []byte
	for line, err := range lines {
		if err != nil {
			return err
		}
		all = append(all, line...)
	}
	header := len(s.pending)
	s.pending, s.started, s.lines = nil, true, 1
	s.settle(s.ingest(all[header:], -1, nil))
	s.leaf = s.last()
	return nil
}

// begin makes the file with these lines and brings it to the disk. It has its
// name only when it is whole: a process that is killed before leaves it under one
// that nobody looks for. On failure it is taken away.
func (st *store) begin(lines iter.Seq2[[]byte, error]) error {
	next := &store{path: st.path + ".new", seams: st.seams}
	if runtime.GOOS == "windows" { // an open file keeps its name there
		next.path = st.path
	}
	err := next.create()
	if err == nil {
		err = next.fill(lines)
	}
	if err == nil {
		err = next.take(st.path)
	}
	if err != nil {
		if next.f != nil {
			next.close()
			os.Remove(next.path)
		}
		return err
	}
	next.lockDir = st.lockDir
	next.leaveHint()
	*st = *next
	return nil
}

// fill writes lines piece by piece, for all of them may be a lot, and syncs.
func (st *store) fill(lines iter.Seq2[[]byte, error]) error {
	const enough = 1 << 20
	var piece []byte
	for line, err := range lines {
		if err != nil {
			return err
		}
		if piece = append(piece, line...); len(piece) < enough {
			continue
		}
		if _, _, err := st.write(piece); err != nil {
			return err
		}
		piece = piece[:0]
	}
	if len(piece) > 0 {
		if _, _, err := st.write(piece); err != nil {
			return err
		}
	}
	return st.sync()
}

// take gives the file its name, for good.
func (st *store) take(path string) error {
	if path == st.path {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "make", Path: path, Err: fs.ErrExist}
	}
	if err := os.Rename(st.path, path); err != nil {
		return err
	}
	st.step("renamed")
	st.path, st.dirty, st.folders = path, true, append(st.folders, filepath.Dir(path))
	return st.sync()
}
