package luahooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/cli/keyring"
	"pi/cli/providers"
	"pi/internal/testing/mcptest"
	"pi/luahooks/api"
	"pi/luahooks/trust"
	"pi/repl/terminal/keymap"
	"pi/session"
	"pi/session/message"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

// rig is a chain in directories of its own, with a program and a user that
// the test plays.
type rig struct {
	t     testing.TB
	dir   string // the agent directory's hooks
	cwd   string
	chain *Chain
	host  *fakeHost
	ui    *fakeUI
}

// newRig loads the hooks of files: name → source, in the agent directory.
func newRig(t testing.TB, files map[string]string, change ...func(*Options)) *rig {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(root, "agent", "hooks"), cwd: filepath.Join(root, "project")}
	mustDo(t, os.MkdirAll(r.dir, 0o755))
	mustDo(t, os.MkdirAll(r.cwd, 0o755))
	for name, code := range files {
		r.write(name, code)
	}
	o := Options{
		Places: trust.Places{AgentDir: filepath.Join(root, "agent"), Cwd: r.cwd}, Cwd: r.cwd, Mode: "interactive", Version: "1.2.3",
		LogPath: filepath.Join(root, "agent", "hooks.log"),
		Timeout: 5 * time.Second, testOnlyLoadTime: 20 * time.Second, Grace: 50 * time.Millisecond, Models: llm.NewModels(nil), Reserved: []string{"help"},
		Overlay: overlay(filepath.Join(root, "agent")),
		Keys:    api.Keys{Chord: keymap.ParseChord, IsReserved: keymap.Default().Reserved},
	}
	for _, f := range change {
		f(&o)
	}
	r.chain = New(o)
	r.chain.Load(context.Background())
	r.ui = &fakeUI{}
	r.host = &fakeHost{session: session.New(session.Options{Cwd: r.cwd}), chain: r.chain, model: &llm.Model{Provider: "p", ID: "m"}}
	r.chain.Attach(r.host, r.ui)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		r.chain.Close(ctx)
	})
	return r
}

// overlay registers providers as the program does.
func overlay(agentDir string) func(*llm.ProviderSpec, llm.ProviderSettings) llm.ProviderSpec {
	ring := keyring.New(keyring.Options{AgentDir: agentDir})
	return func(below *llm.ProviderSpec, set llm.ProviderSettings) llm.ProviderSpec {
		return providers.Overlay(ring, catalogue.Models, below, set)
	}
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) write(name, code string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	mustDo(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	mustDo(r.t, os.WriteFile(path, []byte(code), 0o644))
}

func (r *rig) emit(e agent.Event) {
	r.t.Helper()
	mustDo(r.t, r.chain.Handle(context.Background(), e))
}

// bash passes a bash call through the gate.
func (r *rig) bash(command string) *agent.ToolCall {
	r.t.Helper()
	input, _ := json.Marshal(map[string]string{"command": command})
	e := &agent.ToolCall{ID: "c1", Name: "bash", Input: input}
	r.emit(e)
	return e
}

// input passes a prompt through the chain and returns what became of it.
func (r *rig) input(text string) string {
	r.t.Helper()
	e := &agent.Input{Text: text, Source: "interactive"}
	r.emit(e)
	return e.Text
}

// said reports whether a notice contains all the parts.
func (r *rig) said(parts ...string) bool {
	for _, n := range r.host.notices() {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(n, p)
		}
		if all {
			return true
		}
	}
	return false
}

func (r *rig) mustSay(parts ...string) {
	r.t.Helper()
	if !r.said(parts...) {
		r.t.Errorf("no notice with %q; notices are:\n%s", parts, strings.Join(r.host.notices(), "\n"))
	}
}

func (r *rig) mustBeQuiet() {
	r.t.Helper()
	if n := r.host.notices(); len(n) > 0 {
		r.t.Errorf("unexpected notices:\n%s", strings.Join(n, "\n"))
	}
}

