package session

import (
	"bytes"
	"errors"
	"io"
	"os"
)

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
