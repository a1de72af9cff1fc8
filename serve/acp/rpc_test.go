package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pi/internal/testing/acptest"
)

// Each line has its answer, and the server goes on behind it.
func TestLinesThatAreWrongAreAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, id, says string }{
		{"no JSON", `{`, "null", "-32700 the line is not JSON"},
		{"text behind it", `{} x`, "null", "-32700 the line is not JSON"},
		{"a batch", `[{"jsonrpc":"2.0","id":71,"method":"initialize"},{"jsonrpc":"2.0","id":2,"method":"initialize"}]`, "null", "-32600 batches"},
		{"a number", `7`, "null", "-32600 the line is not a JSON object"},
		{"null", `null`, "null", "-32600 the line is not a JSON object"},
		{"no version", `{"id":71,"method":"initialize"}`, "null", `-32600 "jsonrpc"`},
		{"another version", `{"jsonrpc":"1.0","id":71,"method":"initialize"}`, "null", `-32600 "jsonrpc"`},
		{"a version that is a number", `{"jsonrpc":2.0,"id":71,"method":"initialize"}`, "null", `-32600 "jsonrpc"`},
		{"a method that is no string", `{"jsonrpc":"2.0","id":71,"method":3}`, "null", `-32600 "method"`},
		{"no method", `{"jsonrpc":"2.0","id":71}`, "null", `-32600 "method" is missing`},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"initialize"}`, "null", `-32600 "id"`},
		{"unknown", `{"jsonrpc":"2.0","id":71,"method":"nothing/such"}`, "71", `-32601 there is no method "nothing/such"`},
		{"an id that is a string", `{"jsonrpc":"2.0","id":"ä\ud83d\ude00","method":"x"}`, `"ä\ud83d\ude00"`, "-32601"},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, "null", "-32601"},
		{"a large id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}`, "9007199254740993", "-32601"},
		{"members in capitals", `{"jsonrpc":"2.0","ID":1,"method":"x","id":"low"}`, `"low"`, "-32601"},
		{"parameters that are a list", `{"jsonrpc":"2.0","id":71,"method":"initialize","params":[1]}`, "71", `-32602 "params" must be an object`},
		{"before initialize", `{"jsonrpc":"2.0","id":71,"method":"session/list"}`, "71", "-32600 session/list comes after initialize"},
		{"no version of the protocol", `{"jsonrpc":"2.0","id":71,"method":"initialize","params":{}}`, "71", `-32602 "protocolVersion" is missing`},
		{"nothing at all", `{"jsonrpc":"2.0","id":71,"method":"initialize"}`, "71", `-32602 "protocolVersion" is missing`},
		{"a version in words", `{"jsonrpc":"2.0","id":71,"method":"initialize","params":{"protocolVersion":"1"}}`, "71", `-32602 "protocolVersion" must be a number`},
		{"CR, blanks, a surrogate, a line separator", " \t{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"\\ud800\u2028\"}\r", "71", "-32601"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, &host{})
			r.Send("")
			r.Send("  \r")
			r.Send(c.line)
			got := r.Wait("an answer", func(l acptest.Line) bool { return true })
			if says := fmt.Sprint(got.Error); string(got.ID) != c.id || !strings.HasPrefix(says, c.says) {
				t.Errorf("%s, %s", got.ID, says)
			}
			r.Initialize(object{})
			if n := len(r.Lines()); n != 2 {
				t.Errorf("%d lines", n)
			}
		})
	}
}

// What needs no answer gets none.
func TestNotificationsAndLateRepliesAreIgnored(t *testing.T) {
	t.Parallel()
	r := serve(t, &host{})
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"_vendor/thing","params":{}}`, `{"jsonrpc":"2.0","method":"nothing/such"}`,
		`{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}`, `{"jsonrpc":"2.0","method":"session/cancel","params":[]}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}`, `{"jsonrpc":"2.0","method":"$/cancel_request"}`,
		`{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`,
	} {
		r.Send(line)
	}
	r.Initialize(object{})
	if lines := r.Lines(); len(lines) != 1 {
		t.Errorf("%d lines, the first %s", len(lines), lines[0].Raw)
	}
}

func TestInitializeSaysWhatIsOffered(t *testing.T) {
	t.Parallel()
	r := serve(t, &host{})
	want := `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":false,"embeddedContext":true},` +
		`"mcpCapabilities":{"http":true,"sse":false},"sessionCapabilities":{"list":{},"resume":{},"delete":{},"close":{}}},"authMethods":[],` +
		`"agentInfo":{"name":"pi","title":"pi","version":"1.2.3"}}`
	for _, version := range []string{"1", "0", "2", "65535", "1.0"} {
		id := len(r.Lines()) + 100
		r.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%s,"clientCapabilities":"wrong","clientInfo":7}}`, id, version))
		if got, failed := r.Await(id); string(got) != want {
			t.Errorf("version %s: %s %v", version, got, failed)
		}
	}
	if got, failed := r.Request("authenticate", object{"methodId": "x"}); string(got) != "{}" {
		t.Errorf("%s %v", got, failed)
	}
}

// Whatever comes, nothing is written that is not an answer by the schema, and the next
// line is read.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`, `[]`, `{"jsonrpc":"2.0","id":"a","method":"session/new","params":{"cwd":"/"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":[{"type":"text"}]}}`, "\xff\x00", `{"jsonrpc":"2.0","id":1,"result":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 0 && isBlank(text) {
			return
		}
		m, failed := parseLine(text)
		if (m == nil) == (failed == nil) && failed == nil {
			t.Fatal("neither a line nor an error")
		}
		if failed != nil {
			if failed.Code != codeParse && failed.Code != codeInvalid || failed.Message == "" || strings.Contains(failed.Message, "\n") {
				t.Fatalf("%+v", failed)
			}
			return
		}
		if m.id != nil && !isID(m.id) {
			t.Fatalf("the id %s", m.id)
		}
		var same map[string]json.RawMessage
		if err := json.Unmarshal(text, &same); err != nil || string(same["id"]) != string(m.id) || string(same["params"]) != string(m.params) {
			t.Fatalf("%v, the id %s is %s, the parameters %s are %s", err, same["id"], m.id, same["params"], m.params)
		}
		fields, err := m.fields()
		if err == nil {
			_, _ = readPrompt(fields)
			_, _ = needDirectory(fields)
		}
	})
}
