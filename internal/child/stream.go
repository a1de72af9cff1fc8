package child

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// Form is how a stream is divided into pieces.
type Form struct {
	Lines bool // each without its end; otherwise as it comes
	Max   int  // bytes of a piece; a longer line is handed over in several
}

// Answer is what a receiver says of a piece of a stream.
type Answer uint8

const (
	Taken  Answer = iota
	Again         // not taken: it is the first piece for the next receiver
	Enough        // no more is wanted: the stream is closed, as the program will notice
)

// Stream is one output of a program. What nobody has taken waits in its pipe, but for what
// was read at once.
type Stream struct {
	r      *os.File
	chunks chan []byte   // what is read; closed at the end
	quit   chan struct{} // closed when no more is wanted
	quits  sync.Once
	drop   chan struct{} // closed when what comes is read and dropped
	drops  sync.Once
	turn   chan struct{} // has one element while nobody takes

	// Only who has the turn.
	rest  []byte // read and not taken
	ended bool   // chunks is closed
}

func newStream(r *os.File) *Stream {
	s := &Stream{r: r, chunks: make(chan []byte), quit: make(chan struct{}), drop: make(chan struct{}), turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	go s.read()
	return s
}

// read hands on what comes out of the pipe until it ends, or no more is wanted.
func (s *Stream) read() {
	defer close(s.chunks)
	defer func() { _ = s.r.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := s.r.Read(buf)
		if n > 0 && !s.send(bytes.Clone(buf[:n])) {
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.send(s.drain())
		}
		if err != nil {
			return
		}
	}
}

// send waits until somebody takes a chunk, or it is dropped. It is false if no more is
// wanted.
func (s *Stream) send(chunk []byte) bool {
	select {
	case s.chunks <- chunk:
		return true
	case <-s.drop:
		return true
	case <-s.quit:
		return false
	}
}

// finish is called when the program has ended: what it wrote is still handed on. A child of
// it may have the pipe open for ever, and what that one writes from now on does not count.
func (s *Stream) finish() { _ = s.r.SetReadDeadline(time.Unix(1, 0)) }

// drain reads what is in the pipe at this moment, and does not wait for more. It uses the
// system call itself, because a read of the file would wait.
func (s *Stream) drain() []byte {
	raw, err := s.r.SyscallConn()
	if err != nil || s.r.SetReadDeadline(time.Time{}) != nil {
		return nil
	}
	const most = 1 << 20 // that a pipe can have in it
	buf := make([]byte, most)
	_ = raw.Read(func(fd uintptr) bool {
		for have := 0; have < most; {
			n, err := syscall.Read(handle(fd), buf[have:])
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if n <= 0 || err != nil {
				buf = buf[:have]
				break
			}
			have += n
		}
		return true
	})
	return buf
}

// HandOver gives the stream to give, piece by piece, until it has ended, ctx is done, or
// give wants no more. It is true if the stream is over. form is asked before each piece.
// Of several callers one has the stream at a time; the next continues where that one
// stopped.
func (s *Stream) HandOver(ctx context.Context, form func() Form, give func(piece string) Answer) bool {
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return false
	}
	for ctx.Err() == nil {
		piece, size := s.next(form())
		switch {
		case size == 0 && s.ended:
			return true
		case size == 0:
			s.wait(ctx)
			continue
		}
		switch give(piece) {
		case Again:
			return false
		case Enough:
			s.close()
			s.rest, s.ended = nil, true
			return true
		}
		s.rest = s.rest[size:]
	}
	return false
}

// wait waits for the next chunk.
func (s *Stream) wait(ctx context.Context) {
	select {
	case chunk, more := <-s.chunks:
		s.rest, s.ended = append(s.rest, chunk...), !more
	case <-ctx.Done():
	}
}

// close ends a stream of which no more is wanted.
func (s *Stream) close() {
	s.quits.Do(func() { close(s.quit) })
	s.finish() // wakes a read that waits
}

// dropRest lets what comes be read and dropped: a program that is to end may still write.
func (s *Stream) dropRest() { s.drops.Do(func() { close(s.drop) }) }

// next returns the next piece of what was read and how many bytes it stands for; 0 if
// more has to be read before there is one.
func (s *Stream) next(f Form) (piece string, size int) {
	if f.Lines {
		line, size := s.line(f.Max)
		if size > 0 || len(s.rest) < f.Max+len("\r\n") && !s.ended {
			return line, size
		}
	}
	window := s.rest[:min(len(s.rest), f.Max)]
	n, isCut := wholeCharacters(window), len(window) < len(s.rest)
	if n == 0 && isCut || !isCut && s.ended {
		n = len(window)
	}
	return string(window[:n]), n
}

// line returns the next line without its end, and how many bytes it has with it; 0 if
// none was read that is at most max bytes long.
func (s *Stream) line(max int) (line string, size int) {
	end := bytes.IndexByte(s.rest[:min(len(s.rest), max+len("\r\n"))], '\n')
	if end < 0 {
		return "", 0
	}
	text := bytes.TrimSuffix(s.rest[:end], []byte("\r"))
	if len(text) > max {
		return "", 0
	}
	return string(text), end + 1
}

// wholeCharacters returns how long the beginning of b is that does not end within a
// character of UTF-8; all of b if it is no UTF-8.
func wholeCharacters(b []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if at := len(b) - back; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				return at
			}
			break
		}
	}
	return len(b)
}
