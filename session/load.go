package session

import (
	"bytes"
	"fmt"
	"os"

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

// loader reads the lines of a file and puts their entries into a tree. It adds to the
// problems where the file is wrong.
type loader struct {
	tree     *tree
	problems *problems

	header  Header   // without an ID: it was not read yet
	lines   int      // of the file that are known
	waiting []*Entry // their parent was not read yet
	bodies  *os.File // where bodies are read from; nil: they are in memory
	arena   arena

	testOnlyBuffer int
}

// load reads the whole of an open file and puts its entries into the tree, in the form
// of the current version, the last one as the leaf. What is wrong in the file is mended
// in memory and added to the problems. An empty file leaves the header empty. end is set
// to how the file ends.
func (l *loader) load(f *os.File, path string, end *fileEnd) error {
	if err := l.loadPieces(f, path, end); err != nil {
		return readError(path, err)
	}
	if l.header.ID == "" {
		return nil
	}
	if l.header.Version > Version {
		l.problems.add("%s", l.newerProblem())
	}
	if end.torn {
		end.seemsWhole = l.removeTorn()
	}
	l.tree.link(l.waiting, l.problems)
	l.waiting = nil
	l.tree.moveTo(l.tree.last())
	l.addUnreached()
	if l.header.Version < Version {
		l.tree.upgrade(l.header.Version)
	}
	return nil
}

// loadPieces reads the header and all lines, a piece of the file at a time. Of a file
// larger than the buffer the bodies are not held: it opens a descriptor to read them
// from later. An error is one of reading, or a *[NotSessionError].
func (l *loader) loadPieces(f *os.File, path string, end *fileEnd) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size, buffer := info.Size(), int64(bufferSize)
	if size > maxHeader { // a file without lines would be one line, all of it in memory
		if _, err := readHeader(f, path); err != nil {
			return err
		}
	}
	if l.testOnlyBuffer > 0 {
		buffer = int64(l.testOnlyBuffer)
	}
	if size > buffer {
		if l.bodies, err = reopen(f, path); err != nil {
			return err
		}
	}
	return eachPiece(f, size, buffer, func(lines []byte) error {
		at := end.size
		end.add(lines)
		if l.header.ID == "" {
			h, rest, err := cutHeader(lines, path)
			if err != nil {
				return err
			}
			l.header, l.lines = h, 1
			l.tree.reserve(bytes.Count(lines, []byte("\n")) * int(size/int64(len(lines))+1))
			at += int64(len(lines) - len(rest))
			lines = rest
		}
		l.add(lines, at)
		return nil
	})
}

// newerProblem returns the problem of a session whose version is newer than ours: it can only
// be read.
func (l *loader) newerProblem() string {
	return fmt.Sprintf("the session has version %d, newer than %d: it is open for reading only", l.header.Version, Version)
}

// removeTorn is called for a file that does not end in a newline, which a write that was
// cut short leaves. If its last line is broken JSON, it adds a problem, takes the line
// out of those that cannot be read, or its entry out of the tree and of those that wait
// for a parent. It returns true if there was such an entry: the line has a head and a
// closing brace, and looked whole.
func (l *loader) removeTorn() bool {
	e := l.tree.last()
	looksWhole := e != nil && e.line == l.lines && !rawjson.Valid(e.Raw())
	if !looksWhole && !l.problems.removeUnreadable(l.lines) {
		return false
	}
	if looksWhole {
		l.tree.removeLast()
		if n := len(l.waiting); n > 0 && l.waiting[n-1] == e {
			l.waiting = l.waiting[:n-1]
		}
	}
	l.problems.add("line %d: the end of the file was cut off in mid-write", l.lines)
	return looksWhole
}

// addUnreached adds a problem if the conversation begins with an entry whose parentId is
// a mistake, so that entries before it cannot be reached.
func (l *loader) addUnreached() {
	root, hidden := l.tree.unreached()
	if len(hidden) == 0 {
		return
	}
	entries := "1 entry"
	if len(hidden) > 1 {
		entries = fmt.Sprintf("%d entries", len(hidden))
	}
	l.problems.add("line %d: the %s entry %s has no usable parentId, so the conversation begins there: %s cannot be reached, from line %d on; /tree shows them",
		root.line, root.Type, root.ID, entries, hidden[0].line)
}

// addForeign adds to the tree the entries of whole lines that another program appended
// to the file, and a problem that says how many. The leaf does not change. The entries
// keep lines, so the caller must not change it afterwards.
func (l *loader) addForeign(lines []byte) {
	before := len(l.tree.entries)
	l.add(lines, -1)
	l.tree.link(l.waiting, l.problems)
	l.waiting = nil
	switch n := len(l.tree.entries) - before; {
	case n == 1:
		l.problems.add("another program added an entry to the file; it is on a branch of its own")
	case n > 1:
		l.problems.add("another program added %d entries to the file; they are on a branch of their own", n)
	}
}

