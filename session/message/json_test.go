package message

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pi/session/rawjson"
)

func written(t testing.TB, m *Message) string {
	t.Helper()
	b, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func decoded(t testing.TB, text string) *Message {
	t.Helper()
	m := new(Message)
	if err := json.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMessagesAreWrittenInTheOrderOfTheFile(t *testing.T) {
	zero, usage := 0, &Usage{Input: 1, Cost: Cost{Total: 0.5}}
	call := Block{Type: BlockToolCall, ID: "c", Name: "n", Arguments: json.RawMessage(`{ "a": 1 }`)}
	for _, c := range []struct {
		m    Message
		want string
	}{
		{Message{Role: RoleUser, Content: []Block{TextBlock("<a>")}, Plain: true, Timestamp: 1}, `{"role":"user","content":"<a>","timestamp":1}`},
		{Message{Role: RoleUser}, `{"role":"user","content":[],"timestamp":0}`},
		{Message{Role: RoleUser, Plain: true, Content: []Block{TextBlock("a"), TextBlock("b")}}, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"timestamp":0}`},
		{Message{Role: RoleAssistant, Content: []Block{{Type: BlockThinking, Text: "t", Signature: "s", Redacted: true}, call}, API: "a", Provider: "p", Model: "m", Usage: usage, StopReason: StopError, ErrorMessage: "e"},
			`{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"s","redacted":true},{"type":"toolCall","id":"c","name":"n","arguments":{"a":1}}],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}},"stopReason":"error","errorMessage":"e","timestamp":0}`},
		{Message{Role: RoleToolResult, ToolCallID: "c", ToolName: "n", Content: []Block{{Type: BlockImage, Data: "d", MimeType: "m"}}, Details: json.RawMessage("{\n}"), IsError: true},
			`{"role":"toolResult","toolCallId":"c","toolName":"n","content":[{"type":"image","data":"d","mimeType":"m"}],"details":{},"isError":true,"timestamp":0}`},
		{Message{Role: RoleBashExecution, Command: "c", Output: "o", ExitCode: &zero, FullOutputPath: "p", ExcludeFromContext: true},
			`{"role":"bashExecution","command":"c","output":"o","exitCode":0,"cancelled":false,"truncated":false,"fullOutputPath":"p","excludeFromContext":true,"timestamp":0}`},
		{Message{Role: RoleCustom, CustomType: "h", Content: []Block{TextBlock("x")}, Plain: true, Display: true}, `{"role":"custom","customType":"h","content":"x","display":true,"timestamp":0}`},
		{Message{Role: RoleBranchSummary, Summary: "s", FromID: "f"}, `{"role":"branchSummary","summary":"s","fromId":"f","timestamp":0}`},
		{Message{Role: RoleCompactionSummary, Summary: "s", TokensBefore: 3}, `{"role":"compactionSummary","summary":"s","tokensBefore":3,"timestamp":0}`},
	} {
		if got := written(t, &c.m); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.m.Role, got, c.want)
		}
	}
}

func TestChangedCloneKeepsEverythingElse(t *testing.T) {
	text := `{"x":1,"role":"assistant","content":[{"type":"text","text":"a","new":[1]},{"type":"odd","k":0}],"usage":{"input":1,"odd":2.0},"stopReason":"stop","timestamp":1.0,"y":{"z":1e2}}`
	for _, c := range []struct {
		name   string
		change func(*Message)
		from   string
		to     string
	}{
		{"nothing", func(m *Message) {}, "", ""},
		{"text of a block", func(m *Message) { m.Content[0].Text = "b" }, `"text":"a"`, `"text":"b"`},
		{"a block less", func(m *Message) { m.Content = m.Content[1:] }, `{"type":"text","text":"a","new":[1]},`, ``},
		{"a block more", func(m *Message) { m.Content = append(m.Content, TextBlock("c")) }, `"k":0}`, `"k":0},{"type":"text","text":"c"}`},
		{"time", func(m *Message) { m.Timestamp = 2 }, `"timestamp":1.0`, `"timestamp":2`},
		{"new field", func(m *Message) { m.ErrorMessage = "e" }, `"z":1e2}`, `"z":1e2},"errorMessage":"e"`},
	} {
		m := decoded(t, text).Clone()
		c.change(m)
		got, want := written(t, m), strings.Replace(text, c.from, c.to, 1)
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, want)
		}
		if !bytes.Equal([]byte(written(t, decoded(t, want).Clone())), []byte(want)) {
			t.Errorf("%s: an untouched clone differs from %s", c.name, want)
		}
	}
}

func TestFieldsOfTheWrongTypeNeverFailALoad(t *testing.T) {
	m := decoded(t, `{"role":"assistant","content":{"a":1},"usage":[],"timestamp":"x","stopReason":5,"model":null,"exitCode":"1"}`)
	if m.Role != RoleAssistant || m.Content != nil || m.Usage != nil || m.Timestamp != 0 || m.StopReason != "" || m.ExitCode != nil {
		t.Errorf("%+v", m)
	}
	for _, text := range []string{`[]`, `1`, `"x"`, `null`} {
		if err := new(Message).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s was taken for a message", text)
		}
	}
}

func FuzzMessageComesBackAsItWas(f *testing.F) {
	for _, m := range []string{
		`{"role":"user","content":"plain é <b> & \u2028","timestamp":1735787045006,"futureField":[1,2.50,1e3]}`,
		`{"role":"user","content":[{"type":"text","text":"blocks"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"audio","data":"x"}],"timestamp":2}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"c2ln","extra":1},{"type":"thinking","thinking":"","thinkingSignature":"b3BhcXVl","redacted":true},{"type":"text","text":"hi","textSignature":"s"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a","n":12345678901234567890},"thoughtSignature":"t"}],"model":"m","responseId":"r","usage":{"input":1,"cacheWrite1h":5,"cost":{"total":0.30000000000000004}},"stopReason":"newReason","timestamp":3}`,
		`{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"out"}],"details":{"big":12345678901234567890},"isError":false,"timestamp":4}`,
		`{"role":"bashExecution","command":"ls","output":"a\n","exitCode":0,"cancelled":false,"truncated":true,"fullOutputPath":"/t/o","excludeFromContext":true,"timestamp":5}`,
		`{"role":"system","content":"kept","tools":[],"timestamp":6}`,
	} {
		f.Add([]byte(m), "x")
	}
	f.Add([]byte(`{"role":"user","content":[{"type":"text","text":1,"text":"a"}],"role":"x","":null,"timestamp":1e400}`), "\xff")
	f.Fuzz(func(t *testing.T, text []byte, edit string) {
		m := new(Message)
		if m.UnmarshalJSON(text) != nil {
			return
		}
		same := written(t, m)
		var compact bytes.Buffer
		if json.Compact(&compact, text); compact.String() != same {
			t.Fatalf("untouched: %s became %s", &compact, same)
		}
		c := m.Clone()
		c.ErrorMessage, c.Content = "e", append(c.Content, TextBlock(edit))
		changed := written(t, c)
		if !json.Valid([]byte(changed)) || strings.Contains(changed, "\n") {
			t.Fatalf("changed: %s", changed)
		}
		back := decoded(t, changed)
		if back.Role != c.Role || len(back.Content) > len(c.Content) {
			t.Errorf("%s has other contents than were written", changed)
		}
		if again := written(t, decoded(t, changed).Clone()); again != changed && !twice([]byte(changed)) {
			t.Errorf("%s is not stable: %s", changed, again)
		}
	})
}

// twice reports whether a key stands twice in an object: of those only the
// first survives a change.
func twice(obj []byte) bool {
	seen := map[string]bool{}
	for k := range rawjson.Fields(obj) {
		if seen[string(k)] {
			return true
		}
		seen[string(k)] = true
	}
	return false
}
