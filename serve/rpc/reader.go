package rpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"pi/internal/jsonlines"
	"pi/session/message"
)

// readLines reads commands until the input ends, and hands each to what it asks for. Then
// nobody answers a question any more, be it one of the start of the session, which is not
// through before.
func (s *Server) readLines() {
	defer s.user.dialogs.close()
	for {
		line, err := s.in.Next()
		switch {
		case errors.Is(err, jsonlines.ErrTooLong):
			s.refuseLine(&request{}, "Failed to parse command: "+err.Error())
		case errors.Is(err, io.EOF):
			s.read <- nil
			return
		case err != nil:
			s.read <- fmt.Errorf("read a command: %w", err)
			return
		default:
			s.note(func(f *facts) { f.spoken = true })
			s.readLine(line)
		}
	}
}

// readLine reads one command and begins it, or refuses it.
func (s *Server) readLine(line []byte) {
	r := &request{}
	if err := parse(line, &r.fields); err != nil {
		s.refuseLine(r, "Failed to parse command: "+err.Error())
		return
	}
	r.id = r.fields["id"]
	name, err := r.string("type")
	if err != nil {
		s.refuseLine(r, `"type" must be a string`)
		return
	}
	if r.name = name; name == "extension_ui_response" {
		s.user.dialogs.answer(r)
		return
	}
	s.countInHand(1)
	c, known := s.table[name]
	if !known {
		s.addRead(func() { s.refuse(r, "Unknown command: "+name) })
		return
	}
	do := c.open(r)
	if r.err != nil {
		s.addRead(func() { s.refuse(r, r.err.Error()) })
		return
	}
	s.begin(c.way, r, do)
}

// refuseLine answers a line that is no command.
func (s *Server) refuseLine(r *request, why string) {
	s.countInHand(1)
	r.name = "parse"
	s.addRead(func() { s.refuse(r, why) })
}

// parse reads the fields of a command.
func parse(line []byte, fields *map[string]json.RawMessage) error {
	if start := bytes.TrimLeft(line, " \t\r"); len(start) > 0 && start[0] != '{' && json.Valid(line) {
		return errors.New("a command is a JSON object")
	}
	return json.Unmarshal(line, fields)
}

// request is one command of the client. The methods read one field each; the first that is
// missing or of a wrong kind is remembered in err, and then nothing is done. null is as if it
// were absent.
type request struct {
	id     json.RawMessage // nil: it has none
	name   string
	fields map[string]json.RawMessage
	err    error
}

// errWrongKind says that a value is of another kind.
var errWrongKind = errors.New("another kind of value")

// has reports whether a field has a value.
func (r *request) has(name string) bool {
	v := r.fields[name]
	return v != nil && !bytes.Equal(v, []byte("null"))
}

// string reads a field that has to be a string.
func (r *request) string(name string) (string, error) {
	v := r.fields[name]
	if len(v) == 0 || v[0] != '"' {
		return "", errWrongKind
	}
	var text string
	err := json.Unmarshal(v, &text)
	return text, err
}

// fail remembers what a field must be, unless another was wrong before.
func (r *request) fail(name, must string) {
	if r.err == nil {
		r.err = fmt.Errorf("%q must be %s", name, must)
	}
}

// text is a string that has to be there.
func (r *request) text(name string) string {
	text, err := r.string(name)
	if err != nil {
		r.fail(name, "a string")
	}
	return text
}

// optionalText is a string that may be absent, "" then.
func (r *request) optionalText(name string) string {
	if !r.has(name) {
		return ""
	}
	return r.text(name)
}

// word is one of several strings.
func (r *request) word(name string, allowed ...string) string {
	text, err := r.string(name)
	for _, word := range allowed {
		if err == nil && text == word {
			return word
		}
	}
	r.fail(name, "one of "+strings.Join(allowed, ", "))
	return ""
}

// optionalWord is one of several strings, or "" if it is absent.
func (r *request) optionalWord(name string, allowed ...string) string {
	if !r.has(name) {
		return ""
	}
	return r.word(name, allowed...)
}

// flag is true or false.
func (r *request) flag(name string) bool {
	switch string(r.fields[name]) {
	case "true":
		return true
	case "false":
		return false
	}
	r.fail(name, "true or false")
	return false
}

// optionalFlag is true or false, false if it is absent.
func (r *request) optionalFlag(name string) bool { return r.has(name) && r.flag(name) }

// images is a list of images as messages have them; the bytes of each say its type.
func (r *request) images(name string) []message.Block {
	if !r.has(name) {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(r.fields[name], &list) != nil {
		r.fail(name, "a list of images")
		return nil
	}
	blocks := make([]message.Block, 0, len(list))
	for i, v := range list {
		b, err := image(v)
		if err != nil {
			r.fail(fmt.Sprintf("%s[%d]", name, i), err.Error())
			return nil
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// image reads one image. The error says what it must be.
func image(v json.RawMessage) (message.Block, error) {
	var given struct {
		Type *string `json:"type"`
		Data *string `json:"data"`
	}
	if err := json.Unmarshal(v, &given); err != nil || given.Data == nil || given.Type != nil && *given.Type != "image" {
		return message.Block{}, errors.New(`an image: {"type":"image","data":BASE64,"mimeType":TYPE}`)
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(*given.Data))
	if err != nil {
		return message.Block{}, errors.New("an image whose data is base64")
	}
	kind := message.ImageType(data[:min(12, len(data))])
	if kind == "" {
		return message.Block{}, errors.New("an image of the type PNG, JPEG, GIF or WebP")
	}
	return message.ImageBlock(kind, data), nil
}
