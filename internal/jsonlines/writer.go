package jsonlines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"unicode/utf8"
)

// MaxWaiting is how many bytes wait at most for the other program to read. A record that
// is longer than that waits alone.
const MaxWaiting = 8 << 20

var (
	// ErrBrokenPipe says that nobody reads what is written any more.
	ErrBrokenPipe = errors.New("nobody reads the output")
	// ErrClosed says that the Writer was closed before.
	ErrClosed = errors.New("the output is closed")
)

// Writer writes records. All methods may be called by any goroutine.
type Writer struct {
	out    io.Writer
	limit  int
	broken chan struct{} // closed when a write fails
	ended  chan struct{} // closed when nothing will be written any more

	turn sync.Mutex // held by who waits for room, so that those behind keep their order

	mu      sync.Mutex // guards what follows
	changed *sync.Cond // of what follows, whatever it is
	waiting []byte     // whole lines that are to be written
	writing int        // bytes that are being written
	put     int64      // bytes that came in, ever
	written int64      // bytes that went out, ever
	closed  bool
	dropped bool  // what waits is not to be written any more
	err     error // what the first write that failed came to
}

// NewWriter returns a Writer to out. It has a goroutine that ends with Close, or after a
// write that failed.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out, limit: MaxWaiting, broken: make(chan struct{}), ended: make(chan struct{})}
	w.changed = sync.NewCond(&w.mu)
	go w.run()
	return w
}

// Write puts the JSON of record behind the records that came before; see WriteJSON. After an
// error of encoding nothing was written.
func (w *Writer) Write(record any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(record); err != nil {
		return fmt.Errorf("encode a record: %w", err)
	}
	return w.WriteJSON(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
}

// WriteJSON puts record, which is valid JSON, behind the records that came before, as one
// line: white space that would break it is a blank, U+2028 and U+2029 are escaped. It waits
// for nothing but room among the bytes that wait. The error is ErrClosed, or that of the
// write that failed: then neither this record nor any later one reaches the other program.
func (w *Writer) WriteJSON(record []byte) error {
	record = oneLine(record)
	w.turn.Lock()
	defer w.turn.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && !w.closed && !w.fits(len(record)+1) {
		w.changed.Wait()
	}
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return ErrClosed
	}
	w.waiting = append(append(w.waiting, record...), '\n')
	w.put += int64(len(record) + 1)
	w.changed.Broadcast()
	return nil
}

// fits reports whether n more bytes may wait. The caller has locked mu.
func (w *Writer) fits(n int) bool {
	held := len(w.waiting) + w.writing
	return held == 0 || held+n <= w.limit
}

// Broken is closed when a write has failed; Err says how.
func (w *Writer) Broken() <-chan struct{} { return w.broken }

// Err returns what writing failed with, ErrBrokenPipe if there is no reader any more; nil
// before that.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Flush waits until the records that were put before are written. It is the error of a write
// that failed, that of ctx when that is done first, or ErrClosed if some of them were dropped.
func (w *Writer) Flush(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.changed.Broadcast()
	})
	defer stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := w.put; w.err == nil && w.written < end; w.changed.Wait() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if w.dropped {
			return ErrClosed
		}
	}
	return w.err
}

// Close takes no more records and waits until those that were put are written, or until
// ctx is done; what waits then is dropped. Who waits for room gets ErrClosed. A second call
// waits as the first, but not for what was dropped.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	w.changed.Broadcast()
	w.mu.Unlock()
	err := w.Flush(ctx)
	if err == nil {
		<-w.ended
		return nil
	}
	w.mu.Lock()
	w.waiting, w.dropped = nil, true
	w.changed.Broadcast()
	w.mu.Unlock()
	return err
}

// run writes what waits, one record with each write, until the Writer is closed and nothing
// waits, or a write fails.
func (w *Writer) run() {
	defer close(w.ended)
	var lines []byte
	for {
		if lines = w.take(lines[:0]); len(lines) == 0 {
			return
		}
		for rest := lines; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n') + 1
			_, err := w.out.Write(rest[:n])
			rest = rest[n:]
			if err != nil {
				w.fail(err)
				return
			}
			if !w.note(n) {
				return
			}
		}
		if cap(lines) > 1<<20 {
			lines = nil // one burst is no reason to keep its memory
		}
	}
}

// take waits for lines and returns them all; nothing when there will be none any more. What
// waits next is collected in spare.
func (w *Writer) take(spare []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting) == 0 && !w.closed {
		w.changed.Wait()
	}
	lines := w.waiting
	w.waiting, w.writing = spare, len(lines)
	return lines
}

// note counts n bytes as written, and reports whether more are to be written.
func (w *Writer) note(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writing -= n
	w.written += int64(n)
	w.changed.Broadcast()
	return !w.dropped
}

// fail remembers what a write failed with, for everybody.
func (w *Writer) fail(err error) {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		err = ErrBrokenPipe
	} else {
		err = fmt.Errorf("write a record: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.waiting, w.writing = err, nil, 0
	close(w.broken)
	w.changed.Broadcast()
}

// oneLine returns JSON as it may stand on a line; usually that is record itself. In JSON
// a line break can stand only between values, and the separators of Unicode only in strings.
func oneLine(record []byte) []byte {
	if bytes.IndexByte(record, '\n') >= 0 || bytes.IndexByte(record, '\r') >= 0 {
		record = bytes.Map(func(r rune) rune {
			if r == '\r' || r == '\n' {
				return ' '
			}
			return r
		}, record)
	}
	if !utf8.Valid(record) {
		record = bytes.ToValidUTF8(record, []byte("\uFFFD"))
	}
	if bytes.Contains(record, []byte("\xe2\x80")) {
		record = bytes.ReplaceAll(record, []byte("\u2028"), []byte(`\u2028`))
		record = bytes.ReplaceAll(record, []byte("\u2029"), []byte(`\u2029`))
	}
	return record
}