// fakeHost is the program.
type fakeHost struct {
	api.Host // what no test asks for

	chain   *Chain
	session *session.Session
	model   *llm.Model
	busy    bool
	hang    chan struct{} // what a hook that prints "hang" waits for
	hanging chan struct{} // closed when one does

	mu    sync.Mutex
	said  []string
	seen  []session.Item
	sent  []agent.Prompt
	tools []agent.Tool
	modes *agent.Modes

	modesOnce sync.Once
	heard     chan struct{} // signalled by each notice
}

func (h *fakeHost) Notify(_ context.Context, level agent.Level, text string) {
	if strings.HasSuffix(text, ": hang") {
		if h.hanging != nil {
			close(h.hanging)
		}
		<-h.hang
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, string(level)+": "+text)
	if h.heard != nil {
		select {
		case h.heard <- struct{}{}:
		default:
		}
	}
}

// HookFailed does what the agent does, which has the chain among its listeners.
func (h *fakeHost) HookFailed(ctx context.Context, f *agent.HookFailed, text string) {
	if text != "" {
		h.Notify(ctx, agent.LevelError, text)
	}
	_ = h.chain.Handle(ctx, f)
}

func (h *fakeHost) notices() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.said...)
}

func (h *fakeHost) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = nil
}

func (h *fakeHost) Session() *session.Session { return h.session }

func (h *fakeHost) Context(ctx context.Context) []session.Item {
	items := h.session.Context()
	if h.chain.Wants(agent.KindContext) {
		e := &agent.Context{Entries: h.session.Branch(), Items: items}
		_ = h.chain.Handle(ctx, e)
		items = e.Items
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = items
	return items
}

func (h *fakeHost) Seen() []session.Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen == nil {
		return h.session.Context()
	}
	return h.seen
}

func (h *fakeHost) Models() *llm.Models { return h.chain.opts.Models }
func (h *fakeHost) Model() *llm.Model   { return h.model }
func (h *fakeHost) Thinking() string    { return "off" }
func (h *fakeHost) Totals() agent.Totals {
	return agent.Totals{ContextUsage: agent.ContextUsage{Tokens: 10, Window: 1000, Percent: 1}}
}
func (h *fakeHost) IsIdle() bool { return !h.busy }

func (h *fakeHost) Submit(_ context.Context, p agent.Prompt) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, p)
	return nil
}

func (h *fakeHost) SendUser(ctx context.Context, p agent.Prompt, _ agent.Delivery) error {
	return h.Submit(ctx, p)
}

func (h *fakeHost) SendCustom(ctx context.Context, p agent.Prompt, _ agent.Delivery, _ bool) error {
	return h.Submit(ctx, p)
}

func (h *fakeHost) ResetBrake(agent.Origin) {}

// AllowContinuations asks nobody.
func (h *fakeHost) AllowContinuations(context.Context, agent.Origin, int) error {
	return errors.New("nobody is there to ask")
}

func (h *fakeHost) SetTools(tools []agent.Tool, _ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tools = tools
}

func (h *fakeHost) tool(t testing.TB, name string) agent.Tool {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, tool := range h.tools {
		if tool.Spec().Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %q", name)
	return nil
}

func (h *fakeHost) user(text string) *session.Entry {
	e, _ := h.session.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}, Plain: true, Timestamp: 1})
	return e
}

// fakeUI is the user. ask, if there is one, answers every dialog.
type fakeUI struct {
	agent.NoUI

	absent bool
	client bool // a program answers
	ask    func(ctx context.Context, kind, title string) (string, bool, error)
	told   atomic.Pointer[string] // what it was notified of last
}

func (u *fakeUI) HasUI() bool    { return !u.absent }
func (u *fakeUI) IsClient() bool { return u.client }

func (u *fakeUI) Select(ctx context.Context, title string, choices []agent.Choice, _ agent.DialogOptions) ([]string, bool, error) {
	label, ok, err := u.ask(ctx, "select", title)
	for _, c := range choices {
		if c.Text() == label {
			return []string{c.Value}, ok, err
		}
	}
	return nil, false, err
}

