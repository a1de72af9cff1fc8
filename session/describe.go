package session

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"pi/session/message"
	"pi/session/rawjson"
)

// Info describes a session without holding it.
type Info struct {
	Path        string
	ID          string
	Cwd         string
	Name        string    // given by the user; "" if none
	FirstPrompt string    // text of the first user message
	Parent      string    // path of the session it was forked from; "" if none
	Created     time.Time // zero if the header does not say
	Modified    time.Time
	Entries     int
	Messages    int
	Size        int64
}

// Describe reads one session for a listing: the heads of its lines, and the
// bodies that say what it is called. It holds no more of it than a piece.
func Describe(path string) (Info, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return Info{}, fmt.Errorf("describe session: %w", err)
	}
	d := describer{info: Info{Path: path, Modified: stat.ModTime(), Size: stat.Size()}}
	stop := make(chan struct{})
	defer close(stop)
	size := stat.Size()
	for p := range readPieces(io.NewSectionReader(f, 0, size), min(size, bufferSize)+1, size <= bufferSize, stop) {
		if p.err != nil {
			return Info{}, fmt.Errorf("read session %q: %w", path, p.err)
		}
		if err := d.lines(p.lines); err != nil {
			return Info{}, err
		}
	}
	if d.info.ID == "" {
		return Info{}, &NotSessionError{Path: path, Reason: "it is empty"}
	}
	d.info.Name = d.name()
	return d.info, nil
}

// describer counts lines as they come.
type describer struct {
	info    Info
	named   [][]byte // session_info lines
	asked   bool     // the first prompt is known
	version int      // 0: the header is still to come
}

func (d *describer) lines(buf []byte) error {
	for len(buf) > 0 {
		line, rest, whole := bytes.Cut(buf, []byte("\n"))
		if d.version == 0 {
			if err := d.begin(line); err != nil {
				return err
			}
		} else if whole && d.version > 1 || validLine(line) { // else it was cut off in mid-write
			d.line(line)
		}
		buf = rest
	}
	return nil
}

func (d *describer) begin(line []byte) error {
	h, reason := parseHeader(line)
	if reason != "" {
		return &NotSessionError{Path: d.info.Path, Reason: reason}
	}
	d.version = max(h.Version, 1)
	d.info.ID, d.info.Cwd, d.info.Parent = h.ID, h.Cwd, h.ParentSession
	d.info.Created, _ = time.Parse(time.RFC3339, h.Timestamp)
	return nil
}

func (d *describer) line(line []byte) {
	h, ok := scanHead(line)
	if !ok {
		return
	}
	d.info.Entries++
	switch rawjson.Unquote(h.typ) {
	case TypeMessage:
		d.info.Messages++
		d.ask(line)
	case TypeSessionInfo:
		d.named = append(d.named, bytes.Clone(line))
	}
}

// ask takes the text of the first message of the person.
func (d *describer) ask(line []byte) {
	if d.asked {
		return
	}
	e := Entry{Type: TypeMessage, raw: bytes.Clone(line)}
	if m := e.Message(); m != nil && m.Role == message.RoleUser {
		d.info.FirstPrompt, d.asked = m.Text(), m.Text() != ""
	}
}

// name is the last one that can be read, as [Session.Name] has it.
func (d *describer) name() string {
	for i := len(d.named) - 1; i >= 0; i-- {
		if c, err := Body[SessionInfo](&Entry{Type: TypeSessionInfo, raw: d.named[i]}); err == nil {
			return c.Name
		}
	}
	return ""
}
