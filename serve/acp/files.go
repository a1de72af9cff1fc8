package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

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
	if !s.isKnown(ctx) {
		return "", cmp.Or(ctx.Err(), errDisconnected)
	}
	raw, err := s.askForFile(ctx, "fs/read_text_file", fileRead{s.id, path})
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
	if !s.isKnown(ctx) {
		return cmp.Or(ctx.Err(), errDisconnected)
	}
	_, err := s.askForFile(ctx, "fs/write_text_file", fileWrite{s.id, path, text})
	return err
}

// usualFileWait is how long a client may take to read or write a file. There are some that
// never answer for a file with changes that are not saved.
const usualFileWait = 30 * time.Second

func (s *session) askForFile(ctx context.Context, method string, params any) (json.RawMessage, error) {
	most := cmp.Or(s.server.FileWait, usualFileWait)
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	raw, err := s.server.conn.call(limited, method, params)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("it has not answered for %v; --no-client-files leaves it out", most)
	}
	return raw, err
}
