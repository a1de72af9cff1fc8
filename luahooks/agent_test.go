package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/trust"
	"pi/session"
	"pi/stdlib"
)

// program is a real agent with the hooks of a rig, and a model that a hook is.
func program(t *testing.T, files map[string]string, tools ...agent.Tool) (*agent.Agent, *rig) {
	t.Helper()
	return programWith(t, files, nil, tools...)
}

// programWith is program with a guard.
func programWith(t *testing.T, files map[string]string, guard *trust.Guard, tools ...agent.Tool) (*agent.Agent, *rig) {
	t.Helper()
	r := newRig(t, files, func(o *Options) { o.Tools, o.Guard = tools, guard })
	model := r.chain.opts.Models.Find("s", "m")
	if model == nil {
		t.Fatalf("no model; notices %q", r.host.notices())
	}
	a := agent.New(agent.Options{Session: session.New(session.Options{Cwd: r.cwd}), Models: r.chain.opts.Models, Model: model, Thinking: "off",
		Tools: tools, Prompt: &agent.SystemPrompt{}, Cwd: r.cwd,
		Settings: agent.Settings{MaxContinuations: 8, Compaction: agent.CompactionSettings{ReserveTokens: 16384, KeepRecentTokens: 20000}},
		NewSession: func(parent string) (*session.Session, error) {
			return session.New(session.Options{Dir: filepath.Join(filepath.Dir(r.dir), "sessions"), Cwd: r.cwd, Parent: parent}), nil
		},
		OpenSession: func(path string) (*session.Session, error) {
			if _, err := os.Stat(path); err != nil {
				return nil, err
			}
			return session.Open(path, session.Options{Cwd: r.cwd})
		}})
	t.Cleanup(func() { a.Session().Close() })
	a.Listen(r.chain, &ears{host: r.host})
	r.chain.Attach(a, r.ui)
	a.Start(context.Background())
	return a, r
}

// ears is a front end that only hears notices.
type ears struct{ host *fakeHost }

func (e *ears) Wants(k agent.Kind) bool { return k == agent.KindNotice }
func (e *ears) Handle(ctx context.Context, ev agent.Event) error {
	n := ev.(*agent.Notice)
	e.host.Notify(ctx, n.Level, n.Text)
	return nil
}

// echoTool says what it was called with.
type echoTool struct{}

func (echoTool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "bash", Description: "d", Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}
}

func (echoTool) Run(_ context.Context, input json.RawMessage, _ agent.Update) (agent.Result, error) {
	return agent.TextResult("ran " + string(input)), nil
}

const caller = `pi.provider("s", { models = { "m" }, stream = function(request, emit)
	local last = request.messages[#request.messages]
	if last.role == "toolResult" then
		emit{ type = "text", text = "result: " .. last.content[1].text }
	else
		local text = type(last.content) == "string" and last.content or last.content[1].text
		emit{ type = "tool_call", name = "bash", arguments = { command = text } }
	end
end })`

func answerOf(t *testing.T, a *agent.Agent) string {
	t.Helper()
	items := a.Session().Context()
	return items[len(items)-1].Message.Text()
}

func TestAPromptPassesTheHooks(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": caller, "h.lua": `
		pi.on("session_start", function(e) pi.state.reason = e.reason end)
		pi.on("input", function(e) return { text = e.text .. "!" } end)
		pi.on("tool_call", function(e, ctx)
			if e.input.command == "rm!" then return { block = true, reason = "not " .. e.input.command } end
			if e.input.command == "bad!" then return { input = { command = 5 , nonsense = {} } } end
			return { input = { command = e.input.command .. pi.state.reason }, additional_context = "context" }
		end)
		pi.on("turn_end", function(e, ctx) ctx.save_entry{ type = "h_turn", n = e.turn_index, calls = #e.tool_results } end)`}, echoTool{})
	for prompt, want := range map[string]string{"ls": `result: ran {"command":"ls!startup"}`, "rm": "result: not rm!"} {
		mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: prompt}))
		a.WaitIdle(context.Background())
		items := a.Session().Context()
		if got := items[len(items)-1].Message.Text(); got != want {
			t.Errorf("%s: answer is %q, want %q", prompt, got, want)
		}
	}
	own := 0
	for _, e := range a.Session().Branch() {
		if e.Type == "h_turn" {
			own++
		}
	}
	if own != 4 {
		t.Errorf("%d entries of the hook", own)
	}
	r.mustBeQuiet()
}

