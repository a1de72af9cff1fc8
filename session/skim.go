package session

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"

	"pi/session/message"
	"pi/session/rawjson"
)

// Skim reads a session file once, without holding more of it than a piece, and without
// looking at how its entries hang together: for listings. It calls wanted with the type
// and the line of each entry, in the order of the file, and add with those that are.
// wanted must not keep the line. An entry of add has its type and its body, no place in a
// tree, and may be kept. The error is a *[NotSessionError] if the file is no session.
func Skim(path string, wanted func(typ string, line []byte) bool, add func(*Entry)) (Header, fs.FileInfo, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return Header{}, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Header{}, nil, fmt.Errorf("describe session: %w", err)
	}
	var h Header
	err = eachPiece(f, info.Size(), bufferSize, func(lines []byte) (err error) {
		if h.ID == "" {
			if h, lines, err = cutHeader(lines, path); err != nil {
				return err
			}
		}
		for len(lines) > 0 {
			line, rest, whole := bytes.Cut(lines, []byte("\n"))
			if whole && h.Version > 1 || rawjson.Valid(line) { // else the last line may be cut off
				if head, ok := scanHead(line); ok {
					if typ := rawjson.Unquote(head.typ); wanted(typ, line) {
						e := &Entry{Type: typ, raw: bytes.Clone(line)}
						e.noteOwn(line)
						add(e)
					}
				}
			}
			lines = rest
		}
		return nil
	})
	if err == nil && h.ID == "" {
		err = &NotSessionError{Path: path, Reason: "it is empty"}
	}
	if err != nil {
		return Header{}, nil, readError(path, err)
	}
	return h, info, nil
}

// LineMessage returns the message of a line that has one; nil if it has none, or is
// damaged.
func LineMessage(line []byte) *message.Message {
	e := Entry{Type: TypeMessage, raw: bytes.Clone(line)}
	return e.Message()
}
