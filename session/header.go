package session

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"pi/session/message"
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
	Agent         AgentMark

	raw json.RawMessage // the line as it is in the file, without its newline
}

// AgentMark says that a session is that of an agent which another one used, and which
// one. Its ParentSession is the session of that other one. The zero value is no such session.
type AgentMark struct {
	Name  string
	Depth int // from 1
}

// IsSet reports whether there is a mark.
func (m AgentMark) IsSet() bool { return m.Depth > 0 }

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
	h.Agent = agentMark(rawjson.Field(line, "agent"))
	return h, ""
}

// agentMark reads the mark of a header. What another program has there is none.
func agentMark(v []byte) AgentMark {
	name, depth := rawjson.Field(v, "name"), rawjson.Number(rawjson.Field(v, "depth"))
	if !rawjson.IsString(name) || !(depth >= 1 && depth <= 1e6) {
		return AgentMark{}
	}
	return AgentMark{rawjson.Unquote(name), int(depth)}
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
func newHeader(now time.Time, id, cwd, parent string, agent AgentMark) Header {
	h := Header{Version: Version, ID: cmp.Or(id, newUUID(now)), Timestamp: isoTime(now), Cwd: cwd, ParentSession: parent, Agent: agent}
	var line rawjson.Object
	line.Text("type", TypeSession)
	line.Int("version", Version)
	line.Text("id", h.ID)
	line.Text("timestamp", h.Timestamp)
	line.Text("cwd", h.Cwd)
	line.Optional("parentSession", h.ParentSession)
	if agent.IsSet() {
		var mark rawjson.Object
		mark.Text("name", agent.Name)
		mark.Int("depth", int64(agent.Depth))
		line.Put("agent", mark.Bytes())
	}
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

// head is what loading reads of a line: enough to place the entry in the tree.
// The values are raw JSON, nil if absent.
type head struct {
	typ, id, parent, time []byte
}

// scanHead reads the head of a line and stops as soon as it has it, so that a
// line whose head stands first costs the same however long it is. It reports
// false for a line that is no entry: no object, no type, or cut short. What
// follows the head is checked when the body is decoded.
func scanHead(line []byte) (head, bool) {
	var h head
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) < 2 || line[len(line)-1] != '}' {
		return h, false
	}
	found := 0
	for k, v := range rawjson.Fields(line) {
		slot := h.slot(k)
		if slot == nil || *slot != nil {
			continue
		}
		*slot = v
		if found++; found == 4 {
			break
		}
	}
	return h, rawjson.IsString(h.typ)
}

// slot returns where the value of a key is stored; nil if it is not part of the head.
func (h *head) slot(key []byte) *[]byte {
	switch string(key) {
	case "type":
		return &h.typ
	case "id":
		return &h.id
	case "parentId":
		return &h.parent
	case "timestamp":
		return &h.time
	}
	return nil
}

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
		skimLines(h, lines, wanted, add)
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

// SkimEnds is [Skim] of the first n bytes of a file and of the last n, for those who cannot wait
// for a long one: what stands in between is passed over.
func SkimEnds(path string, n int, wanted func(typ string, line []byte) bool, add func(*Entry)) (Header, fs.FileInfo, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return Header{}, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Header{}, nil, fmt.Errorf("describe session: %w", err)
	}
	piece := make([]byte, min(int64(n), info.Size()))
	read, err := f.ReadAt(piece, 0)
	if err != nil && err != io.EOF {
		return Header{}, nil, readError(path, err)
	}
	whole := bytes.LastIndexByte(piece[:read], '\n') + 1
	if int64(read) == info.Size() {
		whole = read
	}
	h, lines, err := cutHeader(piece[:whole], path)
	if err != nil {
		return Header{}, nil, err
	}
	skimLines(h, lines, wanted, add)
	if rest := info.Size() - int64(whole); rest > 0 {
		from := info.Size() - min(rest, int64(n))
		read, err := f.ReadAt(piece, from)
		if err != nil && err != io.EOF {
			return Header{}, nil, readError(path, err)
		}
		lines := piece[:read]
		if from > int64(whole) { // the line that it begins in the middle of
			_, lines, _ = bytes.Cut(lines, []byte("\n"))
		}
		skimLines(h, lines, wanted, add)
	}
	return h, info, nil
}

// skimLines calls wanted with the entries that stand in lines, and add with those that are.
func skimLines(h Header, lines []byte, wanted func(typ string, line []byte) bool, add func(*Entry)) {
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
}

// LineMessage returns the message of a line that has one; nil if it has none, or is
// damaged.
func LineMessage(line []byte) *message.Message {
	e := Entry{Type: TypeMessage, raw: bytes.Clone(line)}
	return e.Message()
}

// Lines yields the lines of the session as a file of its own would hold them,
// without their newlines: the header and all entries, each byte for byte, also
// those that could not be saved. Of a file of version 1 or 2 they have the form
// of version 3. An entry whose line is gone from the file comes as a *[GoneError];
// those after it follow.
func (s *Session) Lines() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		if !yield(s.Header().current(), nil) {
			return
		}
		for _, e := range s.Entries() {
			var gone error
			raw := e.rawUncached()
			if raw == nil {
				gone = &GoneError{e.ID}
			}
			if !yield(raw, gone) {
				return
			}
		}
	}
}
