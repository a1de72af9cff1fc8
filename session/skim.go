package session

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"

	"pi/session/rawjson"
)

// Skim reads a session file once, without holding more of it than a piece, and without
// looking at how its entries hang together: for listings. It calls each for the
// entries in the order of the file; entry, which is only good until each returns, makes
// an entry of the line that has its type and its body, and no place in a tree. The
// error is a *[NotSessionError] if the file is no session.
func Skim(path string, each func(typ string, entry func() *Entry)) (Header, fs.FileInfo, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return Header{}, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Header{}, nil, fmt.Errorf("describe session: %w", err)
	}
	s := skimmer{path: path, each: each}
	stop := make(chan struct{})
	defer close(stop)
	size := info.Size()
	for p := range readPieces(io.NewSectionReader(f, 0, size), min(size, bufferSize)+1, size <= bufferSize, stop) {
		if p.err != nil {
			return Header{}, nil, fmt.Errorf("read session %q: %w", path, p.err)
		}
		if err := s.lines(p.lines); err != nil {
			return Header{}, nil, err
		}
	}
	if s.header.ID == "" {
		return Header{}, nil, &NotSessionError{Path: path, Reason: "it is empty"}
	}
	return s.header, info, nil
}

// skimmer passes on lines as they come.
type skimmer struct {
	path   string
	each   func(typ string, entry func() *Entry)
	header Header // without an ID: it is still to come
	typ    string
	line   []byte
}

func (s *skimmer) lines(buf []byte) error {
	for len(buf) > 0 {
		line, rest, whole := bytes.Cut(buf, []byte("\n"))
		if s.header.ID == "" {
			h, reason := parseHeader(bytes.Clone(line))
			if reason != "" {
				return &NotSessionError{Path: s.path, Reason: reason}
			}
			s.header = h
		} else if whole && s.header.Version > 1 || validLine(line) { // else it was cut off in mid-write
			s.pass(line)
		}
		buf = rest
	}
	return nil
}

func (s *skimmer) pass(line []byte) {
	h, ok := scanHead(line)
	if !ok {
		return
	}
	s.typ, s.line = rawjson.Unquote(h.typ), line
	s.each(s.typ, s.entry)
}

func (s *skimmer) entry() *Entry { return &Entry{Type: s.typ, raw: bytes.Clone(s.line)} }
