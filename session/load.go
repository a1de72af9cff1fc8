package session

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"pi/session/rawjson"
)

// Loading keeps every line that can be read, in the order of the file, and
// never changes the file. It reads only the head of a line; the body is looked
// at when somebody asks for it. Rules for what does not fit:
//
//   - a line that is no entry is counted and named, and left where it is;
//   - of entries with the same id the first has it, a later one gets an id of
//     its own in memory; a parentId means the last such entry before it;
//   - a parentId that leads nowhere, or around in a circle, is replaced by the
//     entry before it in the file.

// ingest reads whole lines, the last of which may lack its newline, and adds
// their entries. It does not move the leaf. It returns waiting with the entries
// whose parent was not read yet. at is where buf stands in the file, if bodies
// are read from there, and -1 if buf is the entries' to keep.
func (s *Session) ingest(buf []byte, at int64, waiting []*Entry) []*Entry {
	for len(buf) > 0 {
		line, rest, _ := bytes.Cut(buf, []byte("\n"))
		s.lines++
		if e := s.readLine(line); e != nil {
			s.keep(e, line, at)
			s.add(e)
			if e.parent == nil && e.ParentID != "" {
				waiting = append(waiting, e)
			}
		}
		if at >= 0 {
			at += int64(len(buf) - len(rest))
		}
		buf = rest
	}
	return waiting
}

// keep gives the entry its line, or the place where it is found.
func (s *Session) keep(e *Entry, line []byte, at int64) {
	switch {
	case s.src == nil || at < 0:
		e.raw = bytes.TrimRight(line, "\r")
	case s.header.Version < Version:
		e.raw = bytes.Clone(bytes.TrimRight(line, "\r")) // about to be upgraded
	default:
		e.src, e.at, e.size = s.src, at, len(line)
	}
}

func (s *Session) readLine(line []byte) *Entry {
	h, ok := scanHead(line)
	if !ok || s.header.Version < 2 && !validLine(line) {
		if len(bytes.TrimSpace(line)) > 0 {
			s.unreadable = append(s.unreadable, s.lines)
		}
		return nil
	}
	typ := s.typeName(h.typ)
	if typ == TypeSession {
		s.problem("line %d: a second header; it is left where it is", s.lines)
		return nil
	}
	e := s.alloc()
	e.Type, e.Timestamp, e.line = typ, s.text(h.time), s.lines
	s.identify(e, h.id)
	s.attach(e, h)
	return e
}

// textChunk is how much room short strings share.
const textChunk = 4 << 10

// text is unquote for the short strings of a head, which share their memory: one
// by one they would be most of the garbage of loading.
func (s *Session) text(quoted []byte) string {
	if !rawjson.IsString(quoted) || len(quoted) > 64 || bytes.IndexByte(quoted, '\\') >= 0 || !utf8.Valid(quoted) {
		return rawjson.Unquote(quoted)
	}
	in := quoted[1 : len(quoted)-1]
	if s.chunk == nil || s.chunk.Cap()-s.chunk.Len() < len(in) {
		s.chunk = &strings.Builder{}
		s.chunk.Grow(textChunk)
	}
	start := s.chunk.Len()
	s.chunk.Write(in)
	return s.chunk.String()[start:]
}

// alloc takes entries from blocks: one by one they would cost a large file
// more than reading it.
func (s *Session) alloc() *Entry {
	if len(s.slab) == 0 {
		s.slab = make([]Entry, 256)
	}
	e := &s.slab[0]
	s.slab = s.slab[1:]
	return e
}

func (s *Session) typeName(quoted []byte) string {
	if name, ok := s.types[string(quoted)]; ok {
		return name
	}
	name := rawjson.Unquote(quoted)
	s.types[string(quoted)] = name
	return name
}

// identify gives the entry its id: that of the line if it is free.
func (s *Session) identify(e *Entry, quoted []byte) {
	id := s.text(quoted)
	if id != "" && s.byID[id] == nil {
		e.ID = id
		return
	}
	switch {
	case id != "":
		s.problem("line %d: id %q stands there a second time", e.line, id)
		e.fileID = id
	case s.header.Version < 2:
		id = fmt.Sprintf("%08x", e.line)
	default:
		s.problem("line %d: an entry without an id", e.line)
		id = "line"
	}
	e.ID = s.freeID(id, e.line)
}

func (s *Session) freeID(id string, line int) string {
	if s.header.Version < 2 && s.byID[id] == nil {
		return id
	}
	for id += "-" + strconv.Itoa(line); s.byID[id] != nil; {
		id += "-"
	}
	return id
}

// attach links the entry to its parent. If that was not read yet, ParentID is
// set and parent is nil.
func (s *Session) attach(e *Entry, h head) {
	prev := s.last()
	if s.header.Version < 2 {
		e.setParent(prev)
		return
	}
	if !rawjson.IsString(h.parent) || len(h.parent) == len(`""`) {
		switch {
		case h.parent == nil && h.id == nil:
			e.setParent(prev)
		case string(h.parent) != "null":
			s.orphans = append(s.orphans, e)
		}
		return
	}
	if prev != nil && prev.fileID == "" && len(s.later) == 0 && string(h.parent[1:len(h.parent)-1]) == prev.ID {
		e.setParent(prev)
		return
	}
	e.ParentID = rawjson.Unquote(h.parent)
	e.setParent(s.named(e.ParentID))
}

func (e *Entry) setParent(p *Entry) {
	if e.parent = p; p != nil {
		e.ParentID = p.ID
	}
}

// named finds what an id in the file means at this point.
func (s *Session) named(id string) *Entry {
	if e := s.later[id]; e != nil {
		return e
	}
	return s.byID[id]
}

func (s *Session) last() *Entry {
	if len(s.entries) == 0 {
		return nil
	}
	return s.entries[len(s.entries)-1]
}

func (s *Session) add(e *Entry) {
	e.index = len(s.entries)
	s.entries = append(s.entries, e)
	s.byID[e.ID] = e
	if e.fileID != "" {
		s.later[e.fileID] = e
	}
}

// settle gives parents to entries whose parent did not stand before them.
func (s *Session) settle(waiting []*Entry) {
	hanging := false // some entry hangs on a later one, so circles are possible
	for _, e := range waiting {
		hanging = hanging || s.named(e.ParentID) != nil
	}
	for _, e := range waiting {
		p := s.named(e.ParentID)
		switch {
		case p == nil:
			s.problem("line %d: parent %q is not in the file; the entry goes on from the one before it", e.line, e.ParentID)
			s.attachBefore(e, hanging)
		case leadsTo(p, e):
			s.problem("line %d: parent %q leads around in a circle; the entry goes on from the one before it", e.line, e.ParentID)
			s.attachBefore(e, hanging)
		default:
			e.setParent(p)
		}
	}
}

// leadsTo reports whether the way from p to the root passes e. Links made so
// far are free of circles.
func leadsTo(p, e *Entry) bool {
	for ; p != nil; p = p.parent {
		if p == e {
			return true
		}
	}
	return false
}

// attachBefore links e to the nearest entry before it that does not hang on e.
func (s *Session) attachBefore(e *Entry, hanging bool) {
	e.ParentID = ""
	for i := e.index - 1; i >= 0; i-- {
		if p := s.entries[i]; !hanging || !leadsTo(p, e) {
			e.setParent(p)
			return
		}
	}
}

func (s *Session) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}
