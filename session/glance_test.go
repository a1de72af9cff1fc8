package session

import (
	"testing"

	"pi/session/message"
)

func TestAGlanceSaysWhatTheContextHolds(t *testing.T) {
	for _, words := range []string{"", "u1", "a1 u2 a3", "u1 a2 u3 a4 c5:3 u6 a7", "u1 a2 u3 a4 c5:5", "u1 a2 u3 a4 c5:5 a6", "u1 c2:1 u3 u4 c5:4 u6"} {
		lines := []string{headerLine}
		if words != "" {
			lines = story(words)
		}
		s := readWith(t, write(t, lines...), 100)
		want, prompt := 0, ""
		for _, item := range s.Context() {
			want++
			if m := item.Message; prompt == "" && m.Role == message.RoleUser {
				prompt = m.Text()
			}
		}
		if n, text := s.Glance(); n != want || text != prompt {
			t.Errorf("%q: %d messages, %q; the context has %d, %q", words, n, text, want, prompt)
		}
	}
}

func TestAGlanceLeavesOutWhatAnEditTookAway(t *testing.T) {
	s := newSession(Options{})
	for _, text := range []string{"first", "second", "third"} {
		say(t, s, text)
	}
	path := s.Branch()
	for _, d := range []Draft{
		{TypeContextEdit, map[string]any{"targetId": path[0].ID, "replacement": nil}},
		{TypeContextEdit, map[string]any{"targetId": path[1].ID, "replacement": map[string]any{"content": "other"}}},
	} {
		if _, err := s.Append(d.Type, d.Body); err != nil {
			t.Fatal(err)
		}
	}
	if n, text := s.Glance(); n != 2 || text != "other" {
		t.Errorf("%d messages, %q", n, text)
	}
}

func TestAGlanceDecodesNoMoreThanThePrompt(t *testing.T) {
	s := readWith(t, write(t, story("a1 u2 a3 u4 a5 u6 a7 u8")...), 100)
	if n, _ := s.Glance(); n != 8 {
		t.Errorf("%d messages", n)
	}
	if n := decodedBodies(s); n != 2 {
		t.Errorf("%d bodies were decoded", n)
	}
}
