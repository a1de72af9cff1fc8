package session

import (
	"path/filepath"
	"testing"

	"pi/session/message"
)

func TestAnUncachedEntrySaysTheSameAndTheOriginalKeepsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hello")}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	e := again.Entries()[0]
	hadRaw := e.raw != nil
	c := e.Uncached()
	if c.Message().Text() != "hello" || c.ID != e.ID || c.Type != e.Type || c.Timestamp != e.Timestamp {
		t.Errorf("%+v", c)
	}
	if e.body != nil || (e.raw != nil) != hadRaw {
		t.Error("the entry keeps what was read for the copy")
	}
	if string(e.Raw()) != string(c.Raw()) {
		t.Errorf("%s, want %s", c.Raw(), e.Raw())
	}
}
