package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pi/internal/jsonlines"
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
