package luahooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luahooks/record"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// parts are those of a chain, without a chain.
type parts struct {
	t        *testing.T
	roster   *roster
	audience audience
	host     *noting
	reports  *reporter
	behind   *background
	lanes    luavm.Lanes
	events   *dispatcher
	guard    *trust.Guard
	made     []*instance
	models   *llm.Models
	tools    api.Toolbox
	failures []string // that the dispatcher handed to its keeper
}

func newParts(t *testing.T) *parts {
	p := &parts{t: t, roster: newRoster("print"), host: &noting{session: session.New(session.Options{Cwd: "/"})}, behind: newBackground(), guard: trust.NewForRun(t.TempDir())}
	p.audience.attach(p.host, nil)
	p.reports = &reporter{audience: &p.audience, log: new(hookLog), isEnding: p.behind.isEnding}
	p.events = newDispatcher(dispatcher{roster: p.roster, gates: gatekeeper{p.roster}, reports: p.reports, behind: p.behind, lanes: &p.lanes,
		timeout: 10 * time.Second, grace: time.Second, keeper: p})
	t.Cleanup(func() {
		p.behind.close(context.Background())
		for _, in := range p.made {
			in.close()
		}
		p.lanes.Close()
		p.guard.Close()
	})
	return p
}

// parts is an instanceKeeper that remembers and replaces nothing.
func (p *parts) failed(_ context.Context, h *hook, _ *instance, event string, _ *lua.LFunction, err error) {
	p.failures = append(p.failures, h.Name+": "+event+": "+err.Error())
}
func (p *parts) revive(context.Context, *hook, *instance) {}

// instance makes one for h, in which nothing ran yet.
func (p *parts) instance(h *hook) *instance {
	in := &instance{hook: h, behind: newBackground(), failures: map[failure]int{}, places: map[string]*failing{}, vm: luavm.New(luavm.Options{Lanes: &p.lanes}),
		shared: &shared{dir: "/", guard: p.guard, reports: p.reports, keeper: p, timeout: 10 * time.Second, ending: newBackground(), isEnding: p.behind.isEnding, compiled: new(Compiled)}}
	in.records = record.NewConverter(in.vm, new(record.ValidJSON))
	in.script = api.NewScript(in.vm, in.records, api.Program{Hook: api.HookInfo{Name: h.Name}, Timeout: 10 * time.Second, Owner: in, Life: in.behind.life, Kept: &h.kept,
		Host: p.audience.hostNow, UI: p.audience.uiNow, Notify: p.audience.notify, CheckEvent: p.roster.checkEvent, CountHandlers: p.roster.count,
		Models: p.models, Tools: p.tools, ProvidersChanged: func() {},
		Log: func(text string) { p.host.note(h.Name + " logs " + text) },
		Emit: func(ctx context.Context, name string, data json.RawMessage) {
			p.events.emitCustom(ctx, h, name, data)
		}})
	in.events = event.NewSource(in.vm, in.records, h.Name, in.script.Signal, func() ([]*session.Entry, bool) { return nil, false })
	p.made = append(p.made, in)
	return in
}

// hook adds one that runs code at the end of the roster.
func (p *parts) hook(name, code string) *hook {
	p.t.Helper()
	h := newHook(trust.Source{Name: name, Path: "/hooks/" + name + ".lua"})
	in := p.instance(h)
	mustDo(p.t, in.load(p.t.Context(), []byte(code), nil))
	in.script.Registered.Handlers.Enter()
	h.now.Store(in)
	p.roster.replace(append(slices.Clone(p.roster.list()), h))
	return h
}

func TestADispatcherPassesEventsAlongHooks(t *testing.T) {
	p := newParts(t)
	p.hook("a", `pi.on("input", function(e) return { text = e.text .. "a" } end)
		pi.on("session_new", function() pi.log("heard") pi.emit("a:done", { n = 1 }) end)`)
	p.hook("broken", `pi.on("input", function() error("no") end)`)
	p.hook("b", `pi.on("input", function(e) return { text = e.text .. "b" } end)
		pi.on("a:done", function(e) pi.log(e.type .. e.data.n) end)`)
	e := &agent.Input{Text: "x"}
	mustDo(t, p.events.Handle(t.Context(), e))
	if e.Text != "xab" {
		t.Errorf("the text became %q", e.Text)
	}
	if len(p.failures) != 1 || !strings.HasPrefix(p.failures[0], "broken: input: ") {
		t.Errorf("failures: %q", p.failures)
	}
	mustDo(t, p.events.Handle(t.Context(), &agent.SessionNew{SessionID: "s"}))
	if want := []string{"a logs heard", "b logs a:done1"}; !slices.Equal(p.host.told(), want) {
		t.Errorf("got %q, want %q", p.host.told(), want)
	}
}

