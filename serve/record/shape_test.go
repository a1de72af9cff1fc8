package record

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

func TestMessagesHaveTheFieldsOfTheirRole(t *testing.T) {
	code := 3
	for _, tt := range []struct {
		name string
		m    *message.Message
		want string
	}{
		{"user", user("<a>&\u2028"), `{"role":"user","content":[{"type":"text","text":"<a>&\u2028"}],"timestamp":1}`},
		{"a bare string becomes a list", message.Decode([]byte(`{"role":"user","content":"x","timestamp":2,"more":1}`)),
			`{"role":"user","content":[{"type":"text","text":"x"}],"timestamp":2,"more":1}`},
		{"an image", &message.Message{Role: message.RoleUser, Content: []message.Block{{Type: message.BlockImage, Data: "aGk=", MimeType: "image/png"}}},
			`{"role":"user","content":[{"type":"image","data":"aGk=","mimeType":"image/png"}],"timestamp":0}`},
		{"assistant", &message.Message{Role: message.RoleAssistant, API: "a", Provider: "p", Model: "m", StopReason: message.StopError, ErrorMessage: "bad", Timestamp: 3,
			Content: []message.Block{{Type: message.BlockThinking, Text: "hm", Signature: "s"}, message.TextBlock("yes"), toolCall("c1")},
			Usage:   &message.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, TotalTokens: 10, Cost: message.Cost{Input: 0.5, Total: 0.5}}},
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"text","text":"yes"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"x"}}],` +
				`"api":"a","provider":"p","model":"m","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"input":0.5,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}},"stopReason":"error","errorMessage":"bad","timestamp":3}`},
		{"without usage", said(message.StopEnd, ""), `{"role":"assistant","content":[],"api":"x","provider":"p","model":"m","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":7}`},
		{"toolResult", &message.Message{Role: message.RoleToolResult, ToolCallID: "c", ToolName: "n", Details: json.RawMessage(`{"oldText":"<\ud800"}`), IsError: true},
			`{"role":"toolResult","toolCallId":"c","toolName":"n","content":[],"details":{"oldText":"<\ufffd"},"isError":true,"timestamp":0}`},
		{"bashExecution", &message.Message{Role: message.RoleBashExecution, Command: "c", Output: "o", ExitCode: &code, FullOutputPath: "/f", ExcludeFromContext: true},
			`{"role":"bashExecution","command":"c","output":"o","exitCode":3,"cancelled":false,"truncated":false,"fullOutputPath":"/f","excludeFromContext":true,"timestamp":0}`},
		{"custom", custom("x"), `{"role":"custom","customType":"note","content":"x","display":false,"timestamp":0}`},
		{"branchSummary", &message.Message{Role: message.RoleBranchSummary, Summary: "s"}, `{"role":"branchSummary","summary":"s","fromId":null,"timestamp":0}`},
		{"compactionSummary", &message.Message{Role: message.RoleCompactionSummary, Summary: "s", TokensBefore: 9}, `{"role":"compactionSummary","summary":"s","tokensBefore":9,"timestamp":0}`},
	} {
		if got := string(Message(tt.m)); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestANumberThatJSONDoesNotHaveLosesNoMessage(t *testing.T) {
	m := said(message.StopEnd, "yes")
	m.Usage = &message.Usage{Cost: message.Cost{Total: math.NaN()}}
	if got := string(Message(m)); !strings.Contains(got, `"text":"yes"`) || !json.Valid([]byte(got)) {
		t.Error(got)
	}
	if got := encodeUsage(&message.Usage{Input: 3, Cost: message.Cost{Total: math.Inf(1)}}); !strings.HasPrefix(string(got), `{"input":3,`) {
		t.Errorf("%s", got)
	}
}

func TestAModelIsShownWithoutSecrets(t *testing.T) {
	m := &llm.Model{ID: "m", Provider: "p", API: "a", BaseURL: "https://me:token@host:8/v1?key=token#token", ContextWindow: 100, MaxTokens: 10, Reasoning: true,
		Headers: map[string]string{"Authorization": "token"}, Compat: map[string]any{"x": "token"}, Cost: &llm.Price{Input: 2.5, Output: -1}}
	want := `{"id":"m","name":"m","api":"a","provider":"p","baseUrl":"https://host:8/v1","reasoning":true,"input":["text"],` +
		`"cost":{"input":2.5,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":100,"maxTokens":10}`
	if got := string(Model(m)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	m.Name, m.Input, m.Cost, m.BaseURL = "M", []string{"text", "image"}, nil, "http://token@[bad"
	want = `{"id":"m","name":"M","api":"a","provider":"p","baseUrl":"","reasoning":true,"input":["text","image"],` +
		`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":100,"maxTokens":10}`
	if got := string(Model(m)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestACompactionIsShownAsItIsStored(t *testing.T) {
	stored := session.Compaction{Summary: "s", FirstKeptEntryID: "e1", TokensBefore: 90, Details: json.RawMessage(`{"readFiles":["a"]}`)}
	e, err := session.New(session.Options{}).Append(session.TypeCompaction, stored)
	if err != nil {
		t.Fatal(err)
	}
	done := &agent.Compacted{Entry: e, Before: 90, After: 20}
	usage := `"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},`
	want := `{"summary":"s","firstKeptEntryId":"e1","tokensBefore":90,"estimatedTokensAfter":20,` + usage + `"details":{"readFiles":["a"]}}`
	if got := string(Compaction(done)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	done.FromHook = true
	if got := string(Compaction(done)); got != strings.Replace(want, usage, "", 1) {
		t.Errorf("%s", got)
	}
	whole := string(compactionEnd(&agent.CompactionEnd{Reason: "manual", Done: done}).end())
	if whole != `{"type":"compaction_end","reason":"manual","result":`+string(Compaction(done))+`,"aborted":false,"willRetry":false}` {
		t.Errorf("%s", whole)
	}
}

func TestOtherRecords(t *testing.T) {
	header := session.Header{Version: 3, ID: "i", Timestamp: "t", Cwd: "/w"}
	forked := header
	forked.ParentSession = "/p"
	for want, got := range map[string]json.RawMessage{
		`{"type":"session","version":3,"id":"i","timestamp":"t","cwd":"/w","schema":1}`:                      Header(header),
		`{"type":"session","version":3,"id":"i","timestamp":"t","cwd":"/w","parentSession":"/p","schema":1}`: Header(forked),
		`{"type":"bash_execution_update","id":["x"],"delta":"\u001b[0m\n"}`:                                  BashUpdate(json.RawMessage(`["x"]`), "\x1b[0m\n"),
		`{"type":"bash_execution_update","delta":""}`:                                                        BashUpdate(nil, ""),
	} {
		if string(got) != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestAnEntryIsItsLine(t *testing.T) {
	s := session.New(session.Options{})
	e, err := s.Append("ours", map[string]string{"b": "<", "a": "\u2028"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"ours","id":"` + e.ID + `","parentId":null,"timestamp":"` + e.Timestamp + `","a":"\u2028","b":"<"}`
	if got := string(Entry(e)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestAnEntryWhoseLineIsGoneIsStillAnEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := `{"type":"session","version":3,"id":"i","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n" +
		`{"type":"ours","id":"aaaaaaaa","parentId":null,"timestamp":"t"}` + "\n" + `{"type":"ours","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"t"}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := session.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := s.Entries()
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"type":"ours","id":"aaaaaaaa","parentId":null,"timestamp":"t"}`, `{"type":"ours","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"t"}`} {
		if got := string(Entry(entries[i])); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// oneLine fails unless a record is what the package promises of all of them.
func oneLine(t *testing.T, record []byte) {
	t.Helper()
	if !json.Valid(record) || !utf8.Valid(record) || bytes.ContainsAny(record, "\n\r\u2028\u2029") {
		t.Errorf("%q", record)
	}
}

func FuzzForeignJSONStaysWhatItIs(f *testing.F) {
	for _, s := range []string{`{"a": "\ud800"}`, "[1,\n2]", `"` + "\u2028" + `"`, "\"\xff\"", `{"a":"\ud83d\ude00"}`, "nonsense\xff", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		record := begin("x").foreign("v", v).end()
		oneLine(t, record)
		var got, want struct{ V any }
		if err := json.Unmarshal(record, &got); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(v) || len(v) == 0 {
			return
		}
		if err := json.Unmarshal(v, &want.V); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got.V)
		b, _ := json.Marshal(want.V)
		if string(a) != string(b) && utf8.Valid(v) { // of invalid text, one U+FFFD stands for several bytes
			t.Errorf("%q became %s, want %s", v, a, b)
		}
	})
}
