package jsonlines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the length in bytes of the longest line that a Reader returns.
const MaxLine = 128 << 20

// ErrTooLong stands for a line of more than MaxLine bytes, which was skipped.
var ErrTooLong = errors.New("the line is longer than 128 MiB")

// Reader reads lines. It is for one goroutine.
type Reader struct {
	in    *bufio.Reader
	limit int
	begun bool // a line was read: a byte order mark is none any more
}

// NewReader returns a Reader of in.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 64<<10), limit: MaxLine}
}

// Next returns the next line without its end (LF or CR LF) and, at the start of the
// stream, without the byte order mark. Blank lines are lines. Bytes that are no UTF-8 are
// U+FFFD. What stands behind the last LF is a line if it is not empty. The line belongs to
// the caller. The error is ErrTooLong for a line that was skipped, after which Next goes on;
// io.EOF at the end of the stream, or what reading it failed with.
func (r *Reader) Next() ([]byte, error) {
	line, err := r.read()
	if err != nil {
		return nil, err
	}
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return bytes.ToValidUTF8(line, []byte("\uFFFD")), nil
}

// read returns the next line as it stands in the stream, without its end.
func (r *Reader) read() ([]byte, error) {
	var line []byte
	seen := 0 // how much of the line was read; 0 at the end of the stream
	for {
		piece, err := r.in.ReadSlice('\n')
		seen += len(piece)
		if len(line)+len(piece) <= r.limit+len("\r\n") && seen == len(line)+len(piece) {
			line = append(line, piece...)
		} else {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (seen == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		line = withoutEnd(line)
		if seen > r.limit+len("\r\n") || len(line) > r.limit {
			r.begun = true
			return nil, ErrTooLong
		}
		return line, nil
	}
}

// withoutEnd drops the LF of a line and one CR before it.
func withoutEnd(line []byte) []byte {
	line, ended := bytes.CutSuffix(line, []byte("\n"))
	if ended {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	return line
}
