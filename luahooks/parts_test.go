package luahooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/trust"
)

func TestGatesAreClosedUntilThereIsSomebodyToAsk(t *testing.T) {
	r := newRig(t, map[string]string{"gate.lua": `pi.on("tool_call", function() end)`}).chain.roster
	gate, missing := r.list()[0], newHook(trust.Source{Name: "missing", Path: "/hooks/missing.lua"})
	r.replace(append(slices.Clone(r.list()), missing))

	if r.closeUnloaded(missing, errors.New("gone")); missing.unloaded() {
		t.Error("what appeared in a running session may be no gate")
	}
	missing.counts = true
	r.closeNew(r.list())
	for tool, open := range map[string]bool{"read": true, "ls": true, "bash": false, "edit": false} {
		if reason := r.closedForTool(missing, tool); (reason == "") != open {
			t.Errorf("%s: %q", tool, reason)
		}
	}
	lost := newHook(trust.Source{Name: "lost", Path: "/hooks/lost.lua"})
	lost.counts = true
	r.replace(append(slices.Clone(r.list()), lost))
	r.closeNew(r.list())
	if w := r.gateWarning(); !strings.HasPrefix(w, "until missing and lost load, only read, grep") {
		t.Error(w)
	}
	r.openGates(lost)
	if r.openGates(missing); missing.closedAt(agent.KindUserBash) != "" || r.wants(agent.KindUserBash) || r.gateWarning() != "" {
		t.Error("it is not open again")
	}
	r.closeDisabled(gate, gate.current())
	if gate.closedAt(agent.KindToolCall) == "" || gate.closedAt(agent.KindUserBash) != "" {
		t.Error("only the gate that the hook had is closed")
	}
	if r.closeLost(missing); missing.closedAt(agent.KindUserBash) == "" || missing.unloaded() {
		t.Error("a lost version may have been a gate")
	}
}

func TestWhatTheEndOfTheProgramInterruptsIsNoFault(t *testing.T) {
	r := newRig(t, map[string]string{"h.lua": ``})
	h := r.chain.roster.list()[0]
	r.chain.Close(t.Context())
	r.chain.loader.failed(t.Context(), h, h.current(), "input", nil, errors.New("h.lua:1: bad"))
	r.mustBeQuiet()
}

func TestTheUserIsAskedAboutEditsThatWait(t *testing.T) {
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
			guard, cwd := trust.NewForRun(t.TempDir()), t.TempDir()
			defer guard.Close()
			mustDo(t, os.MkdirAll(filepath.Join(cwd, ".pi/hooks"), 0o755))
			mustDo(t, os.WriteFile(filepath.Join(cwd, ".pi/hooks/h.lua"), nil, 0o644))
			d := &projectApproval{guard: guard, places: &trust.Places{AgentDir: t.TempDir(), Cwd: cwd}, events: &dispatcher{roster: newRoster("print", nil), audience: new(audience)}, audience: new(audience)}
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

func TestToolsOfHooksStandInTheirPlaces(t *testing.T) {
	tool := func(name string) string {
		return `pi.tool{ name = "` + name + `", description = "d", parameters = { type = "object" }, execute = function() end } `
	}
	r := newRig(t, map[string]string{"h.lua": tool("own") + tool("read") + tool("forbidden"),
		"i_first.lua": tool("read") + tool("new"), "j_second.lua": tool("read") + tool("new")}, func(o *Options) {
		o.Tools, o.Inactive = []agent.Tool{namedTool("read"), namedTool("bash")}, []agent.Tool{namedTool("grep")}
		o.MayHave = func(tool string) bool { return tool != "forbidden" }
	})
	b, hooks := &r.chain.tools, r.chain.roster.list()
	b.Apply("")
	if got := r.active(); got != "read bash own new" {
		t.Errorf("active are %s", got)
	}
	if b.Choose([]string{"grep", "own", "forbidden"}, "h"); r.active() != "grep own" {
		t.Errorf("chosen are %s", r.active())
	}
	if n := strings.Count(strings.Join(r.host.notices(), "\n"), "hook h replaces the tool read"); n != 1 {
		t.Errorf("that a tool is replaced is told %d times", n)
	}
	if !b.IsOwn("grep") || b.IsOwn("own") {
		t.Error("the program's own tools are those that it was given")
	}
	for _, c := range []struct {
		name  string
		hook  int
		below string
	}{{"read", 0, "program"}, {"read", 1, "h"}, {"read", 2, "i_first"}, {"new", 1, ""}, {"new", 2, "i_first"}, {"grep", 2, "program"}} {
		got := ""
		switch below := b.Below(c.name, hooks[c.hook].Path).(type) {
		case nil:
		case *api.Tool:
			got = below.Source()
		default:
			got = "program"
		}
		if got != c.below {
			t.Errorf("below %s of %s is that of %q, want %q", c.name, hooks[c.hook].Name, got, c.below)
		}
	}
}

func TestADialogThatWaitsForAnotherCanBeLeft(t *testing.T) {
	q := newRig(t, nil).chain.dialogs
	mustDo(t, q.Ask(t.Context(), "confirm", "first", func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		if err := q.Ask(ctx, "input", "second", nil); !errors.Is(err, context.Canceled) || !q.IsOpen() {
			t.Errorf("two dialogs are open: %v", err)
		}
		return nil
	}))
	if q.IsOpen() {
		t.Error("a dialog that has ended is open")
	}
}

// programUI is a front end that can show several dialogs.
type programUI struct{ agent.NoUI }

func (programUI) SeveralDialogs() bool { return true }

func TestDialogsOfAProgramDoNotWaitForEachOther(t *testing.T) {
	q := newRig(t, nil).chain.dialogs
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
	first := q.add(b, func(own *slot) {
		q.add(b, func(*slot) { order = append(order, 2) })
		if q.begin(b) != nil {
			t.Error("somebody else gets the slot of an event that starts")
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
	case <-q.add(b, func(*slot) { t.Error("started after the end") }):
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
