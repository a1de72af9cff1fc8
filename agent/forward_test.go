package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// proxy is a Forwarder for tools behind it.
type proxy struct {
	*fakeTool
	behind map[string]Tool
	allows func(name string) bool
}

func newProxy(behind ...Tool) *proxy {
	p := &proxy{fakeTool: echo("mcp"), behind: map[string]Tool{}, allows: func(string) bool { return true }}
	p.spec.Parameters = nil
	for _, t := range behind {
		p.behind[t.Spec().Name] = t
	}
	return p
}

type proxied struct {
	Call      string          `json:"call,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

func (p *proxy) Forwards(input json.RawMessage) (name string, arguments json.RawMessage, ok bool) {
	var r proxied
	_ = json.Unmarshal(input, &r)
	return "mcp__" + r.Call, r.Arguments, r.Call != ""
}

func (p *proxy) Target(_ context.Context, input json.RawMessage) (Tool, error) {
	name, _, _ := p.Forwards(input)
	if t := p.behind[name]; t != nil && p.allows(name) {
		return t, nil
	}
	return nil, fmt.Errorf("there is no %s behind it", name)
}

func (p *proxy) Wrap(name string, arguments json.RawMessage) (json.RawMessage, bool) {
	call, ok := strings.CutPrefix(name, "mcp__")
	input, _ := json.Marshal(proxied{call, arguments})
	return input, ok
}

func (p *proxy) Within(allows func(string) bool) Tool { return &proxy{p.fakeTool, p.behind, allows} }

// served is a tool of a server.
type served struct{ *fakeTool }

func (s served) OfServer() ServerCall {
	return ServerCall{Server: "s", Tool: strings.TrimPrefix(s.spec.Name, "mcp__"), Definition: "hash", Claims: Annotations{ReadOnly: true, Claimed: true}}
}

func TestACallThroughAnotherToolIsWhatItIsForEverybodyButTheSession(t *testing.T) {
	var seen []string
	see := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	say1 := served{echo("mcp__say")}
	say1.run = func(ctx context.Context, input json.RawMessage, _ Update) (Result, error) {
		see("run %s by %s", input, DecidedDefinition(ctx))
		return TextResult("said"), nil
	}
	r := newHarness(t, Options{Tools: []Tool{newProxy(say1)}, Listeners: []Listener{
		on(func(e *ToolExecutionStart) { see("start %s %s", e.Name, e.Input) }),
		on(func(e *ToolCall) {
			see("gate %s %s %+v", e.Name, e.Input, *e.Server)
			see("%+v", e.Annotations)
			e.Input = json.RawMessage(`{"n":2}`)
		}),
		on(func(e *ToolResult) { see("result %s %s", e.Name, e.Input) }),
		on(func(e *ToolExecutionEnd) { see("end %s %s", e.Name, e.Input) }),
	}}, use(call{"c1", "mcp", `{"call":"say","arguments":{"n":1}}`}), say("ok"))
	r.prompt("go")
	want := []string{
		`start mcp__say {"n":1}`,
		`gate mcp__say {"n":1} {Server:s Tool:say Definition:hash Claims:reads only Via:mcp}`,
		`reads only`,
		`run {"n":2} by hash`,
		`result mcp__say {"n":2}`,
		`end mcp__say {"n":2}`,
	}
	if got := strings.Join(seen, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("seen:\n%s", got)
	}
	if talk := r.talk(); !strings.Contains(talk, `mcp`) || strings.Contains(talk, "mcp__say") {
		t.Errorf("in the session:\n%s", talk)
	}
}

func TestAllWaysToAToolOfAServerPassTheGate(t *testing.T) {
	for _, test := range []struct {
		name, input string
		via         Via // "": none said
		want        Via
	}{
		{"mcp", `{"call":"say","arguments":{}}`, "", ViaHook},
		{"mcp__say", `{}`, "", ViaHook},
		{"mcp__say", `{}`, ViaShell, ViaShell},
		{"mcp", `{"call":"say","arguments":{"n":1}}`, ViaShell, ViaShell},
	} {
		asked := ServerCall{}
		r := newHarness(t, Options{Tools: []Tool{newProxy(served{echo("mcp__say")})}, Listeners: []Listener{on(func(e *ToolCall) {
			asked = *e.Server
			e.Block, e.Reason = e.Name == "mcp__say", "denied"
		})}})
		ctx := t.Context()
		if test.via != "" {
			ctx = WithVia(ctx, test.via)
		}
		got := r.CallTool(ctx, test.name, json.RawMessage(test.input))
		if !got.IsError || got.Content[0].Text != "denied" || asked.Via != test.want {
			t.Errorf("%s %s: %+v, asked %+v", test.name, test.input, got, asked)
		}
	}
}

func TestADirectToolOfAServerSaysSo(t *testing.T) {
	via := Via("")
	r := newHarness(t, Options{Tools: []Tool{newProxy(), served{echo("mcp__say")}}, Listeners: []Listener{on(func(e *ToolCall) { via = e.Server.Via })}},
		use(call{"c1", "mcp__say", `{"n":1}`}), say("ok"))
	r.prompt("go")
	if via != ViaName {
		t.Errorf("via %q", via)
	}
}

func TestAnOrdinaryToolIsOfNoServer(t *testing.T) {
	asked := false
	r := newHarness(t, Options{Tools: []Tool{newProxy(), echo("look")}, Listeners: []Listener{on(func(e *ToolCall) {
		asked = true
		if e.Server != nil {
			t.Errorf("%+v", e.Server)
		}
	})}})
	for _, name := range []string{"look", "mcp"} {
		if got := r.CallTool(t.Context(), name, nil); got.IsError || !asked {
			t.Errorf("%s: %+v", name, got)
		}
		asked = false
	}
}

func TestArgumentsOfACallThroughAnotherToolAreChecked(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{newProxy(served{echo("mcp__say")})}, Listeners: []Listener{on(func(e *ToolCall) { e.Input = json.RawMessage(`{"n":"no"}`) })}})
	for input, want := range map[string]string{
		`{"call":"say","arguments":{"n":"x"}}`: "invalid arguments: /n: expected integer, got string",
		`{"call":"say","arguments":{"n":1}}`:   "blocked: a hook rewrote the arguments: invalid arguments: /n: expected integer, got string",
		`{"call":"shout"}`:                     "there is no mcp__shout behind it",
	} {
		if got := r.CallTool(t.Context(), "mcp", json.RawMessage(input)); !got.IsError || !strings.HasPrefix(got.Content[0].Text, strings.Split(want, " a hook")[0]) {
			t.Errorf("%s: %+v", input, got.Content)
		}
	}
	if got := r.CallTool(t.Context(), "mcp__other", nil); !got.IsError || got.Content[0].Text != "there is no mcp__other behind it" {
		t.Errorf("%+v", got.Content)
	}
}

func TestATargetOfAnotherNameDoesNotRun(t *testing.T) {
	p := newProxy()
	p.behind["mcp__say"] = served{echo("mcp__shout")}
	r := newHarness(t, Options{Tools: []Tool{p}})
	if got := r.CallTool(t.Context(), "mcp", json.RawMessage(`{"call":"say"}`)); !got.IsError || !strings.Contains(got.Content[0].Text, "not run") {
		t.Errorf("%+v", got)
	}
}

func TestRepeatsOfCallsThroughAnotherToolAreCounted(t *testing.T) {
	same := use(call{"c1", "mcp", `{"call":"say","arguments":{"n":1}}`})
	r := newHarness(t, Options{Tools: []Tool{newProxy(served{echo("mcp__say")})}, Settings: Settings{MaxRepeats: 3}}, same, same, same, same, same)
	err := r.Prompt(t.Context(), Prompt{Text: "go"})
	var limit *LimitError
	if !errors.As(err, &limit) || !strings.Contains(limit.Error(), "called mcp__say 3 times") {
		t.Errorf("%v", err)
	}
}

func TestACallThatAHookMakesInOneFromAShellIsTheHooks(t *testing.T) {
	var h *harness
	var asked []Via
	h = newHarness(t, Options{Tools: []Tool{newProxy(served{echo("mcp__say")})}, Listeners: []Listener{listener{KindToolCall: func(ctx context.Context, e Event) error {
		if asked = append(asked, e.(*ToolCall).Server.Via); len(asked) == 1 {
			h.CallTool(ctx, "mcp__say", json.RawMessage(`{"n":2}`))
		}
		return nil
	}}}})
	h.CallTool(WithVia(t.Context(), ViaShell), "mcp__say", json.RawMessage(`{"n":1}`))
	if got := fmt.Sprint(asked); got != "[shell hook]" {
		t.Errorf("%s", got)
	}
}

func TestAToolInThePlaceOfOneOfAServerDoesNotHideTheServer(t *testing.T) {
	below := served{echo("mcp__say")}
	above := echo("mcp__say")
	above.run = func(ctx context.Context, input json.RawMessage, update Update) (Result, error) {
		return RunBelow(ctx, below, input, update)
	}
	var asked []string
	h := newHarness(t, Options{Tools: []Tool{above}, Listeners: []Listener{on(func(e *ToolCall) {
		if asked = append(asked, fmt.Sprint(e.Server != nil)); e.Server != nil {
			e.Block, e.Reason = true, "not of "+e.Server.Definition
		}
	})}})
	got := h.CallTool(t.Context(), "mcp__say", json.RawMessage(`{"n":1}`))
	if !got.IsError || !strings.Contains(got.Content[0].Text, "not of hash") || fmt.Sprint(asked) != "[false true]" {
		t.Errorf("asked %v, %+v", asked, got)
	}
}

// One name is one tool, whichever way its call is written.
func TestAToolInThePlaceOfOneBehindAForwarderIsRun(t *testing.T) {
	p := newProxy(served{echo("mcp__say")})
	ran := 0
	above := echo("mcp__say")
	above.run = func(ctx context.Context, input json.RawMessage, update Update) (Result, error) {
		ran++
		return RunBelow(ctx, p, json.RawMessage(`{"n":2}`), update)
	}
	var asked []string
	h := newHarness(t, Options{Tools: []Tool{p, above}, Listeners: []Listener{on(func(e *ToolCall) {
		about := "none"
		if e.Server != nil {
			about = string(e.Server.Via)
		}
		asked = append(asked, fmt.Sprintf("%s %s %s", e.Name, e.Input, about))
	})}})
	got := h.CallTool(t.Context(), "mcp", json.RawMessage(`{"call":"say","arguments":{"n":1}}`))
	if got.IsError || ran != 1 || fmt.Sprint(asked) != `[mcp__say {"n":1} none mcp__say {"n":2} hook]` {
		t.Errorf("ran %d, asked %q, %+v", ran, asked, got)
	}
}
