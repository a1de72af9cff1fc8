// Package sse reads event streams as servers write them.
//
// It follows the event stream format of the HTML standard, and is lenient where
// servers are not: fields may be indented, a last event without its blank line
// counts, a bare "error:" line is an event named error, and comments are
// reported, because they prove that the connection lives.
//
// Lines end at LF, CRLF or CR and nowhere else: U+2028 and its like may be unescaped
// inside JSON.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// MaxEvent bounds one line and the data of one event, in bytes, unless
// [Reader.Limit] sets a lower bound. It is far above what any server sends and only
// keeps a broken one from filling the memory.
const MaxEvent = 64 << 20

// ErrTooLong is returned for a line or an event longer than the bound.
var ErrTooLong = errors.New("event longer than the limit")

// Event is one event, or one comment line.
type Event struct {
	Name    string // of an "event:" line; "error" for a bare "error:" line
	Data    []byte // the data lines, joined by LF; valid until the next call of Next
	Comment bool   // a comment line: Data is its text
	ID      string // of the last "id:" line so far
}

// Reader splits a stream into events. It is not safe for concurrent use.
type Reader struct {
	src   io.Reader
	err   error // what src ended with
	limit int

	buf     []byte // what was read and not yet consumed
	pos     int    // start of the next line in buf
	scanned int    // buf up to here has no line end after pos
	skipLF  bool   // the line before ended in CR: a LF now belongs to it
	started bool   // past a possible byte order mark

	id     string
	retry  time.Duration
	name   string
	data   []byte
	first  []byte // the only data line so far, still in buf: most events have one
	dirty  bool   // the pending event has a name or data
	lines  int    // data lines of the pending event
	pushed []byte // a line that was read but belongs to the next event
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: src, limit: MaxEvent} }

// Limit bounds one line and the data of one event.
func (r *Reader) Limit(bytes int) { r.limit = min(bytes, MaxEvent) }

// Retry is how long the server wants a client to wait before it connects anew; 0: it has
// not said.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event or comment. At the end of the stream, whatever
// ended it, it first returns what is pending, and then io.EOF or the source's
// error.
func (r *Reader) Next() (Event, error) {
	for {
		line, err := r.line()
		if err != nil {
			if r.dirty {
				return r.flush(), nil
			}
			return Event{}, err
		}
		if field, _ := split(line); r.dirty && field == "error" {
			r.pushed = append([]byte(nil), line...) // an event of its own
			return r.flush(), nil
		}
		if e, done, err := r.add(line); err != nil || done {
			return e, err
		}
	}
}