func (u *fakeUI) Confirm(ctx context.Context, title, _ string, _ agent.DialogOptions) (agent.Answer, error) {
	if u.ask == nil { // nobody answers in this test: the default
		return agent.No, nil
	}
	if _, yes, err := u.ask(ctx, "confirm", title); !yes {
		return agent.No, err
	}
	return agent.Yes, nil
}

func (u *fakeUI) Input(ctx context.Context, title, _ string, _ agent.DialogOptions) (string, bool, error) {
	return u.ask(ctx, "input", title)
}

func (u *fakeUI) Notify(text string, _ agent.Level) { u.told.Store(&text) }
func (u *fakeUI) SetStatus(string, string)          {}

func TestTheChainRunsInOrderOfPlacesAndNames(t *testing.T) {
	mark := func(s string) string {
		return `pi.on("input", function(e) return { text = e.text .. "` + s + `" } end)`
	}
	r := newRig(t, map[string]string{"b.lua": mark("b"), "gate/init.lua": mark("dir "), "gate.lua": mark("file "), "a.lua": mark("a"),
		".hidden.lua": mark("!"), "x.lua~": mark("!"), "#x.lua": mark("!"), "notes.txt": "!"}, func(o *Options) {
		project := filepath.Join(o.Cwd, ".pi", "hooks")
		mustDo(t, os.MkdirAll(project, 0o755))
		mustDo(t, os.WriteFile(filepath.Join(project, "a.lua"), []byte(mark("project ")), 0o644))
		conf, line := filepath.Join(o.Cwd, "conf.lua"), filepath.Join(o.Cwd, "line.lua")
		mustDo(t, os.WriteFile(conf, []byte(mark("configured ")), 0o644))
		mustDo(t, os.WriteFile(line, []byte(mark("line ")), 0o644))
		o.ApproveProject = true
		o.Places.Configured = []string{conf, conf}
		o.Places.CommandLine = []string{line, conf, filepath.Join(o.Cwd, "missing.lua")}
	})
	if got, want := r.input(""), "abdir file project configured line "; got != want {
		t.Errorf("order is %q, want %q", got, want)
	}
	r.mustSay("missing.lua", "no such file")
}

func TestAnUntrustedProjectDoesNotRun(t *testing.T) {
	r := newRig(t, nil)
	mustDo(t, os.MkdirAll(filepath.Join(r.cwd, ".pi", "hooks"), 0o755))
	mustDo(t, os.WriteFile(filepath.Join(r.cwd, ".pi", "hooks", "x.lua"), []byte(`error("ran")`), 0o644))
	c := New(Options{Places: r.chain.opts.Places, Cwd: r.cwd})
	skipped := c.Load(context.Background())
	c.Close(context.Background())
	if len(skipped) != 1 || skipped[0].Name != "x" || len(c.Hooks()) != 0 {
		t.Errorf("skipped %v, hooks %v", skipped, c.Hooks())
	}
}

func TestDisabledAndUnwantedHooks(t *testing.T) {
	files := map[string]string{"a.lua": "", "b.lua": ""}
	r := newRig(t, files, func(o *Options) { o.Places.Disable = []string{"a"} })
	if h := r.chain.Hooks(); len(h) != 1 || h[0].Name != "b" {
		t.Errorf("with a disabled: %v", h)
	}
	r = newRig(t, files, func(o *Options) {
		o.Places.NoHooks = true
		o.Places.CommandLine = []string{filepath.Join(o.Places.GlobalDir(), "a.lua")}
	})
	if h := r.chain.Hooks(); len(h) != 1 || h[0].Name != "a" || h[0].Scope != trust.ScopeCommand {
		t.Errorf("with no hooks but those of the command line: %v", h)
	}
}

func TestEachFileHasItsOwnGlobals(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `function shared() return "a" end
			pi.on("input", function(e) return { text = shared() } end)`,
		"b.lua": `pi.on("input", function(e) return { text = e.text .. tostring(rawget(_G, "shared")) } end)`,
	})
	if got := r.input(""); got != "anil" {
		t.Errorf("got %q", got)
	}
}

