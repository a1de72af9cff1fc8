package session

import (
	"fmt"
	"testing"

	"pi/session/message"
)

func TestAPlaybackIsTheSessionAsItGrew(t *testing.T) {
	s := New(Options{Cwd: "/", Dir: t.TempDir()})
	at := func(s *Session, v *View) string {
		return fmt.Sprintf("%s | %s | %s | %d", idsOf(s.Entries()), idsOf(s.Branch()), s.Leaf(), len(v.Context(s)))
	}
	var was []string // before each entry
	say := func(text string) *Entry {
		t.Helper()
		was = append(was, at(s, new(View)))
		e, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first, second := say("one"), say("two")
	say("three")
	was = append(was, fmt.Sprintf("%s | %s | %s | 1", idsOf(s.Entries()), first.ID, first.ID))
	if _, err := s.MoveTo(first.ID, Draft{Type: TypeCustom, Body: Custom{CustomType: LeafMove}}); err != nil {
		t.Fatal(err)
	}
	say("other two")
	say("other three")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	recorded, err := Read(s.File())
	if err != nil {
		t.Fatal(err)
	}
	p, v := NewPlayback(recorded), new(View)
	defer p.Close()
	for i := 0; p.Next() != nil; i++ {
		if now := at(p.Session(), v); now != was[i] {
			t.Errorf("before entry %d: %s, but it was %s", i, now, was[i])
		}
		if i == 1 && (p.Session().Entry(second.ID) != nil || len(p.Session().Path(second.ID)) > 0) {
			t.Error("an entry is found before it was there")
		}
		p.Add()
	}
	if got, want := at(recorded, v), at(s, new(View)); got != want {
		t.Errorf("at the end: %s, but it was %s", got, want)
	}
}
