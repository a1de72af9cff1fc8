package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pi/internal/jsonlines"
)

// request is one command of the client.
type request struct {
	id     json.RawMessage // nil: it has none
	name   string
	fields map[string]json.RawMessage
}

// readLines reads commands until the input ends, and hands each to what it asks for. Then
// nobody answers a question any more, be it one of the start of the session, which is not
// through before.
func (s *Server) readLines() {
	defer s.person.dialogs.close()
	for {
		line, err := s.in.Next()
		switch {
		case errors.Is(err, jsonlines.ErrTooLong):
			s.refuseLine(err)
		case errors.Is(err, io.EOF):
			s.read <- nil
			return
		case err != nil:
			s.read <- fmt.Errorf("read a command: %w", err)
			return
		default:
			s.state.noteSpoken()
			s.readLine(line)
		}
	}
}

// readLine reads one command and begins it, or refuses it.
func (s *Server) readLine(line []byte) {
	r, err := parse(line)
	if err != nil {
		s.refuseLine(err)
		return
	}
	if r.name == "extension_ui_response" {
		s.person.dialogs.answer(r.fields)
		return
	}
	s.out.inHand.add()
	c, known := s.table[r.name]
	if !known {
		s.order.addRead(func() { s.out.refuse(r, "Unknown command: "+r.name) })
		return
	}
	f := &fields{all: r.fields}
	do := c.open(f, r)
	if f.err != nil {
		s.order.addRead(func() { s.out.refuse(r, f.err.Error()) })
		return
	}
	s.begin(c.way, r, do)
}

// refuseLine answers a line that is no command.
func (s *Server) refuseLine(err error) {
	s.out.inHand.add()
	var untyped *untypedError
	r := &request{name: "parse"}
	text := "Failed to parse command: " + err.Error()
	if errors.As(err, &untyped) {
		r.id, text = untyped.id, err.Error()
	}
	s.order.addRead(func() { s.out.refuse(r, text) })
}

// untypedError refuses an object that does not say which command it is.
type untypedError struct{ id json.RawMessage }

func (*untypedError) Error() string { return `"type" must be a string` }

// parse reads a line as a command.
func parse(line []byte) (*request, error) {
	r := &request{}
	if start := bytes.TrimLeft(line, " \t\r"); len(start) > 0 && start[0] != '{' && json.Valid(line) {
		return nil, errors.New("a command is a JSON object")
	}
	if err := json.Unmarshal(line, &r.fields); err != nil {
		return nil, err
	}
	r.id = r.fields["id"]
	name, err := (&fields{all: r.fields}).string("type")
	if err != nil {
		return nil, &untypedError{r.id}
	}
	r.name = name
	return r, nil
}