func TestAtAGateOfADispatcherARewriteIsSeenByThoseBefore(t *testing.T) {
	p := newParts(t)
	p.hook("gate", `pi.on("tool_call", function(e) if e.input.command == "rm" then return { block = true, reason = "no rm" } end end)`)
	p.hook("rewrite", `pi.on("tool_call", function(e) return { input = { command = "rm" } } end)`)
	e := &agent.ToolCall{Name: "bash", Input: []byte(`{"command":"ls"}`)}
	mustDo(t, p.events.Handle(t.Context(), e))
	if !e.Block || e.BlockedBy != "gate" || e.Reason != "no rm" {
		t.Errorf("block %v by %q: %s", e.Block, e.BlockedBy, e.Reason)
	}
	p.behind.announceEnd()
	user := &agent.UserBash{Command: "ls"}
	mustDo(t, p.events.Handle(t.Context(), user))
	if user.Blocked == "" {
		t.Error("a gate is open after the end")
	}
}

func TestAGatekeeperClosesGates(t *testing.T) {
	p := newParts(t)
	g := gatekeeper{p.roster}
	gate := p.hook("gate", `pi.on("tool_call", function() end)`)
	missing := newHook(trust.Source{Name: "missing", Path: "/hooks/missing.lua"})
	p.roster.replace(append(slices.Clone(p.roster.list()), missing))

	if g.closeUnloaded(missing, errors.New("gone")); missing.unloaded() {
		t.Error("what appeared in a running session may be no gate")
	}
	missing.counts = true
	g.closeNew(p.roster.list())
	for tool, open := range map[string]bool{"read": true, "ls": true, "bash": false, "edit": false} {
		if reason := g.closedForTool(missing, tool); (reason == "") != open {
			t.Errorf("%s: %q", tool, reason)
		}
	}
	if w := g.warning(); !strings.HasPrefix(w, "until missing loads, only read, grep, find and ls work") {
		t.Error(w)
	}
	lost := newHook(trust.Source{Name: "lost", Path: "/hooks/lost.lua"})
	lost.counts = true
	p.roster.replace(append(slices.Clone(p.roster.list()), lost))
	g.closeNew(p.roster.list())
	if w := g.warning(); !strings.HasPrefix(w, "until missing and lost load, only read, grep") {
		t.Error(w)
	}
	g.open(lost)
	p.hook("reader", `pi.tool{ name = "read", description = "d", parameters = { type = "object" }, execute = function() end }`)
	if g.closedForTool(missing, "read") == "" {
		t.Error("a hook's read may do anything")
	}
	if g.open(missing); missing.closedAt(agent.KindUserBash) != "" || p.roster.wants(agent.KindUserBash) || g.warning() != "" {
		t.Error("it is not open again")
	}
	g.closeDisabled(gate, gate.current())
	if gate.closedAt(agent.KindToolCall) == "" || gate.closedAt(agent.KindUserBash) != "" {
		t.Error("only the gate that the hook had is closed")
	}
	if g.closeLost(missing); missing.closedAt(agent.KindUserBash) == "" || missing.unloaded() {
		t.Error("a lost version may have been a gate")
	}
}

func TestAReporterShowsAFailureOnceAndTellsItEachTime(t *testing.T) {
	p := newParts(t)
	h := p.hook("h", ``)
	err := errors.New("h.lua:1: bad")
	for range 2 {
		if !p.reports.failed(t.Context(), h, h.current(), "input", nil, err) {
			t.Error("not reported")
		}
	}
	if want := []string{"h failed: hook h: input: h.lua:1: bad", "h failed: "}; !slices.Equal(p.host.told(), want) {
		t.Errorf("told %q, want %q", p.host.told(), want)
	}
	if i := h.info("/", p.guard); i.LastErrors != 2 || i.LastError != err.Error() {
		t.Errorf("counted %d of %q", i.LastErrors, i.LastError)
	}
	h.traced.Store(true)
	before := len(p.host.told())
	p.reports.ran(t.Context(), h, "input", "{text}", time.Millisecond, nil)
	p.reports.ran(t.Context(), h, "input", "no opinion", time.Millisecond, err)
	if want := []string{"info: hook h: input: {text} in 1ms", "info: hook h: input: error: h.lua:1: bad in 1ms"}; !slices.Equal(p.host.told()[before:], want) {
		t.Errorf("traced %q, want %q", p.host.told()[before:], want)
	}
	p.behind.announceEnd()
	if p.reports.failed(t.Context(), h, h.current(), "input", nil, err) {
		t.Error("what the end of the program interrupts is no fault")
	}
}

