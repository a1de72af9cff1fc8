package session

import (
	"os"
	"path/filepath"
	"testing"
)

func user(s string) *Message {
	return &Message{Role: RoleUser, Content: []Block{TextBlock(s)}, Timestamp: 1}
}

func TestSessionSurvivesClosingAndOpening(t *testing.T) {
	dir := t.TempDir()
	s := New(Options{Dir: dir, Cwd: "/home/u/my proj:x"})
	if _, err := s.Append(TypeModelChange, ModelChange{Provider: "demo", ModelID: "tour"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.File()); err == nil {
		t.Error("the file exists before the first message")
	}
	if _, err := s.AppendMessage(user("hello <you>")); err != nil {
		t.Fatal(err)
	}
	want := s.Leaf()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := filepath.Base(filepath.Dir(s.File())), "--home-u-my proj-x--"; got != want {
		t.Errorf("folder %q, want %q", got, want)
	}
	r, err := Open(s.File(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Leaf() != want || r.ID() != s.ID() || len(r.Entries()) != 2 {
		t.Errorf("leaf %q id %q entries %d", r.Leaf(), r.ID(), len(r.Entries()))
	}
	if p := r.Problems(); p != nil {
		t.Errorf("problems: %q", p)
	}
	items := r.Context()
	if len(items) != 1 || items[0].Message.Text() != "hello <you>" || items[0].Index != 1 {
		t.Errorf("context: %+v", items)
	}
	if p, id := r.Model(); p != "demo" || id != "tour" {
		t.Errorf("model %s/%s", p, id)
	}
}
