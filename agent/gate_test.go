package agent

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pi/session/message"
)

func input(s string) json.RawMessage { return json.RawMessage(s) }

func TestGateKeepsAToolFromRunning(t *testing.T) {
	for _, c := range []struct {
		name     string
		listener Listener
		want     string
	}{
		{"block with reason", on(func(e *ToolCall) { e.Block, e.Reason = true, "no" }), "no"},
		{"block of a hook", on(func(e *ToolCall) { e.Block, e.BlockedBy = true, "gate" }), "Blocked by hook gate"},
		{"block without a word", on(func(e *ToolCall) { e.Block = true }), "Blocked"},
		{"failure", try(func(*ToolCall) error { return errors.New("hook gate.lua failed: x") }), "blocked: hook gate.lua failed: x"},
		{"crash", on(func(*ToolCall) { panic("nil map") }), "blocked: listener for tool_call crashed: nil map"},
		{"invalid rewrite", on(func(e *ToolCall) { e.Input, e.RewrittenBy = input(`{"m":1}`), "r" }), `blocked: hook r rewrote the arguments: invalid arguments: /: unknown property "m", known are n`},
		{"rewrite that names nobody", on(func(e *ToolCall) { e.Input = input(`[]`) }), "blocked: a listener rewrote the arguments: invalid arguments: /: expected object, got array"},
		{"rewrite that would need coercion", on(func(e *ToolCall) { e.Input, e.RewrittenBy = input(`{"n":"7"}`), "r" }), "blocked: hook r rewrote the arguments: invalid arguments: /n: expected integer, got string"},
		{"rewrite that is not JSON", on(func(e *ToolCall) { e.Input, e.RewrittenBy = input(`{`), "r" }), "blocked: hook r rewrote the arguments: arguments are not JSON: unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			never := tool("look", func(context.Context) (Result, error) { t.Error("the tool ran"); return Result{}, nil })
			result := on(func(*ToolResult) { t.Error("tool_result came for a call that did not run") })
			r := newHarness(t, Options{Tools: []Tool{never}, Listeners: []Listener{c.listener, result}}, use(call{"a", "look", `{"n":1}`}), say("ok"))
			r.prompt("go")
			r.wantTalk("user: go", `assistant a=look{"n":1}`, "toolResult a error: "+c.want, "assistant: ok")
			got := r.CallTool(t.Context(), "look", input(`{"n":1}`))
			if !got.IsError || got.Content[0].Text != c.want {
				t.Errorf("CallTool: %+v", got)
			}
		})
	}
}

func TestFirstBlockEndsTheQuestion(t *testing.T) {
	later := on(func(e *ToolCall) { t.Error("asked after a block"); e.Block = false })
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{on(func(e *ToolCall) { e.Block = true }), later}})
	if got := r.CallTool(t.Context(), "look", nil); !got.IsError {
		t.Errorf("%+v", got)
	}
}

// What runs is what the last listener saw.
func TestListenersBehindARewriteSeeWhatWillRun(t *testing.T) {
	for forbidden, want := range map[string]string{`{"n":1}`: `look{"n":2}`, `{"n":2}`: "Blocked"} {
		var asked []string
		note := func(who string, e *ToolCall) { asked = append(asked, who+string(e.Input)) }
		r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{
			on(func(e *ToolCall) { note("r", e); e.Input, e.RewrittenBy = input(`{"n":2}`), "r" }),
			on(func(e *ToolCall) { note("g", e); e.Block = string(e.Input) == forbidden }),
		}})
		got := r.CallTool(t.Context(), "look", input(`{"n":1}`))
		if s := strings.Join(asked, " "); s != `r{"n":1} g{"n":2}` || got.Content[0].Text != want {
			t.Errorf("forbidden %s: asked %s, result %q", forbidden, s, got.Content[0].Text)
		}
	}
}

func TestListenersSeeCoercedArgumentsAndTheToolGetsThem(t *testing.T) {
	var saw string
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{on(func(e *ToolCall) { saw = string(e.Input) })}})
	got := r.CallTool(t.Context(), "look", input(`{"n":"7"}`))
	if saw != `{"n":7}` || got.Content[0].Text != `look{"n":7}` {
		t.Errorf("saw %s, ran %s", saw, got.Content[0].Text)
	}
}

func TestAdditionalContextFollowsTheResultInOrder(t *testing.T) {
	add := func(s string) Listener {
		return on(func(e *ToolCall) { e.AdditionalContext = append(e.AdditionalContext, s) })
	}
	edit := on(func(e *ToolResult) { e.Result.Content[0].Text += " edited"; e.Result.IsError = true })
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{add("one"), edit, add("two")}}, use(call{"a", "look", `{}`}), say("ok"))
	r.prompt("go")
	if want := "toolResult a error: look{} editedonetwo"; !strings.Contains(r.talk(), want) {
		t.Errorf("%s\nlacks %s", r.talk(), want)
	}
}

