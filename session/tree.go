package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"

	"pi/session/rawjson"
)

// tree is the entries of a session: a list in the order of the file, in which each
// entry but the roots knows its parent. One path through it is the branch, which
// ends with the leaf.
type tree struct {
	entries  []*Entry
	byID     map[string]*Entry // by the id in memory
	byFileID map[string]*Entry // those whose id in the file was given before: the last of each
	leaf     *Entry
	branch   []*Entry // root to leaf; nil: to be built
	orphans  []*Entry // they name no parent, and do not say that they have none
}

func newTree() tree { return tree{byID: map[string]*Entry{}, byFileID: map[string]*Entry{}} }

// reserve makes room for about n entries, within reason, in a tree that is empty.
func (t *tree) reserve(n int) {
	n = min(n, 1<<16)
	t.byID = make(map[string]*Entry, n)
	t.entries = make([]*Entry, 0, n)
}

// add puts an entry with an id of its own at the end of the list. The leaf stays.
func (t *tree) add(e *Entry) {
	e.index = len(t.entries)
	t.entries = append(t.entries, e)
	t.byID[e.ID] = e
	if e.fileID != "" {
		t.byFileID[e.fileID] = e
	}
}

// addToBranch adds an entry whose parent is the leaf, and makes it the leaf.
func (t *tree) addToBranch(e *Entry) {
	path := t.path()
	t.add(e)
	t.leaf, t.branch = e, append(t.branch[:len(path)], e)
}

// find returns the entry with an id, or nil. The map may have entries that are not in the
// list yet, see [Playback].
func (t *tree) find(id string) *Entry {
	if e := t.byID[id]; e != nil && e.index < len(t.entries) {
		return e
	}
	return nil
}

// removeLast removes the last entry of the list, which must not be the parent of
// another.
func (t *tree) removeLast() {
	e := t.last()
	t.entries = t.entries[:len(t.entries)-1]
	delete(t.byID, e.ID)
	if t.byFileID[e.fileID] == e {
		delete(t.byFileID, e.fileID)
	}
}

// moveTo makes an entry the leaf; nil is the root.
func (t *tree) moveTo(e *Entry) { t.leaf, t.branch = e, nil }

// last is the last entry of the file, nil if there is none.
func (t *tree) last() *Entry {
	if len(t.entries) == 0 {
		return nil
	}
	return t.entries[len(t.entries)-1]
}

// path returns the entries from the root to the leaf.
func (t *tree) path() []*Entry {
	if t.branch == nil {
		t.branch = pathTo(t.leaf)
	}
	return clipped(t.branch)
}

// pathTo returns the entries from the root to e.
func pathTo(e *Entry) []*Entry {
	n := 0
	for p := e; p != nil; p = p.parent {
		n++
	}
	path := make([]*Entry, n)
	for ; e != nil; e = e.parent {
		n--
		path[n] = e
	}
	return path
}

// clipped makes a list fit to be returned: the caller can neither write into nor see
// entries that are appended later.
func clipped(es []*Entry) []*Entry { return es[:len(es):len(es)] }

// entryByFileID returns the entry that an id in the file refers to, nil if there is none. Where
// several lines have the same id, it is the last one read so far.
func (t *tree) entryByFileID(id string) *Entry {
	if e := t.byFileID[id]; e != nil {
		return e
	}
	return t.byID[id]
}

// freeID returns an id that no entry has: id, a dash and the number, with more dashes at
// the end if that is taken too.
func (t *tree) freeID(id string, number int) string {
	for id += "-" + strconv.Itoa(number); t.byID[id] != nil; {
		id += "-"
	}
	return id
}

// link gives their parent to the entries of waiting, whose parentId named none of the
// entries before them. Where it leads nowhere, or around in a circle, the entry before
// it in the file becomes the parent, and a problem is added.
func (t *tree) link(waiting []*Entry, p *problems) {
	circles := false // some entry hangs on a later one, so they are possible
	for _, e := range waiting {
		circles = circles || t.entryByFileID(e.ParentID) != nil
	}
	for _, e := range waiting {
		parent := t.entryByFileID(e.ParentID)
		switch {
		case parent == nil:
			p.add("line %d: parent %q is not in the file; the entry goes on from the one before it", e.line, e.ParentID)
			t.linkToEarlier(e, circles)
		case leadsTo(parent, e):
			p.add("line %d: parent %q leads around in a circle; the entry goes on from the one before it", e.line, e.ParentID)
			t.linkToEarlier(e, circles)
		default:
			e.setParent(parent)
		}
	}
}

// linkToEarlier makes the nearest entry before e that is not a descendant of e its
// parent; without one e becomes a root. circles is whether there may be such descendants
// at all: finding out is slow.
func (t *tree) linkToEarlier(e *Entry, circles bool) {
	e.ParentID = ""
	for i := e.index - 1; i >= 0; i-- {
		if p := t.entries[i]; !circles || !leadsTo(p, e) {
			e.setParent(p)
			return
		}
	}
}

// leadsTo reports whether e is p or an ancestor of p. It needs links that are free of
// circles.
func leadsTo(p, e *Entry) bool {
	for ; p != nil; p = p.parent {
		if p == e {
			return true
		}
	}
	return false
}

// unreached returns the root of the branch and the entries that cannot be reached from
// it, if that root lost its parent by mistake: its parentId is missing, misspelt or no
// text. Otherwise it returns nil: several roots are no mistake by themselves, for a
// user may go back to before the first prompt, which writes a parentId of null.
func (t *tree) unreached() (root *Entry, hidden []*Entry) {
	if len(t.orphans) == 0 || t.leaf == nil {
		return nil, nil
	}
	root = t.leaf
	for root.parent != nil {
		root = root.parent
	}
	if root.index == 0 || !slices.Contains(t.orphans, root) {
		return nil, nil
	}
	below := map[*Entry]bool{root: true}
	for _, e := range t.entries {
		if !isBelow(e, below) {
			hidden = append(hidden, e)
		}
	}
	return root, hidden
}

// isBelow reports whether e is, or descends from, an entry that below marks as true. It
// adds the answer for e and for all ancestors that it looked at to below.
func isBelow(e *Entry, below map[*Entry]bool) bool {
	var way []*Entry
	found := false
	for ; e != nil; e = e.parent {
		known, seen := below[e]
		if found = known; seen {
			break
		}
		way = append(way, e)
	}
	for _, e := range way {
		below[e] = found
	}
	return found
}

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

// EndOf returns the id of the entry that the conversation ends with when leaf is the leaf:
// the first one from there upwards that is no label, session name, usage record, record
// of a move, of a mode or of a branch of git, none of which the model sees. It is "" if
// there is none.
func (s *Session) EndOf(leaf string) string {
	for e := s.Entry(leaf); e != nil; e = s.Entry(e.ParentID) {
		switch e.Type {
		case TypeLabel, TypeSessionInfo, TypeUsage:
		case TypeCustom:
			if !IsLeafMove(e) && !e.IsModeChange() && !e.isOwn(GitBranch) {
				return e.ID
			}
		default:
			return e.ID
		}
	}
	return ""
}

// IsLeafMove reports whether e only records that the leaf was moved.
func IsLeafMove(e *Entry) bool { return e.isOwn(LeafMove) }
