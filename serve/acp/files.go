package acp

import (
	"cmp"
	"context"
	"fmt"

	"pi/agent/tool"
	"pi/internal/printable"
)

// mostFile is the largest text in bytes that is handed to the client: it has to fit into one
// line, in which a byte takes up to six.
const mostFile = 16 << 20 / 6

// files are the client's files, as far as it hands them out.
func (s *session) files() (f tool.Files) {
	c := s.server.capable()
	if c.reads {
		f.Read = s.readFile
	}
	if c.writes {
		f.Write = s.writeFile
	}
	return f
}

// readFile asks the client for the text of a file.
func (s *session) readFile(ctx context.Context, path string) (string, error) {
	if !s.mayAsk(ctx) {
		return "", cmp.Or(ctx.Err(), errDisconnected)
	}
	raw, err := s.server.conn.call(ctx, "fs/read_text_file", fileRead{s.id, path})
	if err != nil {
		return "", err
	}
	all, err := parseFields(raw)
	if err != nil {
		return "", fmt.Errorf("its answer is no object")
	}
	text, ok := all.text("content")
	if !ok {
		return "", fmt.Errorf(`its answer has no "content"`)
	}
	return text, nil
}

// writeFile has the client write the text of a file.
func (s *session) writeFile(ctx context.Context, path, text string) error {
	if len(text) > mostFile {
		return fmt.Errorf("%s are too much for a line", printable.Bytes(len(text)))
	}
	if !s.mayAsk(ctx) {
		return cmp.Or(ctx.Err(), errDisconnected)
	}
	_, err := s.server.conn.call(ctx, "fs/write_text_file", fileWrite{s.id, path, text})
	return err
}
