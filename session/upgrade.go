package session

import (
	"bytes"

	"pi/session/message"
	"pi/session/rawjson"
)

// Version 1 is a linear list without ids, whose compactions count the first
// entry they keep by its position in the file, the header being 0. Version 2
// has the tree, and calls the role custom hookMessage. Both are read as they
// are; what is in memory has the form of version 3.
//
// Lines of version 3 may follow those of version 2, so such a file is simply
// appended to. A file of version 1 has to be written anew; the first write does
// it, and leaves the original beside it.

func validLine(line []byte) bool { return rawjson.Valid(line) }

// upgrade gives all entries the form of version 3.
func (s *Session) upgrade() {
	if s.header.Version < 2 {
		s.renumber()
	}
	for _, e := range s.entries {
		switch {
		case s.header.Version < 2:
			e.raw = s.upgradeLinear(e)
		case e.Type == TypeMessage && bytes.Contains(e.raw, []byte(`"hookMessage"`)):
			own, _ := flatten(e.raw)
			e.raw = e.line0(renameRole(own))
		}
	}
	s.migrate = s.header.Version < 2
}

// renumber forgets ids that stood twice in the file: the new one will have those
// in memory.
func (s *Session) renumber() {
	clear(s.later)
	for _, e := range s.entries {
		e.fileID = ""
	}
}

func (s *Session) upgradeLinear(e *Entry) []byte {
	own, err := flatten(e.raw)
	if err != nil {
		return e.raw
	}
	if e.Type == TypeCompaction {
		own = s.keepByID(own)
	}
	return e.line0(renameRole(own))
}

func (s *Session) keepByID(own rawjson.Object) rawjson.Object {
	for i, f := range own {
		if f.Key != "firstKeptEntryIndex" {
			continue
		}
		id := ""
		if n := int(rawjson.Number(f.Value)); n >= 1 && n <= len(s.entries) {
			id = s.entries[n-1].ID
		}
		own[i].Key, own[i].Value = "firstKeptEntryId", rawjson.Quote(id)
	}
	return own
}

func renameRole(own rawjson.Object) rawjson.Object {
	for i, f := range own {
		if f.Key != "message" || rawjson.Unquote(rawjson.Field(f.Value, "role")) != "hookMessage" {
			continue
		}
		var was, now rawjson.Object
		was.Text("role", "hookMessage")
		now.Text("role", string(message.RoleCustom))
		own[i].Value = rawjson.Overlay(f.Value, was, now)
	}
	return own
}

// rewrite puts a file of version 3 in the place of one of version 1. Lines that
// cannot be read are only in the backup.
func (s *Session) rewrite() error {
	var b bytes.Buffer
	var was, now rawjson.Object
	was.Int("version", 1)
	now.Int("version", 3)
	header := rawjson.Overlay(s.header.raw, was, now)
	b.Write(header)
	b.WriteByte('\n')
	for _, e := range s.entries {
		b.Write(e.raw)
		b.WriteByte('\n')
	}
	old, err := readAll(s.store.f)
	if err != nil {
		return err
	}
	if err := s.store.replace(b.Bytes(), old, s.header.Version); err != nil {
		return err
	}
	s.header.raw, s.header.Version = header, Version
	s.migrate, s.pending = false, nil
	s.lines = len(s.entries) + 1
	return nil
}
