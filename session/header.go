package session

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"pi/session/rawjson"
)

// Version is the version of the files written here. Older ones are read, newer
// ones are read only.
const Version = 3

// Header is the first line of a session file.
type Header struct {
	Version       int
	ID            string
	Timestamp     string // ISO 8601
	Cwd           string
	ParentSession string // path of the session this one was forked from; "" if none

	raw json.RawMessage // the line as it is in the file, without its newline
}

// parseHeader reads the first line of a file. If it is no session header, reason says
// why, and is "" otherwise.
func parseHeader(line []byte) (h Header, reason string) {
	line = bytes.TrimRight(bytes.TrimPrefix(line, []byte("\ufeff")), "\r\n")
	if len(bytes.TrimSpace(line)) == 0 {
		return h, "its first line is empty"
	}
	if !json.Valid(line) || rawjson.Unquote(rawjson.Field(line, "type")) != TypeSession {
		return h, "its first line is no session header"
	}
	h.raw = line
	h.ID = rawjson.Unquote(rawjson.Field(line, "id"))
	if !validID(h.ID) {
		return h, "its header has no valid id"
	}
	h.Version = version(rawjson.Field(line, "version"))
	h.Timestamp = rawjson.Unquote(rawjson.Field(line, "timestamp"))
	h.Cwd = rawjson.Unquote(rawjson.Field(line, "cwd"))
	h.ParentSession = rawjson.Unquote(rawjson.Field(line, "parentSession"))
	return h, ""
}

// version reads the version of a header, 1 if it names none. A value that is no number
// that we know counts as newer than we are: only a file whose form is known is written to.
func version(v []byte) int {
	if v == nil || string(v) == "null" {
		return 1
	}
	n, err := strconv.ParseFloat(strings.Trim(string(v), `"`), 64)
	switch {
	case err != nil || !(n < 1e6) || n != float64(int(n)):
		return Version + 1
	case n < 1:
		return 1
	}
	return int(n)
}

// ValidID reports whether a text may be the id that somebody gives a new session: it becomes
// part of file names, and begins and ends with a letter or digit.
func ValidID(id string) bool {
	return validID(id) && len(id) <= 128 && strings.Trim(id, "._-") == id
}

// validID reports whether a text may be the id of a session.
func validID(id string) bool {
	for i := range len(id) {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return id != ""
}

// newHeader makes the header of a new session; with an id of its own if id is empty.
func newHeader(now time.Time, id, cwd, parent string) Header {
	h := Header{Version: Version, ID: cmp.Or(id, newUUID(now)), Timestamp: isoTime(now), Cwd: cwd, ParentSession: parent}
	var line rawjson.Object
	line.Text("type", TypeSession)
	line.Int("version", Version)
	line.Text("id", h.ID)
	line.Text("timestamp", h.Timestamp)
	line.Text("cwd", h.Cwd)
	line.Optional("parentSession", h.ParentSession)
	h.raw = line.Bytes()
	return h
}

// ReadHeader reads the first line of a session file and nothing else.
func ReadHeader(path string) (Header, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	h, err := readHeader(f, path)
	return h, readError(path, err)
}

// maxHeader is how long the first line of a session may be. What has a longer
// one is some other file, maybe one without any lines.
const maxHeader = 8 << 20

// readHeader reads the first line of a file; path is for errors.
func readHeader(f io.ReaderAt, path string) (Header, error) {
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, maxHeader)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return Header{}, err
	}
	h, _, err := cutHeader(line, path)
	return h, err
}

// cutHeader reads the header from the first lines of a file and returns the others.
func cutHeader(lines []byte, path string) (h Header, rest []byte, err error) {
	line, rest, _ := bytes.Cut(lines, []byte("\n"))
	h, reason := parseHeader(bytes.Clone(line))
	if reason != "" {
		return Header{}, nil, &NotSessionError{Path: path, Reason: reason}
	}
	return h, rest, nil
}

// current returns the line of the header with the version of the files written here, for
// a copy of the entries in their current form.
func (h Header) current() json.RawMessage {
	if h.Version >= Version {
		return h.raw
	}
	var was, now rawjson.Object
	was.Int("version", int64(h.Version))
	now.Int("version", Version)
	return rawjson.Overlay(h.raw, was, now)
}
