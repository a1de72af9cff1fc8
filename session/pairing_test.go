package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pi/session/message"
)

// recorded is a session in which everything happens that upsets a conversation:
// parallel and repeated calls, prompts between results, answers that failed or
// were cut off, edits, compactions, branches.
func recorded(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recorded.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// unpaired says why no API would take a conversation, "" if one would.
func unpaired(ms []*message.Message) string {
	if len(ms) > 0 && ms[0].Role != message.RoleUser {
		return "it begins with " + string(ms[0].Role)
	}
	for i := 0; i < len(ms); i++ {
		m := ms[i]
		if len(m.Content) == 0 && m.Role != message.RoleToolResult {
			return fmt.Sprintf("message %d is empty", i)
		}
		switch m.Role {
		case message.RoleUser:
		case message.RoleAssistant:
			for _, c := range m.ToolCalls() {
				i++
				if i == len(ms) || ms[i].Role != message.RoleToolResult || ms[i].ToolCallID != c.ID {
					return fmt.Sprintf("message %d does not answer call %s", i, c.ID)
				}
			}
		default:
			return fmt.Sprintf("message %d is of role %s", i, m.Role)
		}
	}
	return ""
}

func TestUnpairedFindsWhatIsWrong(t *testing.T) {
	call := &message.Message{Role: message.RoleAssistant, Content: []message.Block{{Type: message.BlockToolCall, ID: "c"}}}
	result := &message.Message{Role: message.RoleToolResult, ToolCallID: "c"}
	for _, ms := range [][]*message.Message{{call, result}, {user("q"), call}, {user("q"), call, user("n"), result}, {user("q"), result},
		{user("q"), call, result, result}, {user("q"), {Role: message.RoleAssistant}}, {user("q"), {Role: message.RoleCustom, Content: []message.Block{message.TextBlock("x")}}}} {
		if unpaired(ms) == "" {
			t.Errorf("%s was taken", sent(ms))
		}
	}
	if why := unpaired([]*message.Message{user("q"), call, result, user("n")}); why != "" {
		t.Error(why)
	}
}

// resume opens a file, says something, and returns what is sent.
func resume(t *testing.T, path string) []*message.Message {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendMessage(user("resumed")); err != nil {
		t.Fatal(err)
	}
	ms := ForModel(s.Context())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.closeBodies()
	if again := ForModel(read(t, path).Context()); sent(again) != sent(ms) {
		t.Errorf("sent %s\nand when opened again %s", sent(ms), sent(again))
	}
	return ms
}

func TestEveryPrefixOfASessionResumes(t *testing.T) {
	text := recorded(t)
	var cuts []int
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	at := len(lines[0])
	for i, l := range lines[1:] {
		cuts = append(cuts, at)
		if i == len(lines)-2 {
			for b := range l {
				cuts = append(cuts, at+b+1)
			}
		}
		at += len(l)
	}
	cuts = append(cuts, len(text))
	path := filepath.Join(t.TempDir(), "s.jsonl")
	for _, cut := range cuts {
		if err := os.WriteFile(path, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		ms := resume(t, path)
		if why := unpaired(ms); why != "" {
			t.Errorf("the first %d bytes: %s: %s", cut, why, sent(ms))
		}
		if last := ms[len(ms)-1]; last.Text() != "resumed" {
			t.Errorf("the first %d bytes: the prompt is not the last: %s", cut, sent(ms))
		}
	}
}

func TestEveryEntryOfASessionIsAPlaceToGoOnFrom(t *testing.T) {
	s := read(t, writeRaw(t, string(recorded(t))))
	for _, e := range s.Entries() {
		items := ContextOf(s.Path(e.ID))
		for n := range len(items) + 1 {
			if why := unpaired(ForModel(items[n:])); why != "" {
				t.Errorf("entry %s without %d messages: %s", e.ID, n, why)
			}
			if why := unpaired(ForModel(items[:n])); why != "" {
				t.Errorf("entry %s, %d messages: %s", e.ID, n, why)
			}
		}
	}
}