// addWritten counts lines of entries that are in the tree already.
func (l *loader) addWritten(lines int) { l.lines += lines }

// add parses whole lines, the last of which may lack its newline, and adds their entries
// to the tree. Entries whose parent was not read yet are put on the waiting list. at is
// the offset of buf in the file, where bodies are to be read again later; -1 means that
// they cannot be: then the entries refer to buf.
func (l *loader) add(buf []byte, at int64) {
	for len(buf) > 0 {
		line, rest, _ := bytes.Cut(buf, []byte("\n"))
		l.lines++
		if e := l.parse(line); e != nil {
			switch {
			case l.bodies == nil || at < 0:
				e.raw = bytes.TrimRight(line, "\r")
			case l.header.Version < Version:
				e.raw = bytes.Clone(bytes.TrimRight(line, "\r")) // about to be upgraded
			default:
				e.src, e.at, e.size = l.bodies, at, len(line)
			}
			l.tree.add(e)
			if e.parent == nil && e.ParentID != "" {
				l.waiting = append(l.waiting, e)
			}
		}
		if at >= 0 {
			at += int64(len(buf) - len(rest))
		}
		buf = rest
	}
}

// parse returns the entry that a line holds, with its id and its parent; it is not in
// the tree yet. It returns nil for an empty line, for one that is no entry, which is
// noted as unreadable, and for a second header, which is a problem.
func (l *loader) parse(line []byte) *Entry {
	h, ok := scanHead(line)
	if !ok || l.header.Version < 2 && !rawjson.Valid(line) {
		if len(bytes.TrimSpace(line)) > 0 {
			l.problems.unreadable = append(l.problems.unreadable, l.lines)
		}
		return nil
	}
	typ := l.arena.typeName(h.typ)
	if typ == TypeSession {
		l.problems.add("line %d: a second header; it is left where it is", l.lines)
		return nil
	}
	e := l.arena.entry()
	e.Type, e.Timestamp, e.line = typ, l.arena.unquote(h.time), l.lines
	e.noteOwn(line)
	l.setID(e, h.id)
	l.setParent(e, h)
	return e
}

// setID gives the entry the id of its line, or one of its own where that is missing or
// already given to an earlier entry, which is a problem, except in files of version 1,
// whose entries have none.
func (l *loader) setID(e *Entry, quoted []byte) {
	id := l.arena.unquote(quoted)
	if id != "" && l.tree.byID[id] == nil {
		e.ID = id
		return
	}
	switch {
	case id != "":
		l.problems.add("line %d: id %q stands there a second time", e.line, id)
		e.fileID = id
	case l.header.Version < 2:
		if id = fmt.Sprintf("%08x", e.line); l.tree.byID[id] == nil {
			e.ID = id
			return
		}
	default:
		l.problems.add("line %d: an entry without an id", e.line)
		id = "line"
	}
	e.ID = l.tree.freeID(id, e.line)
}

// setParent links the entry to its parent: to the entry before it in files of version 1
// and where a line has neither id nor parentId. If the parent was not read yet, ParentID
// is set and parent is nil. An entry whose parentId is no text and not null becomes a
// root and is noted among the orphans.
func (l *loader) setParent(e *Entry, h head) {
	prev := l.tree.last()
	if l.header.Version < 2 {
		e.setParent(prev)
		return
	}
	if !rawjson.IsString(h.parent) || len(h.parent) == len(`""`) {
		switch {
		case h.parent == nil && h.id == nil:
			e.setParent(prev)
		case string(h.parent) != "null":
			l.tree.orphans = append(l.tree.orphans, e)
		}
		return
	}
	if prev != nil && prev.fileID == "" && len(l.tree.byFileID) == 0 && string(h.parent[1:len(h.parent)-1]) == prev.ID {
		e.setParent(prev)
		return
	}
	e.ParentID = rawjson.Unquote(h.parent)
	e.setParent(l.tree.entryByFileID(e.ParentID))
}

// rewrite calls replace with the whole session as a file of the current version, and
// with the version that its file has now; used for files of version 1, which cannot be
// appended to. Lines that could not be read are left out. If replace succeeds, the
// header and the count of lines are those of the new file.
func (l *loader) rewrite(replace func(contents []byte, version int) error) error {
	var b bytes.Buffer
	header := l.header.current()
	b.Write(header)
	b.WriteByte('\n')
	for _, e := range l.tree.entries {
		b.Write(e.raw)
		b.WriteByte('\n')
	}
	if err := replace(b.Bytes(), l.header.Version); err != nil {
		return err
	}
	l.header.raw, l.header.Version = header, Version
	l.lines = len(l.tree.entries) + 1
	return nil
}
