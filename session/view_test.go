package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/session/message"
)

// FuzzViewIsTheContext lets a session grow, edits, compacts and moves it as the
// bytes say, and holds a View that is asked now and then against what is built
// from nothing. What the View gave before must not have changed.
func FuzzViewIsTheContext(f *testing.F) {
	for _, seed := range []string{"uavuavuav", "uavtvrvuv", "uaucvuaveva", "uaumvuavlvuv", "uavmvav", "uttrrvuevcvxvhv", "utvuvrvav"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 200 {
			return
		}
		s := New(Options{})
		var v View
		var given []kept
		for i, op := range ops {
			grow(t, s, op, i)
			if op == 'v' {
				given = append(given, looked(t, &v, s))
			}
		}
		given = append(given, looked(t, &v, s))
		for i, g := range given {
			if now := told(g.items, g.sent); now != g.told {
				t.Errorf("what look %d gave has become\n%s\nfrom\n%s", i, now, g.told)
			}
		}
	})
}

// grow does one thing to a session: a message of one of the roles (t: an answer
// with two calls, r: a result of one), an edit, a compaction, a move, a label.
func grow(t *testing.T, s *Session, op byte, n int) {
	branch := s.Branch()
	target := ""
	if len(branch) > 0 {
		target = branch[(n*7)%len(branch)].ID
	}
	text := []message.Block{message.TextBlock(fmt.Sprint("text ", n))}
	var err error
	switch op {
	case 'u':
		_, err = s.AppendMessage(&message.Message{Role: message.RoleUser, Content: text})
	case 'a', 'x':
		stop := map[byte]message.StopReason{'a': message.StopEnd, 'x': message.StopError}[op]
		_, err = s.AppendMessage(&message.Message{Role: message.RoleAssistant, Content: text, StopReason: stop})
	case 't':
		call := func(id string) message.Block {
			return message.Block{Type: message.BlockToolCall, ID: id, Name: "look", Arguments: json.RawMessage(`{}`)}
		}
		_, err = s.AppendMessage(&message.Message{Role: message.RoleAssistant, Content: []message.Block{call("one"), call("two")}, StopReason: message.StopToolUse})
	case 'r':
		_, err = s.AppendMessage(&message.Message{Role: message.RoleToolResult, ToolCallID: []string{"one", "two"}[n%2], Content: text})
	case 'h':
		_, err = s.Append(TypeCustomMessage, CustomMessage{CustomType: "h", Content: text})
	case 'l':
		_, err = s.Append(TypeLabel, Label{TargetID: target, Label: "here"})
	case 'e':
		_, err = s.Append(TypeContextEdit, ContextEdit{TargetID: target, Replacement: []*Replacement{nil, {Content: text}}[n%2]})
	case 'c':
		_, err = s.Append(TypeCompaction, Compaction{Summary: fmt.Sprint("summary ", n), FirstKeptEntryID: target})
	case 'm':
		if target != "" {
			_, err = moveLeaf(s, target)
		}
	}
	if err != nil {
		t.Fatalf("step %d, %c: %v", n, op, err)
	}
}

// kept is what a View gave, and what it said then.
type kept struct {
	items []Item
	sent  []*message.Message
	told  string
}

func looked(t *testing.T, v *View, s *Session) kept {
	items := v.Context(s)
	k := kept{items, v.ForModel(items), ""}
	k.told = told(k.items, k.sent)
	fresh := s.Context()
	if want := told(fresh, s.ForModel(fresh)); k.told != want {
		t.Fatalf("the view says\n%s\nthe session\n%s", k.told, want)
	}
	if !slices.Equal(items, fresh) && !hasEdits(s) {
		t.Fatal("the view has other messages or places than the session")
	}
	return k
}

// hasEdits: an edited message is made anew each time.
func hasEdits(s *Session) bool { return len(EditsOn(s.Branch())) > 0 }

func told(items []Item, sent []*message.Message) string {
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "%d %s %s%s\n", it.Index, it.Message.Role, it.Message.Text(), it.Message.Summary)
	}
	for _, m := range sent {
		fmt.Fprintf(&b, "> %s %s %s\n", m.Role, m.ToolCallID, m.Text())
	}
	return b.String()
}
