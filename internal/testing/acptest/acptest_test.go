package acptest

import (
	"strings"
	"testing"
)

// The table names no shape that it does not have, and none that nothing uses.
func TestTheTableIsWhole(t *testing.T) {
	shapes := parseTable(table)
	used := map[string]bool{"RequestId": true, "Error": true}
	var walk func(s shape)
	walk = func(s shape) {
		if s.kind == kindName && scalars[s.name] == nil {
			if _, ok := shapes[s.name]; !ok {
				t.Errorf("there is no shape %s", s.name)
			}
			used[s.name] = true
		}
		for _, each := range s.of {
			walk(each)
		}
		for _, m := range s.members {
			walk(m.shape)
		}
	}
	for _, s := range shapes {
		walk(s)
	}
	for _, name := range answers {
		used[name] = true
	}
	for _, name := range sends {
		used[name] = true
	}
	for name := range shapes {
		if !used[name] {
			t.Errorf("nothing uses the shape %s", name)
		}
	}
}

func TestLinesAreHeldAgainstTheTable(t *testing.T) {
	update := func(u string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + `}}`
	}
	for _, c := range []struct{ line, wrong string }{
		{`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`, ""},
		{`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"done"}}`, "stopReason"},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, `"stopReason" is missing`},
		{`{"jsonrpc":"2.0","id":2,"result":{}}`, "nothing that was asked"},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`, ""},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"no"}}`, "code"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"},"result":{}}`, "either"},
		{`{"id":1,"result":{}}`, "jsonrpc"},
		{`x`, "no JSON"},
		{update(`{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"type":"text","text":""}}`), ""},
		{update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text"}}`), `"text" is missing`},
		{update(`{"sessionUpdate":"agent_message","content":{"type":"text","text":""}}`), "none of"},
		{update(`{"sessionUpdate":"tool_call","toolCallId":"1"}`), `"title" is missing`},
		{update(`{"sessionUpdate":"tool_call","toolCallId":"1","title":"t","kind":"run"}`), "kind"},
		{update(`{"sessionUpdate":"tool_call","toolCallId":"1","title":"t","isError":true}`), `no member "isError"`},
		{update(`{"sessionUpdate":"tool_call","toolCallId":"1","title":"t","content":null}`), "content"},
		{update(`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":null}`), ""},
		{update(`{"sessionUpdate":"usage_update","used":-1,"size":2}`), "used"},
		{update(`{"sessionUpdate":"notice","severity":"info","title":""}`), "title"},
		{`{"jsonrpc":"2.0","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[]}}`, "id"},
		{`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}`, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"v":{"type":"string","oneOf":[{"const":"a","title":"A"}]}},"required":["v"]}}}`, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{}}`, "does not send"},
	} {
		checker := New()
		checker.Sent([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt"}`))
		err := checker.Check([]byte(c.line))
		switch {
		case c.wrong == "" && err != nil:
			t.Errorf("%s: %v", c.line, err)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: %v, not %s", c.line, err, c.wrong)
		}
	}
}
