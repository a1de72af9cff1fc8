package session

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pi/session/message"
)

// everyEntry holds each entry type, in bytes as other programs write them, with
// fields that nobody knows.
var everyEntry = []string{
	headerLine,
	`{"type":"message","id":"m1","parentId":null,"timestamp":"2025-01-02T03:04:05.006Z","message":{"role":"user","content":"plain é <b> & \u2028","timestamp":1735787045006,"futureField":[1,2.50,1e3]}}`,
	`{"type":"message","id":"m2","parentId":"m1","timestamp":"2025-01-02T03:04:05.006Z","message":{"role":"user","content":[{"type":"text","text":"blocks"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"audio","data":"x"}],"timestamp":2}}`,
	`{"type":"message","id":"m3","parentId":"m2","timestamp":"2025-01-02T03:04:05.006Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"c2ln","extra":1},{"type":"thinking","thinking":"","thinkingSignature":"b3BhcXVl","redacted":true},{"type":"text","text":"hi","textSignature":"s"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a","n":12345678901234567890},"thoughtSignature":"t"}],"api":"anthropic-messages","provider":"anthropic","model":"m","responseId":"r","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cacheWrite1h":5,"totalTokens":10,"cost":{"input":0.1,"output":0.2,"cacheRead":0,"cacheWrite":0,"total":0.30000000000000004}},"stopReason":"newReason","timestamp":3}}`,
	`{"type":"message","id":"m4","parentId":"m3","timestamp":"2025-01-02T03:04:05.006Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"out"}],"details":{"big":12345678901234567890},"isError":false,"timestamp":4}}`,
	`{"type":"message","id":"m5","parentId":"m4","timestamp":"2025-01-02T03:04:05.006Z","message":{"role":"bashExecution","command":"ls","output":"a\n","exitCode":0,"cancelled":false,"truncated":true,"fullOutputPath":"/t/o","excludeFromContext":true,"timestamp":5}}`,
	`{"type":"message","id":"m6","parentId":"m5","timestamp":"2025-01-02T03:04:05.006Z","message":{"role":"system","content":"kept","tools":[],"timestamp":6}}`,
	`{"type":"thinking_level_change","id":"t1","parentId":"m6","timestamp":"2025-01-02T03:04:05.006Z","thinkingLevel":"high"}`,
	`{"type":"model_change","id":"o1","parentId":"t1","timestamp":"2025-01-02T03:04:05.006Z","provider":"p","modelId":"m"}`,
	`{"type":"custom","id":"x1","parentId":"o1","timestamp":"2025-01-02T03:04:05.006Z","customType":"h","data":{"n":1.0}}`,
	`{"type":"custom_message","id":"x2","parentId":"x1","timestamp":"2025-01-02T03:04:05.006Z","customType":"h","content":"note","display":false,"details":{"a":1}}`,
	`{"type":"label","id":"l1","parentId":"x2","timestamp":"2025-01-02T03:04:05.006Z","targetId":"m1","label":"start"}`,
	`{"type":"session_info","id":"i1","parentId":"l1","timestamp":"2025-01-02T03:04:05.006Z","name":"my session"}`,
	`{"type":"usage","id":"u1","parentId":"i1","timestamp":"2025-01-02T03:04:05.006Z","kind":"hook","provider":"p","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"note":"n"}`,
	`{"type":"branch_summary","id":"b1","parentId":"u1","timestamp":"2025-01-02T03:04:05.006Z","fromId":"root","summary":"was","fromHook":true}`,
	`{"type":"context_edit","id":"e1","parentId":"b1","timestamp":"2025-01-02T03:04:05.006Z","targetId":"m2","replacement":{"content":"short"}}`,
	`{"type":"stack_pop","deep":{"type":"message","id":"no"},"id":"s1","parentId":"e1","timestamp":"2025-01-02T03:04:05.006Z"}`,
	`{"type":"compaction","id":"c1","parentId":"s1","timestamp":"2025-01-02T03:04:05.006Z","summary":"sum","firstKeptEntryId":"m2","tokensBefore":7,"details":{},"fromHook":false,"systemMessage":{"role":"system"}}`,
}

