package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"pi/session/message"
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

// bufferSize is how much of a file is read at once. A file that fits stays in
// memory. Of a larger one only the heads of its lines do: touching fresh memory
// costs several times the reading, and most bodies of a large session are never
// asked for. Those that are come from the descriptor that stays open.
const bufferSize = 256 << 10

// reopen opens the file at path a second time, to read bodies of entries from: this
// descriptor stays open as long as the session is in use, while f is closed with its
// lock. The error is errGone if another file has the path by now.
func reopen(f *os.File, path string) (*os.File, error) {
	g, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := sameFile(f, g); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// sameFile returns errGone if two open files are not the same.
func sameFile(f, g *os.File) error {
	was, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := g.Stat()
	if err == nil && !os.SameFile(was, now) {
		err = errGone
	}
	return err
}

// eachPiece calls do with the first size bytes of a file, in pieces of whole lines that
// are valid until it returns. A file of at most buffer bytes is one piece, whose bytes
// are the caller's.
func eachPiece(f io.ReaderAt, size, buffer int64, do func(lines []byte) error) error {
	stop := make(chan struct{})
	defer close(stop)
	for p := range readPieces(io.NewSectionReader(f, 0, size), min(size, buffer)+1, size <= buffer, stop) {
		if p.err != nil {
			return p.err
		}
		if err := do(p.lines); err != nil {
			return err
		}
	}
	return nil
}

// piece is some whole lines of a file, or the reason why there are no more.
type piece struct {
	lines []byte
	err   error
}

// readPieces reads a file in pieces of whole lines. The bytes of a piece are
// valid until the next is received. Unless one piece is all, a goroutine reads
// ahead while the receiver looks at what it has; it ends with the file or with
// stop.
func readPieces(r io.Reader, buffer int64, small bool, stop <-chan struct{}) <-chan piece {
	out := make(chan piece, 1)
	lr := lineReader{r: r}
	for i := range lr.bufs {
		if i == 0 || !small {
			lr.bufs[i] = make([]byte, buffer)
		}
	}
	if small {
		lr.send(out, stop)
		close(out)
		return out
	}
	go func() {
		defer close(out)
		for lr.send(out, stop) {
		}
	}()
	return out
}

// lineReader fills three buffers in turn: one that the receiver looks at, one
// that waits for it, and one that is being filled.
type lineReader struct {
	r     io.Reader
	bufs  [3][]byte
	turn  int
	carry []byte // begins the next piece
}

// send reads the next piece and hands it to the receiver, the error of reading as the
// piece's. It returns true if there may be more to read, and false after the last piece,
// after an error, at the end of a file, and when stop was closed, which drops the piece.
func (r *lineReader) send(out chan<- piece, stop <-chan struct{}) bool {
	lines, err := r.next()
	last := err != nil
	if err == io.EOF {
		err = nil
	}
	if len(lines) == 0 && err == nil {
		return false
	}
	select {
	case out <- piece{lines, err}:
		return !last
	case <-stop:
		return false
	}
}

// next returns the whole lines of the next bufferful, at least one; a line that does not
// fit makes the buffer grow. What follows the last newline is kept in carry. At the end
// of the file it returns the rest, which may be empty or lack its newline, with io.EOF.
func (r *lineReader) next() ([]byte, error) {
	buf := r.bufs[r.turn]
	if len(buf) <= len(r.carry) {
		buf = make([]byte, 2*len(r.carry))
	}
	have := copy(buf, r.carry)
	for {
		seen := have
		n, err := io.ReadFull(r.r, buf[have:])
		have += n
		if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
			return buf[:have:have], io.EOF
		}
		if err != nil {
			return nil, err
		}
		if i := bytes.LastIndexByte(buf[seen:have], '\n'); i >= 0 {
			end := seen + i + 1
			r.carry, r.bufs[r.turn] = buf[end:have], buf
			r.turn = (r.turn + 1) % len(r.bufs)
			return buf[:end:end], nil
		}
		buf = append(buf, make([]byte, len(buf))...)
	}
}

// Version 1 is a linear list without ids, whose compactions count the first
// entry they keep by its position in the file, the header being 0. Version 2
// has the tree, and calls the role custom hookMessage. Both are read as they
// are; in memory entries have the form of version 3.
//
// Lines of version 3 may follow those of version 2, so such a file is simply
// appended to. A file of version 1 has to be written anew; the first write does
// it, and leaves the original beside it.

// upgrade gives the lines of entries from a file of version 1 or 2 the form of version
// 3, in memory. Entries of version 1 take the ids that they got in memory, because their
// file will be written anew.
func (t *tree) upgrade(version int) {
	if version < 2 {
		clear(t.byFileID)
		for _, e := range t.entries {
			e.fileID = ""
		}
	}
	for _, e := range t.entries {
		if version < 2 || e.Type == TypeMessage && bytes.Contains(e.raw, []byte(`"hookMessage"`)) {
			e.raw = t.upgraded(e, version)
		}
	}
}

// upgraded returns the line of an entry in the form of version 3; as it is if it is no
// valid JSON.
func (t *tree) upgraded(e *Entry, version int) []byte {
	own, err := encodeFields(e.raw)
	if err != nil {
		return e.raw
	}
	for i, f := range own {
		switch {
		case f.Key == "firstKeptEntryIndex" && e.Type == TypeCompaction && version < 2:
			id := ""
			if n := int(rawjson.Number(f.Value)); n >= 1 && n <= len(t.entries) {
				id = t.entries[n-1].ID
			}
			own[i].Key, own[i].Value = "firstKeptEntryId", rawjson.Quote(id)
		case f.Key == "message" && rawjson.Unquote(rawjson.Field(f.Value, "role")) == "hookMessage":
			var was, now rawjson.Object
			was.Text("role", "hookMessage")
			now.Text("role", string(message.RoleCustom))
			own[i].Value = rawjson.Overlay(f.Value, was, now)
		}
	}
	return e.encode(own)
}

// problems are what was wrong with a file and was not reported yet.
type problems struct {
	texts      []string
	unreadable []int           // numbers of lines that are no entries
	broken     map[*Entry]bool // entries whose bodies were reported already
}

// add adds a sentence.
func (p *problems) add(format string, args ...any) {
	p.texts = append(p.texts, fmt.Sprintf(format, args...))
}

// removeUnreadable takes a line out of those that cannot be read, if it is the last one
// of them: another problem names it. It returns whether it was.
func (p *problems) removeUnreadable(line int) bool {
	last := len(p.unreadable) - 1
	if last < 0 || p.unreadable[last] != line {
		return false
	}
	p.unreadable = p.unreadable[:last]
	return true
}

// take returns all problems, one sentence each, and forgets them, but not which broken
// bodies were among them.
func (p *problems) take() []string {
	out := p.texts
	if len(p.unreadable) > 0 {
		out = append(out, unreadable(p.unreadable))
	}
	p.texts, p.unreadable = nil, nil
	return out
}

// unreadable names the lines, the first twenty of them.
func unreadable(lines []int) string {
	const most = 20
	names := make([]string, 0, most)
	for _, n := range lines[:min(len(lines), most)] {
		names = append(names, strconv.Itoa(n))
	}
	text := "line " + names[0] + " cannot be read; it is left where it is"
	if len(lines) > 1 {
		text = fmt.Sprintf("%d lines cannot be read; they are left where they are: %s", len(lines), strings.Join(names, ", "))
	}
	if more := len(lines) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
