package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/internal/testing/mcptest"
)

// scripted is a server that answers methods with lines, see [mcptest.Answers].
func scripted(t *testing.T, answers map[string][]string) Entry {
	t.Helper()
	b, err := json.Marshal(answers)
	if err != nil {
		t.Fatal(err)
	}
	e := entry("s", "scripted")
	e.Env[mcptest.Answers] = string(b)
	return e
}

func TestNullInThePlaceOfSomethingHarmsNobody(t *testing.T) {
	const fine = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"fine"}]}}`
	for name, test := range map[string]struct {
		method string
		lines  []string
		want   string
	}{
		"a tool":                      {"tools/list", []string{`{"jsonrpc":"2.0","id":ID,"result":{"tools":[null]}}`}, `error: server s has no tool "echo"; search finds the others`},
		"a list":                      {"tools/list", []string{`{"jsonrpc":"2.0","id":ID,"result":null}`}, `error: server s has no tool "echo"; search finds the others`},
		"a result":                    {"tools/call", []string{`{"jsonrpc":"2.0","id":ID,"result":null}`}, ""},
		"content":                     {"tools/call", []string{`{"jsonrpc":"2.0","id":ID,"result":{"content":[null]}}`}, "error: server s: nil content"},
		"a resource":                  {"tools/call", []string{`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"resource","resource":null}]}}`}, ""},
		"what a result wants to know": {"tools/call", []string{`{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{"q":null}}}`}, "error: server s: tools/call: what the server says cannot be read"},
		"a page":                      {"tools/call", []string{`{"jsonrpc":"2.0","id":ID,"error":{"code":-32042,"message":"open it","data":{"elicitations":[null]}}}`}, "error: server s: open it"},
		"a question":                  {"tools/call", []string{`{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}`, fine}, "fine"},
		"params of a question":        {"tools/call", []string{`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":null}`, fine}, "fine"},
		"the end of a question": {"tools/call", []string{`{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}`,
			`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":null}`, fine}, "fine"},
		"progress": {"tools/call", []string{`{"jsonrpc":"2.0","method":"notifications/progress","params":null}`, fine}, "fine"},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, Options{Entries: []Entry{scripted(t, map[string][]string{test.method: test.lines})}})
			if got := l.ask("echo", `{}`); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if s, err := l.Server("s"); err != nil || s.State != StateReady {
				t.Errorf("%s, %v, %v", s.State, s.Err, err)
			}
		})
	}
}

func TestOfAnErrorNoMoreIsRepeatedThanIsRead(t *testing.T) {
	for _, kind := range []string{"long-error", "long-error-lists"} {
		l := one(t, kind)
		got := l.ask("echo", `{}`)
		if len(got) > 5<<10 || strings.Contains(got, "\x1b") || !strings.HasSuffix(got, "…") {
			t.Errorf("%s: %d bytes, %.80q", kind, len(got), got)
		}
		if s, _ := l.Server("s"); s.Err != nil && len(s.Err.Error()) > 5<<10 {
			t.Errorf("%s: its state has an error of %d bytes", kind, len(s.Err.Error()))
		}
	}
}

func TestNoTextMovesUnseenFromOneFieldOfADefinitionToAnother(t *testing.T) {
	define := func(title, description string) string {
		tool, err := newTool(&Entry{Name: "s"}, &sdk.Tool{Name: "t", Title: title, Description: description, InputSchema: map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		return tool.Hash
	}
	if define("a", "b\x00c") == define("a\x00b", "c") {
		t.Error("another definition has the same hash")
	}
}