func TestEveryLineKeepsItsBytes(t *testing.T) {
	path := write(t, everyEntry...)
	before, _ := os.ReadFile(path)
	for _, buffer := range []int{0, 100} {
		s := readWith(t, path, buffer)
		lines := []string{string(s.Header().raw)}
		for _, e := range s.Entries() {
			lines = append(lines, string(e.Raw()))
			if m := e.Message(); e.Type == TypeMessage && !strings.HasSuffix(string(e.Raw()), `"message":`+encoded(t, m)+"}") {
				t.Errorf("message of %s is written as %s", e.ID, encoded(t, m))
			}
		}
		if got := strings.Join(lines, "\n") + "\n"; got != string(before) {
			t.Errorf("lines changed:\n%s", got)
		}
		if p := s.Problems(); p != nil {
			t.Errorf("problems: %q", p)
		}
	}
}

func TestAppendingLeavesWhatIsThere(t *testing.T) {
	path := write(t, everyEntry...)
	before, _ := os.ReadFile(path)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.AppendMessage(user("new"))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	after, _ := os.ReadFile(path)
	want := `{"type":"message","id":"` + e.ID + `","parentId":"c1","timestamp":"` + e.Timestamp +
		`","message":{"role":"user","content":[{"type":"text","text":"new"}],"timestamp":1}}` + "\n"
	if string(after) != string(before)+want {
		t.Errorf("appended %q, want %q", after[len(before):], want)
	}
}

func encoded(t testing.TB, m *message.Message) string {
	t.Helper()
	b, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBrokenArgumentsNeverBreakALine(t *testing.T) {
	s := New(Options{Dir: t.TempDir(), Cwd: "/w"})
	m := &message.Message{Role: message.RoleAssistant, Model: "m", Content: []message.Block{{Type: message.BlockToolCall, ID: "c", Arguments: json.RawMessage("{\"a\":")}}}
	if _, err := s.AppendMessage(m); err != nil {
		t.Fatal(err)
	}
	s.Close()
	r := read(t, s.File())
	if got := string(afterBegin(ForModel(r.Context()))[0].Content[0].Arguments); got != "{}" || r.Problems() != nil {
		t.Errorf("arguments %s, problems %q", got, r.Problems())
	}
}

func TestBodiesDecodeAndEncode(t *testing.T) {
	s := read(t, write(t, everyEntry...))
	if c, err := Body[Compaction](s.Entry("c1")); err != nil || c.Summary != "sum" || c.FirstKeptEntryID != "m2" || string(c.SystemMessage) != `{"role":"system"}` {
		t.Errorf("compaction %+v, %v", c, err)
	}
	if c, err := Body[CustomMessage](s.Entry("x2")); err != nil || c.CustomType != "h" || !c.Plain || c.Content[0].Text != "note" {
		t.Errorf("custom message %+v, %v", c, err)
	}
	if c, err := Body[UsageEntry](s.Entry("u1")); err != nil || c.Usage.TotalTokens != 2 {
		t.Errorf("usage %+v, %v", c, err)
	}
	w := New(Options{})
	for _, c := range []struct {
		typ  string
		body any
		want string
	}{
		{TypeContextEdit, ContextEdit{TargetID: "x"}, `"targetId":"x","replacement":null}`},
		{TypeContextEdit, ContextEdit{TargetID: "x", Replacement: &Replacement{Plain: true, Content: []message.Block{message.TextBlock("y")}}}, `"targetId":"x","replacement":{"content":"y"}}`},
		{TypeCustomMessage, CustomMessage{CustomType: "h", Display: true, Content: []message.Block{message.TextBlock("y")}}, `"customType":"h","content":[{"type":"text","text":"y"}],"display":true}`},
		{TypeLabel, Label{TargetID: "x"}, `"targetId":"x"}`},
		{"own", map[string]any{"id": "mine", "type": "message", "a": json.RawMessage("12345678901234567890"), "parentId": 1}, `"a":12345678901234567890}`},
		{"own", nil, `Z"}`},
	} {
		e, err := w.Append(c.typ, c.body)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(e.Raw()), c.want) || !strings.HasPrefix(string(e.Raw()), `{"type":"`+c.typ+`","id":"`+e.ID+`","parentId":`) {
			t.Errorf("%s: %s", c.typ, e.Raw())
		}
	}
	for _, bad := range []any{1, "x", []int{1}, func() {}} {
		if _, err := w.Append("own", bad); err == nil {
			t.Errorf("%T was accepted as fields", bad)
		}
	}
}