func TestToolResultListenersChainAndAFailureStopsNobody(t *testing.T) {
	l := &log{}
	edit := func(s string) Listener {
		return try(func(e *ToolResult) error {
			e.Result = TextResult(e.Result.Content[0].Text + s)
			return errors.New(s + " failed")
		})
	}
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{edit("+"), edit("*"), l}})
	got := r.CallTool(t.Context(), "look", nil)
	if got.Content[0].Text != "look{}+*" || !reflect.DeepEqual(l.notes, []string{"+ failed", "* failed"}) {
		t.Errorf("%+v, notices %q", got, l.notes)
	}
	want := "tool_execution_start tool_call tool_clock tool_clock tool_result tool_execution_end"
	if s := strings.Join(l.kinds, " "); s != want {
		t.Errorf("events %s", s)
	}
}

func TestAnInterruptInTheGateIsNotToldAsABlock(t *testing.T) {
	for name, answer := range map[string]func(e *ToolCall) error{
		"the listener fails":        func(*ToolCall) error { return errors.New("was cut off") },
		"the listener blocks":       func(e *ToolCall) error { e.Block, e.Reason = true, "not now"; return nil },
		"the listener lets it pass": func(*ToolCall) error { return nil },
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{try(func(e *ToolCall) error {
			interrupt()
			return answer(e)
		})}})
		if got := r.CallTool(ctx, "look", nil); !got.IsError || got.Content[0].Text != "interrupted" {
			t.Errorf("%s: the model is told %q", name, got.Content[0].Text)
		}
	}
}

func TestCallToolRefusesWhatTheModelMayNotDoEither(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{echo("look")}})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx              context.Context
		name, args, want string
	}{
		{t.Context(), "rm", `{}`, `unknown tool "rm"; available tools: look`},
		{t.Context(), "look", `{"n":true}`, "invalid arguments: /n: expected integer, got boolean"},
		{t.Context(), "look", `nonsense`, "arguments are not JSON: invalid character 'o' in literal null (expecting 'u')"},
		{gone, "look", `{}`, "interrupted"},
	} {
		if got := r.CallTool(c.ctx, c.name, input(c.args)); !got.IsError || got.Content[0].Text != c.want {
			t.Errorf("%s%s: %+v, want %q", c.name, c.args, got, c.want)
		}
	}
	r.SetTools(nil, "")
	if got := r.CallTool(t.Context(), "look", nil); got.Content[0].Text != `unknown tool "look"; no tools are available` {
		t.Errorf("%+v", got)
	}
}

func TestCallsOutOfToolEventsNestFourDeep(t *testing.T) {
	var r *harness
	asked := 0
	var innermost Result
	r = newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{listener{KindToolCall: func(ctx context.Context, _ Event) error {
		asked++
		if got := r.CallTool(ctx, "look", nil); got.IsError {
			innermost = got
		}
		return nil
	}}}})
	if got := r.CallTool(t.Context(), "look", nil); got.IsError || asked != 4 || !strings.Contains(innermost.Content[0].Text, "4 deep") {
		t.Errorf("%+v after %d questions; innermost %+v", got, asked, innermost)
	}
	if got := r.CallTool(t.Context(), "look", nil); got.IsError {
		t.Errorf("the next call: %+v", got)
	}
}

func TestAGateNeedsListenersAndToolsOnly(t *testing.T) {
	var tools toolset
	tools.set([]Tool{echo("look")}, "")
	g := gate{events: listening(on(func(e *ToolCall) { e.Block = string(e.Input) == `{"n":1}` })), tools: &tools}
	call := func(name, args string) message.Block { return message.Block{Name: name, Arguments: input(args)} }
	if c, no := g.approve(t.Context(), meaning{Block: call("look", `{"n":"2"}`)}); no != nil || string(c.input) != `{"n":2}` {
		t.Errorf("%+v %+v", c, no)
	}
	for _, refused := range []message.Block{call("look", `{"n":1}`), call("look", `{"m":1}`), call("touch", `{}`)} {
		if c, _ := g.approve(t.Context(), meaning{Block: refused}); c != nil {
			t.Errorf("%s%s is approved", refused.Name, refused.Arguments)
		}
	}
}

// The claim that nothing runs a tool unasked stands on two facts of the source:
// one place calls Run of a tool, and only the gate makes what that place needs.
func TestOnlyTheGateLeadsToARunningTool(t *testing.T) {
	runs, made := map[string]int{}, map[string]int{}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if n.Sel.Name == "Run" {
					runs[name]++
				}
			case *ast.CompositeLit:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "approvedCall" {
					made[name]++
				}
			}
			return true
		})
	}
	if !reflect.DeepEqual(runs, map[string]int{"call.go": 1}) || !reflect.DeepEqual(made, map[string]int{"gate.go": 1}) {
		t.Errorf("tools run in %v, calls are approved in %v", runs, made)
	}
}

func TestListenersToACallKnowWhichCallItIs(t *testing.T) {
	var ids []string
	note := func(ctx context.Context) { ids = append(ids, CallID(ctx)) }
	knows := listener{
		KindToolCall:   func(ctx context.Context, _ Event) error { note(ctx); return nil },
		KindToolResult: func(ctx context.Context, _ Event) error { note(ctx); return nil },
		KindTurnEnd:    func(ctx context.Context, _ Event) error { note(ctx); return nil },
	}
	look := tool("look", func(ctx context.Context) (Result, error) { note(ctx); return TextResult("seen"), nil })
	r := newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{knows}}, use(call{"a", "look", `{}`}), say("ok"))
	r.prompt("go")
	if got, want := strings.Join(ids, " "), "a a a  "; got != want {
		t.Errorf("the calls are %q, want %q", got, want)
	}
}
