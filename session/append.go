package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"pi/session/message"
	"pi/session/rawjson"
)

// SaveError says that an entry is part of the session but not of its file.
// What could not be written is tried again with the next entry.
type SaveError struct {
	Path string
	Err  error
}

// Error names the file once, also where the cause names it too.
func (e *SaveError) Error() string {
	var cause *fs.PathError
	if errors.As(e.Err, &cause) && cause.Path == e.Path {
		return fmt.Sprintf("save session %q: %s: %v", e.Path, cause.Op, cause.Err)
	}
	return fmt.Sprintf("save session %q: %v", e.Path, e.Err)
}

func (e *SaveError) Unwrap() error { return e.Err }

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
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.readOnly {
		s.started = true
	}
	var own rawjson.Object
	own.Put("message", raw)
	return s.append(TypeMessage, own)
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
	own, err := Draft{typ, fields}.fields()
	if err != nil {
		return nil, fmt.Errorf("append %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.append(typ, own)
}

// MoveLeaf makes another entry the one that the next hangs on, by an entry
// that records the move; "" is the root. It returns that entry.
func (s *Session) MoveLeaf(id string) (*Entry, error) {
	return s.MoveTo(id, Draft{TypeCustom, Custom{CustomType: LeafMove}})
}

// MoveTo makes another entry the leaf, "" being the root, and hangs an entry on
// it that records the move: a reader takes the last line for the leaf, so a move
// without one would be gone with the process. The move is synced. It returns
// that entry; with a *[SaveError] the leaf has moved, but only in memory.
func (s *Session) MoveTo(id string, d Draft) (*Entry, error) {
	own, err := d.fields()
	if err != nil {
		return nil, fmt.Errorf("move leaf: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.byID[id]
	if to == nil && id != "" {
		return nil, fmt.Errorf("move leaf: no entry %q", id)
	}
	if s.readOnly {
		return nil, ErrReadOnly
	}
	s.catchUp()
	s.leaf, s.branch = to, nil
	e, err := s.append(d.Type, own)
	return e, s.settled(err)
}

// settled syncs after what must not be lost by a machine that stops: where the
// conversation goes on, and what it stands on. err is how writing it went.
func (s *Session) settled(err error) error {
	if err != nil || s.store == nil || !s.started {
		return err
	}
	s.sync()
	return s.saveError(s.synced)
}

// Flush writes what was kept back. A command that appends an entry calls it,
// so that the entry stays.
func (s *Session) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOnly {
		return nil
	}
	s.started = true
	return s.flush()
}

func (s *Session) append(typ string, own rawjson.Object) (*Entry, error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	s.catchUp()
	e := s.grow(typ, own)
	err := s.flushStarted()
	if typ == TypeCompaction {
		err = s.settled(err)
	}
	return e, err
}

// grow adds an entry in memory, and its line to what is pending.
func (s *Session) grow(typ string, own rawjson.Object) *Entry {
	e := &Entry{Type: typ, ID: newEntryID(s.byID), Timestamp: iso(s.opts.Now())}
	e.setParent(s.leaf)
	if typ == TypeCompaction {
		own = keepFrom(own, e.ID)
	}
	e.raw = e.line0(own)
	path := s.path()
	s.add(e)
	s.leaf, s.branch = e, append(s.branch[:len(path)], e)
	if s.store != nil {
		s.pending = append(append(s.pending, e.raw...), '\n')
	}
	return e
}

// keepLater has a compaction that names no first entry to keep begin with what was
// said after the last entry that it is about.
func (s *Session) keepLater(d Draft, own rawjson.Object) rawjson.Object {
	c, ok := d.Body.(Compaction)
	if !ok || c.About == nil {
		return own
	}
	path := s.path()
	for _, e := range path[slices.Index(path, c.About)+1:] {
		if e.Message() != nil {
			return keepFrom(own, e.ID)
		}
	}
	return own
}

// keepFrom gives a compaction that names no first entry to keep this one. Its own
// id is how a file says that it keeps none.
func keepFrom(own rawjson.Object, id string) rawjson.Object {
	for i, f := range own {
		if f.Key != "firstKeptEntryId" {
			continue
		}
		if rawjson.Unquote(f.Value) == "" {
			own[i].Value = rawjson.Quote(id)
		}
		return own
	}
	own.Text("firstKeptEntryId", id)
	return own
}

// flushStarted writes what is pending, unless the file is not wanted yet.
func (s *Session) flushStarted() error {
	if s.store == nil || !s.started {
		return nil
	}
	return s.flush()
}

// line0 is the line of a new entry: its head first, so that loading finds it
// without looking further.
func (e *Entry) line0(own rawjson.Object) []byte {
	parent := []byte("null")
	if p := e.parent; p != nil && p.fileID != "" {
		parent = rawjson.Quote(p.fileID)
	} else if p != nil {
		parent = rawjson.Quote(p.ID)
	}
	var o rawjson.Object
	o.Text("type", e.Type)
	o.Text("id", e.ID)
	o.Put("parentId", parent)
	o.Text("timestamp", e.Timestamp)
	return append(o, own...).Bytes()
}

// flatten encodes a value and takes the fields of the object apart.
func flatten(v any) (rawjson.Object, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := rawjson.Encode(v)
	if err != nil {
		return nil, err
	}
	if raw, err = rawjson.Compact(raw); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(raw, []byte("{")) {
		return nil, fmt.Errorf("its fields are no JSON object")
	}
	var own rawjson.Object
	for k, v := range rawjson.Fields(raw) {
		switch string(k) {
		case "type", "id", "parentId", "timestamp":
		default:
			own.Put(string(k), v)
		}
	}
	return own, nil
}