// add adds a line to the pending event. It reports whether there is an event or a comment
// to return.
func (r *Reader) add(line []byte) (Event, bool, error) {
	switch {
	case len(line) == 0 && r.dirty:
		return r.flush(), true, nil
	case len(line) == 0:
		return Event{}, false, nil
	}
	field, value := split(line)
	switch field {
	case "":
		return Event{Data: value, Comment: true, ID: r.id}, line[0] == ':', nil
	case "event":
		r.name, r.dirty = string(value), true
	case "data":
		return Event{}, false, r.addData(value)
	case "error":
		r.name = "error"
		return Event{}, false, r.addData(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
	return Event{}, false, nil
}

// addData adds a data line to the pending event; it fails if that becomes too long.
func (r *Reader) addData(value []byte) error {
	if len(r.first)+len(r.data)+len(value) > r.limit {
		return fmt.Errorf("read event stream: %w", ErrTooLong)
	}
	if r.lines++; r.lines == 1 {
		r.first = value
	} else {
		r.copyFirst()
		r.data = append(append(r.data, '\n'), value...)
	}
	r.dirty = true
	return nil
}

// copyFirst moves the first data line of the pending event out of the buffer, which is
// about to change, into memory of its own.
func (r *Reader) copyFirst() {
	if r.first != nil {
		r.data, r.first = append(r.data[:0], r.first...), nil
	}
}

// flush returns the pending event, whose data is valid until the next is read, and
// begins the next.
func (r *Reader) flush() Event {
	e := Event{Name: r.name, Data: r.data, ID: r.id}
	if r.first != nil {
		e.Data, r.first = r.first, nil
	}
	r.name, r.data, r.lines, r.dirty = "", r.data[:0], 0, false
	if cap(r.data) > largeBuffer {
		r.data = nil
	}
	return e
}

// split cuts a line into field and value. Indentation is dropped before a known
// field only, so that a line of blanks is not taken for the end of an event.
func split(line []byte) (field string, value []byte) {
	name, value, found := bytes.Cut(line, []byte(":"))
	if found && len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch known := bytes.TrimLeft(name, " \t"); string(known) {
	case "data":
		return "data", value
	case "event":
		return "event", value
	case "id":
		return "id", value
	case "retry":
		return "retry", value
	case "error":
		if found {
			return "error", value
		}
	case "":
		if len(name) == 0 {
			return "", value
		}
	}
	return "unknown", value
}

// line returns the next line without its end. The last line of the stream may
// lack the end; it comes with a nil error, and io.EOF after it.
func (r *Reader) line() ([]byte, error) {
	if line := r.pushed; line != nil {
		r.pushed = nil
		return line, nil
	}
	for {
		if line, ok := r.buffered(); ok {
			return line, nil
		}
		if r.err != nil {
			return r.rest()
		}
		r.fill()
	}
}

// buffered cuts the next line out of what was read already; it reports false if that
// has no line end.
func (r *Reader) buffered() ([]byte, bool) {
	if !r.ready() {
		return nil, false
	}
	window := r.buf[r.scanned:]
	end := bytes.IndexByte(window, '\n')
	if end >= 0 {
		window = window[:end]
	}
	if cr := bytes.IndexByte(window, '\r'); cr >= 0 {
		end = cr
	}
	if end < 0 {
		r.scanned = len(r.buf)
		return nil, false
	}
	end += r.scanned
	line := r.buf[r.pos:end]
	r.skipLF = r.buf[end] == '\r'
	r.pos, r.scanned = end+1, end+1
	return line, true
}

// ready consumes the second half of a CRLF before a line, and a byte order mark at the
// very start. It reports whether the line may be looked for.
func (r *Reader) ready() bool {
	if r.skipLF && r.pos < len(r.buf) {
		r.skipLF = false
		if r.buf[r.pos] == '\n' {
			r.pos++
			r.scanned = r.pos
		}
	}
	if r.started {
		return true
	}
	const mark = "\xef\xbb\xbf"
	if len(r.buf) < len(mark) && r.err == nil && string(r.buf) == mark[:len(r.buf)] {
		return false
	}
	r.started = true
	if bytes.HasPrefix(r.buf, []byte(mark)) {
		r.pos, r.scanned = len(mark), len(mark)
	}
	return true
}

// rest returns the last line, which has no end, or the error that the source ended
// with. A line that any other error broke off is dropped.
func (r *Reader) rest() ([]byte, error) {
	line := r.buf[r.pos:]
	r.pos, r.scanned = len(r.buf), len(r.buf)
	whole := errors.Is(r.err, io.EOF) || errors.Is(r.err, io.ErrUnexpectedEOF)
	if len(line) == 0 || !whole {
		return nil, r.err
	}
	return line, nil
}

// Sizes of the buffer: that of most events, and what is not kept for the next.
const (
	smallBuffer = 8 << 10
	largeBuffer = 1 << 20
)

// fill reads once. It moves the unread rest to the front first, and doubles the
// buffer only when a line fills it.
func (r *Reader) fill() {
	if len(r.buf)-r.pos > r.limit {
		r.err = fmt.Errorf("read event stream: %w", ErrTooLong)
		r.pos, r.scanned = len(r.buf), len(r.buf)
		return
	}
	r.copyFirst()
	if r.pos > 0 {
		rest := r.buf[r.pos:]
		if cap(r.buf) > largeBuffer && len(rest) < smallBuffer { // of an event that is over
			r.buf = make([]byte, 0, smallBuffer)
		}
		n := copy(r.buf[:len(rest)], rest)
		r.buf, r.scanned, r.pos = r.buf[:n], r.scanned-r.pos, 0
	}
	if len(r.buf) == cap(r.buf) {
		r.buf = append(make([]byte, 0, min(max(smallBuffer, 2*cap(r.buf)), r.limit+smallBuffer)), r.buf...)
	}
	n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	r.err = err
}
