package luahooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/session/message"
)

// streamHook is a hook whose provider s runs a body.
func streamHook(body string) map[string]string {
	return map[string]string{"p.lua": `pi.provider("s", { models = { "m" }, stream = function(request, emit) ` + body + ` end })
		pi.on("input", function(e) return { text = e.text .. "heard" } end)`}
}

func (r *rig) provider(name string) llm.Provider {
	r.t.Helper()
	spec, ok := r.chain.opts.Models.Lookup(name)
	if !ok {
		r.t.Fatalf("no provider %q; notices %q", name, r.host.notices())
	}
	return spec.Stream
}

var request = &llm.Request{Model: &llm.Model{Provider: "s", ID: "m"}, System: "sys", Thinking: "low", SessionID: "id",
	Messages: []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("question")}}},
	Tools:    []llm.ToolSpec{{Name: "t", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}}}

// stream collects what a provider yields, one word per delta.
func stream(ctx context.Context, p llm.Provider) (string, error) {
	var words []string
	for d, err := range p.Stream(ctx, request) {
		if err != nil {
			return strings.Join(words, " "), err
		}
		switch d.Kind {
		case llm.DeltaText:
			words = append(words, fmt.Sprintf("text%d:%s", d.Index, d.Text))
		case llm.DeltaThinking:
			words = append(words, fmt.Sprintf("think%d:%s", d.Index, d.Text))
		case llm.DeltaSignature:
			words = append(words, fmt.Sprintf("sign%d:%s", d.Index, d.Text))
		case llm.DeltaToolCall:
			words = append(words, fmt.Sprintf("call%d:%s:%s%s", d.Index, d.ID, d.Name, d.Text))
		case llm.DeltaUsage:
			words = append(words, fmt.Sprintf("usage:%d", d.Usage.TotalTokens))
		case llm.DeltaStop:
			words = append(words, fmt.Sprintf("stop:%s%s", d.Stop.Reason, d.Stop.Message))
		}
	}
	return strings.Join(words, " "), nil
}

func TestAScriptAsAModel(t *testing.T) {
	cases := []struct{ body, want, fails string }{
		{`emit{ type = "text", text = "a" } emit{ type = "text", text = "b" }`, "text1:a text1:b stop:stop", ""},
		{`emit{ type = "thinking", text = "h" } emit{ type = "thinking", text = "m", thinking_signature = "s" } emit{ type = "thinking", thinking_signature = "t" }`,
			"think1:h think1:m sign1:s think2: sign2:t stop:stop", ""},
		{`emit{ type = "thinking", text = "h" } emit{ type = "text", text = "a" } emit{ type = "usage", input = 1, output = 2 }
			emit{ type = "tool_call", name = "grep", arguments = { pattern = "x", ignore_case = true } } emit{ type = "tool_call", id = "i", name = "u" }`,
			`think1:h text2:a usage:3 call3:call_1:grep{"pattern":"x","ignoreCase":true} call4:i:u{} stop:toolUse`, ""},
		{`emit{ type = "text", text = request.system .. request.thinking_level .. request.session_id .. request.messages[1].content[1].text .. request.model.id .. request.tools[1].name .. request.tools[1].parameters.type }`,
			"text1:syslowidquestionmtobject stop:stop", ""},
		{`emit{ type = "stop", reason = "error", message = "why" } emit{ type = "usage" }`, "stop:errorwhy usage:0", ""},
		{``, "stop:stop", ""},
		{`emit{ type = "text", text = "a" } error("broken 100%d")`, "text1:a", "p.lua:1: broken 100%d"},
		{`emit{ type = "txt" }`, "", `p.lua:1: emit: unknown type "txt"`},
		{`emit{ type = "tool_call" }`, "", "emit: a tool_call needs a name"},
		{`emit{ type = "tool_call", name = "t", arguments = { f = print } }`, "", "at .f: a function"},
		{`emit{ type = "stop", reason = "bored" }`, "", `unknown stop reason "bored"`},
		{`emit{ type = "text", txt = 1 }`, "", `did you mean "text"`},
		{`for i = 1, 500 do emit{ type = "text", text = "" } end`, strings.Repeat("text1: ", 500) + "stop:stop", ""},
	}
	for _, c := range cases {
		r := newRig(t, streamHook(c.body))
		got, err := stream(context.Background(), r.provider("s"))
		if got != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s\ngave %q, %v", c.body, got, err)
		}
		var fault *llm.ProviderError
		if err != nil && !errors.As(err, &fault) {
			t.Errorf("%s: error is a %T", c.body, err)
		}
	}
}

func TestTheConsumerMayStopAtAnyTime(t *testing.T) {
	r := newRig(t, streamHook(`while true do emit{ type = "text", text = "x" } end`))
	n := 0
	for range r.provider("s").Stream(context.Background(), request) {
		if n++; n == 200 {
			break
		}
	}
	if got := r.input(""); got != "heard" {
		t.Errorf("got %q", got)
	}
	r.mustBeQuiet()
}

