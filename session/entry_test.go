package session

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// loaded is the message of a session whose only entry holds it.
func loaded(t *testing.T, message string) *message.Message {
	t.Helper()
	s := readWith(t, write(t, headerLine,
		`{"type":"message","id":"m1","parentId":null,"timestamp":"2025-01-02T03:04:05.006Z","message":`+message+`}`), 0)
	return s.Entries()[0].Message()
}

func TestALoadedMessageHasTheTimeThatItWasWrittenWith(t *testing.T) {
	for _, message := range []string{
		`{"role":"user","content":"a","timestamp":1735787045006}`,
		`{"role":"assistant","content":[],"timestamp":1735787045006}`,
		`{"role":"toolResult","toolCallId":"c","toolName":"t","content":[],"isError":false,"timestamp":1735787045006}`,
		`{"role":"bashExecution","command":"ls","output":"","cancelled":false,"truncated":false,"timestamp":1735787045006}`,
	} {
		if at := loaded(t, message).Timestamp; at != 1735787045006 {
			t.Errorf("%s has the time %d", message, at)
		}
	}
}

func TestACommandWithoutExitStatusHasNoneInTheFile(t *testing.T) {
	const command = `{"role":"bashExecution","command":"ls","output":"a","cancelled":true,"truncated":false,"timestamp":5}`
	m := loaded(t, command)
	if m.ExitCode != nil {
		t.Errorf("it is read as %d", *m.ExitCode)
	}
	written, err := json.Marshal(&message.Message{Role: message.RoleBashExecution, Command: "ls", Output: "a", Cancelled: true, Timestamp: 5})
	if err != nil || string(written) != command {
		t.Errorf("%s, %v; want %s", written, err, command)
	}
	zero := 0
	written, err = json.Marshal(&message.Message{Role: message.RoleBashExecution, Command: "ls", Output: "a", ExitCode: &zero, Timestamp: 5})
	if err != nil || !strings.Contains(string(written), `"exitCode":0`) {
		t.Errorf("a status of 0 is written as %s, %v", written, err)
	}
}

func TestALineOfAnOldVersionThatCannotBeTakenApartStaysAsItIs(t *testing.T) {
	for _, line := range []string{`{"type":"message","message":{"role":"user"`, `{"type":"compaction","firstKeptEntryIndex":1`, `[]`} {
		tr := newTree()
		e := &Entry{ID: "1", Type: TypeMessage, raw: []byte(line)}
		if got := tr.upgraded(e, 1); string(got) != line {
			t.Errorf("%s became %s", line, got)
		}
	}
	broken := `{"type":"message","id":"1","parentId":null,"timestamp":"t","message":{"role":"hookMessage","content":,}}`
	s := read(t, write(t, strings.Replace(headerLine, `"version":3`, `"version":2`, 1), broken))
	if got := string(s.Entries()[0].Raw()); got != broken {
		t.Errorf("%s became %s", broken, got)
	}
}

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

// decodedBodies counts the entries whose bodies somebody looked at. The session is
// of no use afterwards.
func decodedBodies(s *Session) (n int) {
	for _, e := range s.Entries() {
		looked := true
		e.once.Do(func() { looked = false })
		if looked {
			n++
		}
	}
	return n
}

// broken is a line whose head is whole and whose body is not.
func broken(word string) string {
	l := line(word)
	return l[:strings.LastIndex(l, `"content"`)] + `"content":}}`
}

func TestOpeningDecodesNoBody(t *testing.T) {
	for _, buffer := range []int{0, 100} {
		s := readWith(t, write(t, story("u1 a2 u3 a4 c5:3 u6 a7")...), buffer)
		s.Branch()
		s.Leaf()
		s.UnknownTypes(nil)
		if n := decodedBodies(s); n != 0 {
			t.Errorf("%d bodies were decoded", n)
		}
	}
}

func TestTheContextDecodesWhatItHolds(t *testing.T) {
	for _, c := range []struct {
		name, words, context string
		decoded              int
	}{
		{"a branch", "u1 a2 u3^1 a4", "1 3 4", 3},
		{"what a compaction keeps, and itself", "u1 a2 u3 a4 c5:3 u6 a7", "summary5 3 4 6 7", 5},
		{"a compaction that keeps nothing", "u1 a2 u3 a4 c5:5 u6", "summary5 6", 2},
		{"the last compaction", "u1 c2:1 u3 u4 c5:4 u6", "summary5 4 6", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readWith(t, write(t, story(c.words)...), 100)
			if got := gist(s.Context()); got != c.context {
				t.Errorf("context %q, want %q", got, c.context)
			}
			if n := decodedBodies(s); n != c.decoded {
				t.Errorf("%d bodies were decoded, want %d", n, c.decoded)
			}
		})
	}
}

func TestDamageThatNobodyReadsIsNotReported(t *testing.T) {
	for _, c := range []struct {
		name     string
		lines    []string
		context  string
		problems int
	}{
		{"on another branch", []string{line("u1"), broken("u2"), line("u3^1")}, "1 3", 0},
		{"before a compaction", []string{line("u1"), broken("u2"), line("u3"), line("c4:3"), line("u5")}, "summary4 3 5", 0},
		{"on the branch", []string{line("u1"), broken("u2"), line("u3")}, "1 3", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readWith(t, write(t, append([]string{headerLine}, c.lines...)...), 100)
			if got := gist(s.Context()); got != c.context {
				t.Errorf("context %q, want %q", got, c.context)
			}
			if got := s.Problems(); len(got) != c.problems {
				t.Errorf("problems %q", got)
			}
		})
	}
}

func TestALargeSessionIsReadFromItsLastCompactionOn(t *testing.T) {
	lines := []string{headerLine}
	for i := range 2000 {
		lines = append(lines, line(fmt.Sprintf("u%d", i+1)))
	}
	lines = append(lines, line("c2001:1999"), line("u2002"))
	s := readWith(t, write(t, lines...), 4096)
	if got := gist(s.Context()); got != "summary2001 1999 2000 2002" {
		t.Errorf("context %q", got)
	}
	if n := decodedBodies(s); n != 4 {
		t.Errorf("%d bodies were decoded", n)
	}
}

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