func TestAStreamerJoinsDeltasForAHookThatIsBusy(t *testing.T) {
	p := newParts(t)
	h := p.hook("h", `pi.on("message_update", function() end)`)
	texts, busy := make(chan string, 10), make(chan struct{})
	s := &streamer{roster: p.roster, behind: p.behind, timeout: 10 * time.Second, grace: 0,
		ask: func(_ context.Context, _ *event.Spec, hooks []*hook, e agent.Event) {
			if hooks[0] != h {
				t.Error("another hook is asked")
			}
			u := e.(*agent.MessageUpdate)
			texts <- u.Delta.Text
			<-busy
			if strings.HasSuffix(u.Delta.Text, "c") {
				u.Abort = &agent.Abort{Reason: "enough"}
			}
		}}
	ctx, spec := t.Context(), p.roster.events[agent.KindMessageUpdate]
	pass := func(d llm.Delta) *agent.MessageUpdate {
		e := agent.NewMessageUpdate(d, func() *message.Message { return new(message.Message) }, nil)
		s.pass(ctx, spec, e)
		return e
	}
	for _, text := range []string{"a", "b", "c"} {
		if e := pass(llm.Delta{Kind: llm.DeltaText, Text: text}); e.Abort != nil {
			t.Error("stopped by a hook that has not answered")
		}
		if text == "a" {
			if got := <-texts; got != "a" {
				t.Errorf("the hook got %q", got)
			}
		}
	}
	close(busy)
	if e := pass(llm.Delta{Kind: llm.DeltaStop}); e.Abort == nil || e.Abort.Reason != "enough" {
		t.Error("the last update does not bring the abort")
	}
	if got := <-texts; got != "bc" {
		t.Errorf("the hook got %q", got)
	}
}

func TestALoaderInstallsWhatLoadsAndKeepsWhatRuns(t *testing.T) {
	p := newParts(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "hooks", "h.lua")
	mustDo(t, os.Mkdir(filepath.Dir(path), 0o755))
	write := func(code string) { mustDo(t, os.WriteFile(path, []byte(code), 0o644)) }
	effects := 0
	places := &trust.Places{AgentDir: dir, Cwd: t.TempDir()}
	l := &loader{places: places, guard: p.guard, dir: workdir(dir), roster: p.roster, gates: gatekeeper{p.roster}, audience: &p.audience,
		reports: p.reports, behind: p.behind, events: p.events, newInstance: p.instance, applyRegistered: func(context.Context) { effects++ },
		edits: &edits{guard: p.guard, dir: workdir(dir), audience: &p.audience, behind: p.behind}}

	write(`pi.on("tool_call", function() end)`)
	if skipped := l.load(t.Context()); len(skipped) > 0 || effects != 1 || !p.roster.wants(agent.KindToolCall) {
		t.Fatalf("skipped %v, took effect %d times; told %q", skipped, effects, p.host.told())
	}
	first := p.roster.list()[0].current()
	write(`syntax error`)
	if fresh, _ := l.update(t.Context(), false, true); len(fresh) > 0 || p.roster.list()[0].current() != first {
		t.Error("the last good version does not go on")
	}
	if !slices.ContainsFunc(p.host.told(), func(line string) bool { return strings.Contains(line, "the last good version keeps running") }) {
		t.Errorf("told %q", p.host.told())
	}
	write(`pi.on("user_bash", function() end)`)
	if fresh, _ := l.update(t.Context(), false, true); len(fresh) != 1 || p.roster.wants(agent.KindToolCall) || !p.roster.wants(agent.KindUserBash) {
		t.Error("the new version does not take the place of the old one")
	}
	h := p.roster.list()[0]
	if l.turnOff(t.Context(), []*hook{h}); h.current() != nil || p.roster.wants(agent.KindUserBash) {
		t.Error("what is turned off is in force")
	}
	if err := l.turnOn(t.Context(), []*hook{h}); err != nil || h.current() == nil {
		t.Errorf("turned on: %v", err)
	}
	mustDo(t, os.Remove(path))
	if _, doubtful := l.update(t.Context(), false, false); !doubtful || len(p.roster.list()) != 1 {
		t.Error("a file that is gone may be one that is being saved")
	}
	if l.update(t.Context(), false, true); len(p.roster.list()) != 0 {
		t.Error("the hook of a file that is gone stays")
	}
}