func TestCancellationEndsAStream(t *testing.T) {
	r := newRig(t, streamHook(`emit{ type = "text", text = "x" } while true do end`))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for d, err := range r.provider("s").Stream(ctx, request) {
		if last = err; d.Kind == llm.DeltaText {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the last error is %v", last)
	}
	r.mustBeQuiet()
}

func TestHandlersRunWhileAStreamWaits(t *testing.T) {
	r := newRig(t, streamHook(`for i = 1, 200 do emit{ type = "text", text = "x" } end`))
	n := 0
	for _, err := range r.provider("s").Stream(context.Background(), request) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 50 {
			if got := r.input(""); got != "heard" {
				t.Errorf("got %q", got)
			}
		}
	}
}

func TestAnEmitterThatIsKeptIsOfNoUse(t *testing.T) {
	files := streamHook(`kept = emit`)
	files["p.lua"] = "local kept\n" + files["p.lua"] + `
		pi.on("tool_call", function() for i = 1, 100 do kept{ type = "text", text = "x" } end end)`
	r := newRig(t, files)
	if _, err := stream(context.Background(), r.provider("s")); err != nil {
		t.Fatal(err)
	}
	if e := r.bash("x"); !strings.Contains(e.Reason, "emit: the answer has ended") {
		t.Errorf("reason is %q", e.Reason)
	}
}

func TestAStreamOnADeadVMFailsAndTheNextOneWorks(t *testing.T) {
	r := newRig(t, streamHook(`if request.system == "sys" and not pi.state.x then print("hang") end`), func(o *Options) { o.Timeout = 20 * time.Millisecond })
	p := r.provider("s")
	r.host.hang = make(chan struct{})
	if _, err := stream(context.Background(), p); err == nil || !strings.Contains(err.Error(), "abandoned") {
		t.Errorf("error is %v", err)
	}
	r.mustSay("a fresh copy of it goes on")
	if r.provider("s") == p {
		t.Error("the dead VM still stands for the provider")
	}
	if got := r.input(""); got != "heard" {
		t.Errorf("got %q", got)
	}
	close(r.host.hang)
	if got, err := stream(context.Background(), p); err != nil || got != "stop:stop" {
		t.Errorf("through the old provider: %q, %v", got, err)
	}
}

func TestProvidersOfHooksComeAndGo(t *testing.T) {
	r := newRig(t, nil)
	models := r.chain.opts.Models
	models.Register(llm.ProviderSpec{Name: "core", Models: llm.Listed(&llm.Model{Provider: "core", ID: "own"})})
	r.write("a.lua", `pi.provider("core", { api = "openai-completions", base_url = "http://h/v1/", api_key = "k", headers = { X = "y" },
		models = { "one", { id = "two", name = "Two", context_window = 9, max_tokens = 3, reasoning = true, input = { "text", "image" }, cost = { input = 1, cache_read = 0.1 } } } })
		pi.provider("open", { api = "openai-completions", base_url = "http://o" })
		pi.on("input", function() pi.remove_provider("open") end)`)
	r.write("b.lua", `pi.provider("core", { models = { "last" }, stream = function() end })`)
	r.write("bad.lua", `pi.provider("x", { models = { "m" } })`)
	r.chain.Reload(context.Background(), false)
	r.mustSay("hook bad did not load", "it needs api and base_url, or a stream function")
	if m := models.Find("core", "last"); m == nil || m.API != "lua" || m.NeedsKey {
		t.Errorf("the last hook's model is %+v", m)
	}
	if m := models.Find("open", "anything"); m == nil || m.BaseURL != "http://o" {
		t.Errorf("a model that nobody listed is %+v", m)
	}
	r.input("")
	if _, ok := models.Lookup("open"); ok {
		t.Error("a removed provider is there")
	}
	mustDo(t, os.Remove(filepath.Join(r.dir, "b.lua")))
	r.chain.Reload(context.Background(), false)
	m := models.Find("core", "two")
	if m == nil || m.Name != "Two" || m.ContextWindow != 9 || m.MaxTokens != 3 || !m.Reasoning || len(m.Input) != 2 || m.Cost.CacheRead != 0.1 || m.BaseURL != "http://h/v1" || !m.NeedsKey || m.Headers["X"] != "y" {
		t.Errorf("the first hook's model is %+v", m)
	}
	if spec, _ := models.Lookup("core"); spec.Key == nil {
		t.Error("no key")
	} else if key, err := spec.Key(context.Background()); key != "k" || err != nil {
		t.Errorf("key is %q, %v", key, err)
	}
	mustDo(t, os.Remove(filepath.Join(r.dir, "a.lua")))
	r.chain.Reload(context.Background(), false)
	if models.Find("core", "own") == nil {
		t.Error("what the hooks covered did not come back")
	}
}

func TestABuiltinScriptLoadsWithTheFirstRequest(t *testing.T) {
	r := newRig(t, nil)
	p := r.chain.Builtin("demo/x", []byte(`pi.provider("demo", { models = { "x" }, stream = function(_, emit) emit{ type = "text", text = "hi" } end })`))
	broken := r.chain.Builtin("demo/y", []byte(`error("no")`))
	if got, err := stream(context.Background(), p); err != nil || got != "text1:hi stop:stop" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := stream(context.Background(), broken); err == nil || !strings.Contains(err.Error(), "load demo/y: demo/y.lua:1: no") {
		t.Errorf("error is %v", err)
	}
	if _, ok := r.chain.opts.Models.Lookup("demo"); ok || len(r.chain.Hooks()) != 0 {
		t.Error("a builtin script stands in the chain")
	}
}