func TestLoadErrorsNameFileAndLineAndTheOthersLoad(t *testing.T) {
	cases := map[string]struct{ code, want string }{
		"syntax":      {"local x = = 1", ":1:"},
		"raise":       {"\n\nerror('no')", ":3: no"},
		"global":      {"x = 1", `:1:`},
		"event":       {`pi.on("tool_cal", print)`, `did you mean "tool_call"`},
		"option":      {`pi.command("x", {handlr = print})`, `did you mean "handler"`},
		"send":        {`pi.send("hi")`, "not available while the hook loads; use session_start"},
		"exec":        {`pi.exec("true")`, "not available while the hook loads; use session_start"},
		"api":         {"-- a hook\n-- pi-api: 2\n", ":2: the hook wants pi-api 2, this program has 1"},
		"no module":   {`require "nothing.here"`, "module nothing.here not found beside the hook"},
		"no std":      {`require "pi.nothing"`, "module pi.nothing does not exist"},
		"module name": {`require "../x"`, "words of letters"},
		"percent":     {`error("100%d %s")`, "100%d %s"},
		"table error": {`error({message = "from a table"})`, "from a table"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a.lua": c.code, "b.lua": `pi.on("input", function() return {text = "b"} end)`})
			r.mustSay("hook a did not load", c.want)
			if name != "no std" && name != "table error" {
				r.mustSay("a.lua:")
			}
			if got := r.input(""); got != "b" {
				t.Errorf("the other hook gave %q", got)
			}
			if h := r.chain.Hooks(); h[0].State != "failed" || h[0].LastError == "" || h[1].State != "active" {
				t.Errorf("hooks are %+v", h)
			}
		})
	}
}

func TestTheAPIThatIsPinnedLoads(t *testing.T) {
	newRig(t, map[string]string{"a.lua": "-- pi-api: 1\n"}).mustBeQuiet()
}

func TestAFunctionThatTheFileReturnsIsCalledWithPi(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `return function(pi)
		pi.on("input", function() return { text = pi.version .. " " .. pi.api .. " " .. pi.hook.name .. " " .. pi.hook.scope } end)
	end`})
	if got := r.input(""); got != "1.2.3 1 a global" {
		t.Errorf("got %q", got)
	}
}

func TestRequireFindsNeighboursOnce(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `local one, two, json = require "sub.one", require "two", require "pi.json"
			assert(require "sub.one" == one)
			pi.on("input", function() return { text = one.name .. two .. json.encode({1}) } end)`,
		"sub/one.lua": `return { name = ... }`,
		"lib/two.lua": `return "two"`,
	})
	if got := r.input(""); got != "sub.onetwo[1]" {
		t.Errorf("got %q", got)
	}
}

func TestAModuleThatRequiresItselfIsAnError(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `require "m"`, "lib/m.lua": `return require "m"`})
	r.mustSay("module m is required while it loads")
}

func TestOffTakesAHandlerBack(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local off
		off = pi.on("input", function(e) off(); return { text = e.text .. "1" } end)
		pi.on("input", function(e) return { text = e.text .. "2" } end)`})
	if got := r.input("") + " " + r.input(""); got != "12 2" {
		t.Errorf("got %q", got)
	}
}

func TestAHandlerThatIsRegisteredInAHandlerHearsTheNextEvent(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local n = 0
		local function more(e)
			n = n + 1
			if n < 50 then pi.on("input", more) end
			return { text = e.text .. "x" }
		end
		pi.on("input", more)`})
	if got := r.input("") + " " + r.input(""); got != "x xx" {
		t.Errorf("got %q", got)
	}
}

func TestWantsIsTrueOnlyForWhatSomebodyListensTo(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `local off = pi.on("turn_end", print)
		pi.on("input", function() off() end)`})
	if !r.chain.Wants(agent.KindTurnEnd) || r.chain.Wants(agent.KindTurnStart) || r.chain.Wants(agent.KindNotice) {
		t.Error("wants is wrong before")
	}
	r.input("")
	if r.chain.Wants(agent.KindTurnEnd) {
		t.Error("wants what nobody listens to any more")
	}
}