func TestThePersonIsAskedAboutEditsThatWait(t *testing.T) {
	ui, caught := new(fakeUI), make(chan bool, 1)
	a := new(audience)
	a.attach(new(noting), ui)
	b := newBackground()
	defer b.close(context.Background())
	guard := trust.NewForRun(t.TempDir())
	defer guard.Close()
	e := &edits{guard: guard, dir: "/project", audience: a, behind: b, reload: func(_ context.Context, _, sure bool) { caught <- sure }}
	var title string
	ui.ask = func(_ context.Context, _, question string) (string, bool, error) {
		title = question
		return "", false, nil
	}
	e.ask(t.Context(), []*trust.Pending{{Name: "gate", Path: "/project/gate.lua", Change: "changed"}})
	// It has no bytes, and was shown so.
	if sure := <-caught; !sure || !strings.Contains(title, "gate.lua was changed") {
		t.Errorf("asked %q", title)
	}
}

func TestTheWatchOfToolsEndsARunWhereNoPromptRuns(t *testing.T) {
	opened, idle := 0, true
	w := &toolWatch{open: func(context.Context) { opened++ }, isIdle: func() bool { return idle }}
	a := new(audience)
	a.attach(new(noting), nil)
	w.edits = &edits{guard: trust.NewForRun(t.TempDir()), audience: a, behind: newBackground()}
	defer w.edits.guard.Close()
	for _, e := range []agent.Event{&agent.ToolExecutionStart{}, &agent.ToolExecutionStart{}, &agent.ToolExecutionEnd{}, &agent.ToolExecutionEnd{}, &agent.TurnEnd{}, &agent.AgentSettled{}} {
		if !w.Wants(e.Kind()) {
			t.Errorf("%T does not matter to it", e)
		}
		mustDo(t, w.Handle(t.Context(), e))
	}
	if opened != 2 || w.running != 0 || w.Wants(agent.KindInput) {
		t.Errorf("opened %d times, %d tools run", opened, w.running)
	}
}

func TestHooksOfTheProjectRunOnlyWhenSomebodySaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*projectApproval)
		want   bool
	}{
		"nobody is asked":       {func(*projectApproval) {}, false},
		"the flag approves":     {func(p *projectApproval) { p.approve = true }, true},
		"the person says once":  {func(p *projectApproval) { p.ask = answers(trust.AnswerOnce) }, true},
		"the person says no":    {func(p *projectApproval) { p.ask = answers(trust.AnswerNo) }, false},
		"the person says never": {func(p *projectApproval) { p.ask = answers(trust.AnswerNever) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, cwd := newParts(t), t.TempDir()
			mustDo(t, os.MkdirAll(filepath.Join(cwd, ".pi/hooks"), 0o755))
			mustDo(t, os.WriteFile(filepath.Join(cwd, ".pi/hooks/h.lua"), nil, 0o644))
			d := &projectApproval{guard: p.guard, places: &trust.Places{AgentDir: t.TempDir(), Cwd: cwd}, events: p.events, audience: &p.audience}
			c.change(d)
			if got := d.decide(t.Context()); got != c.want {
				t.Errorf("they may run: %v", got)
			}
		})
	}
}

func answers(a trust.Answer) func(context.Context, trust.Question) trust.Answer {
	return func(context.Context, trust.Question) trust.Answer { return a }
}

func TestProvidersOfHooksGiveBackWhatTheyCovered(t *testing.T) {
	p := newParts(t)
	models := llm.NewModels(nil)
	models.Register(llm.ProviderSpec{Name: "acme", Default: "own"})
	r := &hookProviders{roster: p.roster, audience: new(audience), models: models, overlay: func(below *llm.ProviderSpec, s llm.ProviderSettings) llm.ProviderSpec {
		if below == nil {
			return llm.ProviderSpec{Name: s.Name}
		}
		spec := *below
		spec.Default += "+"
		return spec
	}}
	p.models = models
	p.hook("h", `pi.provider("acme", { headers = { a = "1" } })`)
	p.hook("other", `pi.provider("acme", { headers = { b = "2" } }) pi.provider("new", { stream = function() end })`)
	r.refresh()
	if spec, _ := models.Lookup("acme"); spec.Default != "own++" {
		t.Errorf("acme is %q", spec.Default)
	}
	p.roster.replace(nil)
	r.refresh()
	spec, _ := models.Lookup("acme")
	if _, ok := models.Lookup("new"); ok || spec.Default != "own" {
		t.Errorf("acme is %q, new is there: %v", spec.Default, ok)
	}
}

// plainTool is a tool of the program.
type plainTool struct {
	agent.Tool
	name string
}

func (t plainTool) Spec() llm.ToolSpec { return llm.ToolSpec{Name: t.name} }