func TestWhatTheModelSeesIsWhatContextHandlersLeave(t *testing.T) {
	a, r := program(t, map[string]string{
		"p.lua": `pi.provider("s", { models = { "m" }, stream = function(request, emit)
			local l = {}
			for _, m in ipairs(request.messages) do l[#l + 1] = type(m.content) == "string" and m.content or m.content[1].text end
			emit{ type = "text", text = table.concat(l, "|") }
		end })`,
		"h.lua": `pi.on("context", function(e)
			local l = {}
			for _, m in ipairs(e.messages) do if m.role == "user" then l[#l + 1] = m end end
			l[#l + 1] = { role = "user", content = "from the hook" }
			return { messages = l }
		end)
		pi.command("rebuilt", { handler = function(ctx) local m = ctx.rebuild_context(); return { status = m[#m].content .. #m .. #ctx.messages } end })`,
	})
	for range 2 {
		mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "ask"}))
	}
	if got := answerOf(t, a); got != "ask|ask|from the hook" {
		t.Errorf("the model saw %q", got)
	}
	out, err := r.chain.Commands()[0].Run(context.Background(), "")
	if err != nil || out.Status != "from the hook33" {
		t.Errorf("rebuilt: %+v, %v", out, err)
	}
	if n := len(a.Session().Context()); n != 4 {
		t.Errorf("the session has %d messages", n)
	}
	r.mustBeQuiet()
}

func TestAPromptOutlivesReloadsOfItsModelAndGate(t *testing.T) {
	gate := `pi.on("tool_call", function(e) if e.input.command ~= "rm" then return end return { block = true, reason = "gate" } end)`
	a, r := program(t, map[string]string{"p.lua": caller, "g.lua": gate}, echoTool{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			r.write("p.lua", fmt.Sprintf("%s\n-- %d", caller, i))
			r.write("g.lua", fmt.Sprintf("%s\n-- %d", gate, i))
			r.chain.Reload(ctx, false)
		}
	}()
	for range 30 {
		if err := a.Prompt(context.Background(), agent.Prompt{Text: "rm"}); err != nil {
			t.Fatal(err)
		}
		if got := answerOf(t, a); got != "result: gate" {
			t.Fatalf("answer is %q", got)
		}
	}
	cancel()
	<-done
	for _, n := range r.host.notices() {
		if !strings.Contains(n, " loaded") {
			t.Errorf("notice %q", n)
		}
	}
}

func TestTheTourAnswers(t *testing.T) {
	r := newRig(t, nil)
	models := r.chain.opts.Models
	model := &llm.Model{Provider: "demo", ID: "tour", API: "lua"}
	models.Register(llm.ProviderSpec{Name: "demo", Models: llm.Listed(model), Stream: r.chain.Builtin("demo/tour", stdlib.Tour())})
	a := agent.New(agent.Options{Session: session.New(session.Options{Cwd: r.cwd}), Models: models, Model: model, Tools: []agent.Tool{echoTool{}}, Prompt: &agent.SystemPrompt{}, Cwd: r.cwd})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for prompt, want := range map[string]string{"help": "grep TEXT", "run `date`": "date"} {
		mustDo(t, a.Prompt(ctx, agent.Prompt{Text: prompt}))
		if got := answerOf(t, a); !strings.Contains(got, want) {
			t.Errorf("%s: %q", prompt, got)
		}
	}
}

func TestADialogOfAGateTellsWhichCallItIsAbout(t *testing.T) {
	asked := ""
	a, r := program(t, map[string]string{"s.lua": caller, "gate.lua": `pi.on("tool_call", function(e, ctx)
		if not ctx.ui.confirm("Run it?") then return { block = true } end
	end)`}, echoTool{})
	r.ui.ask = func(ctx context.Context, _, _ string) (string, bool, error) {
		asked += agent.CallID(ctx)
		return "", true, nil
	}
	if err := a.Prompt(context.Background(), agent.Prompt{Text: "x"}); err != nil {
		t.Fatal(err)
	}
	items := a.Session().Context()
	if id := items[1].Message.ToolCalls()[0].ID; id == "" || asked != id {
		t.Errorf("asked about the call %q, want %q", asked, id)
	}
}

func TestASessionIsReplacedWhileADialogOfAGateIsOpen(t *testing.T) {
	a, r := program(t, map[string]string{"s.lua": caller, "gate.lua": `
		pi.on("tool_call", function(e, ctx) if not ctx.ui.confirm("Run it?") then return { block = true } end end)
		pi.on("session_before_switch", function(e) pi.state.asked = e.reason end)`}, echoTool{})
	open := make(chan struct{})
	r.ui.ask = func(ctx context.Context, _, _ string) (string, bool, error) {
		close(open)
		<-ctx.Done()
		return "", false, ctx.Err()
	}
	ended := make(chan error, 1)
	go func() { ended <- a.Prompt(context.Background(), agent.Prompt{Text: "x"}) }()
	<-open
	first := a.Session()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := a.Interrupting().NewSession(ctx, agent.NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || a.Session() == first {
		t.Errorf("the prompt ended with %v", err)
	}
}
