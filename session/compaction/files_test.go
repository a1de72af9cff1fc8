package compaction

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pi/session/message"
	"pi/session/rawjson"
)

// using is an answer with calls: "read:a.go edit:b.go".
func using(calls string) *message.Message {
	m := &message.Message{Role: message.RoleAssistant, StopReason: message.StopToolUse}
	for i, c := range strings.Fields(calls) {
		name, path, _ := strings.Cut(c, ":")
		arguments, _ := rawjson.Encode(map[string]string{"path": path})
		m.Content = append(m.Content, message.Block{Type: message.BlockToolCall, ID: fmt.Sprint(i), Name: name, Arguments: arguments})
	}
	return m
}

func TestFilesAreThoseOfTheCalls(t *testing.T) {
	odd := &message.Message{Role: message.RoleAssistant, Content: []message.Block{
		{Type: message.BlockToolCall, Name: "read", Arguments: json.RawMessage(`{"path":7}`)},
		{Type: message.BlockToolCall, Name: "read", Arguments: json.RawMessage(`{"pa`)},
		{Type: message.BlockToolCall, Name: "read"},
		{Type: message.BlockToolCall, Name: "bash", Arguments: json.RawMessage(`{"path":"no.go"}`)},
		message.TextBlock(`{"path":"no.go"}`),
	}}
	f := FilesOf(items(using("read:b.go read:a.go edit:e.go"), odd, using("write:w.go edit:b.go read:b.go"), using("edit:e.go write:e.go")))
	if got, want := fmt.Sprint(f), "{[b.go a.go] [w.go e.go] [e.go b.go]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(f.Details()), `{"readFiles":["a.go"],"modifiedFiles":["w.go","e.go","b.go"]}`; got != want {
		t.Errorf("details %s, want %s", got, want)
	}
	if got, want := string(FileOps{}.Details()), `{"readFiles":[],"modifiedFiles":[]}`; got != want {
		t.Errorf("details of none %s, want %s", got, want)
	}
}

func TestDetailsAreReadWhoeverWroteThem(t *testing.T) {
	for _, c := range []struct{ details, read, edited string }{
		{`{"readFiles":["a","b"],"modifiedFiles":["c"]}`, "[a b]", "[c]"},
		{`{"modifiedFiles":["c","c"],"mine":{"readFiles":["x"]}}`, "[]", "[c]"},
		{`{"readFiles":"a","modifiedFiles":{"b":"c"}}`, "[]", "[]"},
		{`{"readFiles":[1,null,"a",["b"]]}`, "[a]", "[]"},
		{`["a"]`, "[]", "[]"},
		{`null`, "[]", "[]"},
		{``, "[]", "[]"},
	} {
		f := ParseDetails(json.RawMessage(c.details))
		if fmt.Sprint(f.Read) != c.read || fmt.Sprint(f.Edited) != c.edited || f.Written != nil {
			t.Errorf("%s: %v", c.details, f)
		}
	}
}

func TestFilesAreCarriedOverFromEarlierSummaries(t *testing.T) {
	s := built(t, "u:400 a:400 C u:400 s:400 u:400")
	if _, err := s.AppendMessage(using("read:new.go edit:both.go read:last.go")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("then?")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendMessage(using("read:kept.go")); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(s.Branch(), s.Context(), 0, Limits{Keep: 5})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(p.Files.Details()), `{"readFiles":["old.go","s.go","last.go"],"modifiedFiles":["new.go","both.go"]}`; got != want {
		t.Errorf("%s\n got %s\nwant %s", planned(p, err), got, want)
	}
}