func (n *noting) SetTools(tools []agent.Tool, by string) {
	line := "tools by " + by + ":"
	for _, t := range tools {
		line += " " + t.Spec().Name
	}
	n.note(line)
}

func TestAToolboxPutsToolsOfHooksInTheirPlaces(t *testing.T) {
	p := newParts(t)
	b := &toolbox{program: []agent.Tool{plainTool{name: "read"}, plainTool{name: "bash"}}, inactive: []agent.Tool{plainTool{name: "grep"}},
		mayHave: func(tool string) bool { return tool != "forbidden" }, roster: p.roster, audience: &p.audience}
	tool := func(name string) string {
		return `pi.tool{ name = "` + name + `", description = "d", parameters = { type = "object" }, execute = function() end } `
	}
	p.tools = b
	p.hook("h", tool("own")+tool("read")+tool("forbidden"))
	for range 2 { // the warning comes once
		b.Apply("")
	}
	b.Choose([]string{"grep", "own", "forbidden"}, "h")
	want := []string{"tools by : read bash own", "warning: hook h replaces the tool read", "tools by : read bash own", "tools by h: grep own"}
	if got := p.host.told(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if !b.IsOwn("grep") || b.IsOwn("own") {
		t.Error("the program's own tools are those that it was given")
	}
	first, second := p.hook("first", tool("read")+tool("new")), p.hook("second", tool("read")+tool("new"))
	for _, c := range []struct{ name, path, below string }{
		{"read", p.roster.list()[0].Path, "program"}, {"read", first.Path, "h"}, {"read", second.Path, "first"},
		{"new", first.Path, ""}, {"new", second.Path, "first"}, {"grep", second.Path, "program"},
	} {
		got := ""
		switch below := b.Below(c.name, c.path).(type) {
		case plainTool:
			got = "program"
		case *api.Tool:
			got = below.Source()
		}
		if got != c.below {
			t.Errorf("below %s of %s is that of %q, want %q", c.name, c.path, got, c.below)
		}
	}
}

func TestDialogsComeOneAfterTheOther(t *testing.T) {
	p := newParts(t)
	p.hook("h", `pi.on("ui_prompt_start", function(e) pi.log(e.kind) end)`)
	q := newDialogQueue(p.events)
	mustDo(t, q.Ask(t.Context(), "confirm", "first", func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		if err := q.Ask(ctx, "input", "second", nil); !errors.Is(err, context.Canceled) || !q.IsOpen() {
			t.Errorf("two dialogs are open: %v", err)
		}
		return nil
	}))
	if got := p.host.told(); q.IsOpen() || !slices.Equal(got, []string{"h logs confirm"}) {
		t.Errorf("told %q", got)
	}
}

// programUI is a front end that can show several dialogs.
type programUI struct{ agent.NoUI }

func (programUI) SeveralDialogs() bool { return true }

func TestDialogsOfAProgramDoNotWaitForEachOther(t *testing.T) {
	q := newDialogQueue(newParts(t).events)
	q.attach(programUI{})
	asked := 0
	mustDo(t, q.Ask(t.Context(), "confirm", "first", func(ctx context.Context) error {
		return q.Ask(ctx, "input", "second", func(context.Context) error { asked++; return nil })
	}))
	if q.attach(agent.NoUI{}); asked != 1 || q.several.Load() {
		t.Errorf("the second dialog was shown %d times", asked)
	}
}

func TestAQueueStartsEventsInTheirOrder(t *testing.T) {
	q, b := new(eventQueue), newBackground()
	var order []int
	first := q.add(b, func(own *turn) {
		q.add(b, func(*turn) { order = append(order, 2) })
		if q.begin(b) != nil {
			t.Error("somebody else gets the turn of an event that starts")
		}
		order = append(order, 1)
		own.end()
	})
	<-first
	b.close(t.Context())
	if !slices.Equal(order, []int{1, 2}) {
		t.Errorf("started %v", order)
	}
	select {
	case <-q.add(b, func(*turn) { t.Error("started after the end") }):
	case <-time.After(10 * time.Second):
		t.Error("an event that cannot start is waited for")
	}
}

func TestTheBackgroundEndsInOrder(t *testing.T) {
	b := newBackground()
	ctx, cancel := b.detach(t.Context())
	defer cancel()
	b.run(func() { <-ctx.Done() })
	if b.isEnding() || !b.announceEnd() || b.announceEnd() || !b.isEnding() {
		t.Error("the end is announced once")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	b.close(ended) // the time that was given is over, so what runs is cut off
	if ctx.Err() == nil || b.run(func() {}) {
		t.Error("something goes on after the end")
	}
}
