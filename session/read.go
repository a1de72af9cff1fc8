package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// bufferSize is how much of a file is read at once. A file that fits stays in
// memory. Of a larger one only the heads of its lines do: touching fresh memory
// costs several times the reading, and most bodies of a large session are never
// asked for. Those that are come from the descriptor that stays open.
const bufferSize = 256 << 10

// source is where bodies are read from.
type source struct{ f *os.File }

// line returns the bytes of a line, nil if they cannot be read or are no line
// any more. A descriptor still sees a file that was deleted or replaced, but
// not what somebody cut off or wrote over.
func (s *source) line(at int64, size int) []byte {
	buf := make([]byte, size)
	if _, err := s.f.ReadAt(buf, at); err != nil {
		return nil
	}
	return buf
}

// reopen gives the bodies a descriptor of their own, which lives as long as
// the session is in use, not as long as the lock.
func reopen(f *os.File, path string) (*source, error) {
	g, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := sameFile(f, g); err != nil {
		g.Close()
		return nil, err
	}
	return &source{g}, nil
}

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

// load reads the whole of an open file; an empty one begins a new session.
func (s *Session) load(f *os.File, path string) error {
	if err := s.loadFrom(f, path); err != nil {
		return readError(path, err)
	}
	if s.header.ID != "" {
		s.loaded()
	} else if !s.readOnly {
		s.begin()
	}
	return nil
}

// readError says which file could not be read, if the error does not yet.
func readError(path string, err error) error {
	var not *NotSessionError
	if err == nil || errors.As(err, &not) {
		return err
	}
	return fmt.Errorf("read session %q: %w", path, err)
}

func (s *Session) loadFrom(f *os.File, path string) error {
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
	if s.testOnlyBuffer > 0 {
		buffer = int64(s.testOnlyBuffer)
	}
	if size > buffer {
		if s.src, err = reopen(f, path); err != nil {
			return err
		}
	}
	stop := make(chan struct{})
	defer close(stop)
	for p := range readPieces(io.NewSectionReader(f, 0, size), min(size, buffer)+1, size <= buffer, stop) {
		if p.err != nil {
			return p.err
		}
		if err := s.loadLines(p.lines, path, size); err != nil {
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

// send reads and sends one piece; false was the last.
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

// next returns at least one whole line, or the end of the file and io.EOF.
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

func (s *Session) loadLines(lines []byte, path string, size int64) error {
	at := s.store.size
	s.store.grew(lines)
	if s.header.ID == "" {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		h, reason := parseHeader(bytes.Clone(line))
		if reason != "" {
			return &NotSessionError{Path: path, Reason: reason}
		}
		s.header, s.started, s.lines = h, true, 1
		s.expect(bytes.Count(lines, []byte("\n")) * int(size/int64(len(lines))+1))
		at += int64(len(lines) - len(rest))
		lines = rest
	}
	s.waiting = s.ingest(lines, at, s.waiting)
	return nil
}

// expect makes room for about n entries, within reason.
func (s *Session) expect(n int) {
	n = min(n, 1<<16)
	s.byID = make(map[string]*Entry, n)
	s.entries = make([]*Entry, 0, n)
}

// loaded finishes what needs all of the file.
func (s *Session) loaded() {
	if s.header.Version > Version {
		s.readOnly = true
		s.problems = append(s.problems, s.newer())
	}
	s.checkTail()
	s.settle(s.waiting)
	s.waiting, s.leaf = nil, s.last()
	s.noteUnreached()
	if s.header.Version < Version {
		s.upgrade()
	}
}

// newer says why a session of a newer version cannot be written.
func (s *Session) newer() string {
	return fmt.Sprintf("the session has version %d, newer than %d: it is open for reading only", s.header.Version, Version)
}

// checkTail looks at the end of the file, the one place where a write that was
// cut short leaves a line that may look whole. An entry that it takes back has
// nothing hanging on it yet but entries that wait.
func (s *Session) checkTail() {
	if !s.store.torn {
		return
	}
	n, e := len(s.unreadable), s.last()
	switch {
	case n > 0 && s.unreadable[n-1] == s.lines:
		s.unreadable = s.unreadable[:n-1]
	case e != nil && e.line == s.lines && !validLine(e.Raw()):
		s.drop(e)
		s.store.seemsWhole = true
	default:
		return
	}
	s.problem("line %d: the end of the file was cut off in mid-write", s.lines)
}

func (s *Session) drop(e *Entry) {
	s.entries = s.entries[:len(s.entries)-1]
	delete(s.byID, e.ID)
	if s.later[e.fileID] == e {
		delete(s.later, e.fileID)
	}
	if n := len(s.waiting); n > 0 && s.waiting[n-1] == e {
		s.waiting = s.waiting[:n-1]
	}
}

// release closes the descriptor for bodies; those not read by then stay unread.
func (s *Session) release() {
	if s.src != nil {
		s.src.f.Close()
	}
}
