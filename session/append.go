package session

import (
	"fmt"
	"slices"

	"pi/session/message"
	"pi/session/rawjson"
)

// Draft is an entry that is not in a session yet: its type, and its own fields
// as [Session.Append] takes them.
type Draft struct {
	Type string
	Body any
}

// encodedDraft is a draft whose fields are JSON.
type encodedDraft struct {
	typ   string
	own   rawjson.Object
	about *Entry // of a compaction, see [Compaction.About]
}

// encode encodes the fields of the draft. It refuses the types "" and session. The error
// names the type, but not what the entry was for.
func (d Draft) encode() (encodedDraft, error) {
	if d.Type == "" || d.Type == TypeSession {
		return encodedDraft{}, fmt.Errorf("entry: %q is no type of an entry", d.Type)
	}
	own, err := encodeFields(d.Body)
	if err != nil {
		return encodedDraft{}, fmt.Errorf("%s entry: %w", d.Type, err)
	}
	c, _ := d.Body.(Compaction)
	return encodedDraft{d.Type, own, c.About}, nil
}

// AppendMessage adds a message to the branch and makes it the leaf. With a
// *[SaveError] comes the entry, which is then only in memory.
func (s *Session) AppendMessage(m *message.Message) (*Entry, error) {
	raw, err := m.MarshalJSON()
	if err == nil {
		raw, err = rawjson.Compact(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("append %s message: %w", m.Role, err)
	}
	defer s.tellWatcher()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.readOnly {
		s.journal.wanted = true
	}
	var own rawjson.Object
	own.Put("message", raw)
	return s.append(encodedDraft{typ: TypeMessage, own: own})
}

// Append adds an entry and makes it the leaf. fields is anything that encodes
// as a JSON object, or nil; its keys stand beside type, id, parentId and
// timestamp, which are always the session's own.
//
// As long as the file is not there, the entry is kept back (see [New]). A
// compaction is synced, and if it says "" of the first entry that it keeps, it
// is written with its own id there, which means that it keeps nothing. With a
// *[SaveError] comes the entry, which is then only in memory.
func (s *Session) Append(typ string, fields any) (*Entry, error) {
	d, err := Draft{typ, fields}.encode()
	if err != nil {
		return nil, fmt.Errorf("append %w", err)
	}
	defer s.tellWatcher()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.append(d)
}

// AppendAll adds entries in order, each a child of the one before, all or none:
// if one of them cannot be an entry, nothing is added. They go to the file in
// one write, so a process that is killed leaves all of them or none there too;
// only a disk that fills up or a machine that stops in the middle of that write
// can leave the first few. With a *[SaveError] come the entries, some of which
// are then only in memory.
func (s *Session) AppendAll(drafts []Draft) ([]*Entry, error) {
	list := make([]encodedDraft, len(drafts))
	for i, d := range drafts {
		var err error
		if list[i], err = d.encode(); err != nil {
			return nil, fmt.Errorf("append %w", err)
		}
	}
	defer s.tellWatcher()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(list) == 0 {
		return nil, nil
	}
	if s.readOnly {
		return nil, ErrReadOnly
	}
	s.journal.readForeign()
	entries := make([]*Entry, len(list))
	durable := false
	for i, d := range list {
		entries[i] = s.addToBranch(d)
		durable = durable || d.typ == TypeCompaction
	}
	return entries, s.journal.save(durable)
}

// MoveTo makes another entry the leaf, "" being the root, and hangs an entry on
// it that records the move: a reader takes the last line for the leaf, so a move
// without one would be gone with the process. The move is synced. It returns
// that entry; with a *[SaveError] the leaf has moved, but only in memory.
func (s *Session) MoveTo(id string, d Draft) (*Entry, error) {
	record, err := d.encode()
	if err != nil {
		return nil, fmt.Errorf("move leaf: %w", err)
	}
	defer s.tellWatcher()
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.tree.byID[id]
	if to == nil && id != "" {
		return nil, fmt.Errorf("move leaf: no entry %q", id)
	}
	if s.readOnly {
		return nil, ErrReadOnly
	}
	s.journal.readForeign()
	s.tree.moveTo(to)
	return s.addToBranch(record), s.journal.save(true)
}

// Flush writes what was kept back. A command that appends an entry calls it,
// so that the entry stays.
func (s *Session) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOnly {
		return nil
	}
	s.journal.wanted = true
	return s.journal.flush()
}

// append adds an entry behind the leaf and saves it. Entries that another program added
// meanwhile are read before, so that no id is given twice. The caller holds mu.
func (s *Session) append(d encodedDraft) (*Entry, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	s.journal.readForeign()
	return s.addToBranch(d), s.journal.save(d.typ == TypeCompaction)
}

// addToBranch makes an entry of a draft, puts it behind the leaf, makes it the leaf, and
// adds its line to those that are to be written. It writes nothing.
func (s *Session) addToBranch(d encodedDraft) *Entry {
	e := &Entry{Type: d.typ, ID: newEntryID(s.tree.byID), Timestamp: isoTime(s.opts.Now())}
	e.setParent(s.tree.leaf)
	if d.typ == TypeCompaction {
		d.setFirstKept(e.ID, s.tree.path())
	}
	e.raw = e.encode(d.own)
	e.noteOwn(e.raw)
	s.tree.addToBranch(e)
	s.journal.add(e.raw)
	return e
}

// setFirstKept completes a compaction that names no first entry to keep. That is the
// first entry with a message on path behind the one the summary is about (About): it
// came while the summary was made. If there is none, or About is nil, it is the
// compaction's own id, by which a file says that nothing is kept.
func (d *encodedDraft) setFirstKept(own string, path []*Entry) {
	at := slices.IndexFunc(d.own, func(f rawjson.Member) bool { return f.Key == "firstKeptEntryId" })
	if at < 0 {
		at = len(d.own)
		d.own.Text("firstKeptEntryId", "")
	}
	if rawjson.Unquote(d.own[at].Value) != "" {
		return
	}
	if d.about != nil {
		for _, e := range path[slices.Index(path, d.about)+1:] {
			if e.Message() != nil {
				own = e.ID
				break
			}
		}
	}
	d.own[at].Value = rawjson.Quote(own)
}
