package luahooks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/trust"
)

func TestWhatTheEndOfTheProgramInterruptsIsNoFault(t *testing.T) {
	r := newRig(t, map[string]string{"h.lua": ``})
	h := r.chain.roster.list()[0]
	r.chain.Close(t.Context())
	r.chain.loader.failed(t.Context(), h, h.current(), "input", nil, errors.New("h.lua:1: bad"))
	r.mustBeQuiet()
}

func TestTheWatchOfToolsEndsARunWhereNoPromptRuns(t *testing.T) {
	opened, idle := 0, true
	window := &toolWindow{open: func(context.Context) { opened++ }}
	w := window.join(func() bool { return idle })
	a := new(audience)
	a.attach(new(noting), nil)
	window.edits = &edits{guard: trust.NewForRun(t.TempDir()), audience: a, behind: newBackground()}
	defer window.edits.guard.Close()
	for _, e := range []agent.Event{&agent.ToolExecutionStart{}, &agent.ToolExecutionStart{}, &agent.ToolExecutionEnd{}, &agent.ToolExecutionEnd{}, &agent.TurnEnd{}, &agent.AgentSettled{}} {
		if !w.Wants(e.Kind()) {
			t.Errorf("%T does not matter to it", e)
		}
		mustDo(t, w.Handle(t.Context(), e))
	}
	if opened != 2 || len(w.calls) != 0 || w.Wants(agent.KindInput) {
		t.Errorf("opened %d times, %d tools run", opened, len(w.calls))
	}
}

func TestHooksOfTheProjectRunOnlyWhenSomebodySaysSo(t *testing.T) {
	answers := func(a trust.Answer) func(*Options) {
		return func(o *Options) {
			o.AskProject = func(context.Context, trust.Question) trust.Answer { return a }
		}
	}
	for name, c := range map[string]struct {
		change func(*Options)
		run    int
	}{
		"nobody is asked":       {func(*Options) {}, 0},
		"the flag approves":     {func(o *Options) { o.ApproveProject = true }, 1},
		"the person says once":  {answers(trust.AnswerOnce), 1},
		"the person says no":    {answers(trust.AnswerNo), 0},
		"the person says never": {answers(trust.AnswerNever), 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, func(o *Options) {
				mustDo(t, os.MkdirAll(filepath.Join(o.Cwd, ".pi/hooks"), 0o755))
				mustDo(t, os.WriteFile(filepath.Join(o.Cwd, ".pi/hooks/h.lua"), nil, 0o644))
			}, c.change)
			if got := len(r.chain.Hooks()); got != c.run {
				t.Errorf("%d of them run", got)
			}
		})
	}
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

func TestWhatModulesDoBesideAVMEndsWithItAndCloseWaits(t *testing.T) {
	ends := map[string]func(r *rig){
		"reload": func(r *rig) { r.write("a.lua", "-- new"); r.chain.Reload(context.Background(), false) },
		"exit":   func(*rig) {},
	}
	for name, end := range ends {
		r := newRig(t, map[string]string{"a.lua": "-- old"})
		spawn := r.chain.roster.list()[0].current().spawn
		told, release, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var ended atomic.Bool
		if !spawn(func(ctx context.Context) {
			<-ctx.Done()
			close(told)
			<-release
			ended.Store(true)
		}) {
			t.Fatalf("%s: it did not begin", name)
		}
		end(r)
		go func() {
			r.chain.Close(context.Background())
			close(closed)
		}()
		<-told
		select {
		case <-closed:
			t.Errorf("%s: Close did not wait", name)
		default:
		}
		close(release)
		<-closed
		if !ended.Load() {
			t.Errorf("%s: it had not ended when Close returned", name)
		}
		if spawn(func(context.Context) { t.Error("it ran") }) {
			t.Errorf("%s: something began afterwards", name)
		}
	}
}

func TestARosterFindsHooksByNameAndByPath(t *testing.T) {
	r := newRoster("print", nil)
	gate := newHook(trust.Source{Name: "gate", Path: "/home/hooks/gate.lua"})
	mine := newHook(trust.Source{Name: "gate", Path: "/project/.pi/hooks/gate.lua"})
	r.replace([]*hook{gate, mine})
	for name, want := range map[string]int{"gate": 2, "/home/hooks/gate.lua": 1, ".pi/hooks/gate.lua": 1} {
		if found, err := r.named(name, "/project"); err != nil || len(found) != want {
			t.Errorf("%s: %d hooks, %v", name, len(found), err)
		}
	}
	if _, err := r.named("gat", "/project"); err == nil || err.Error() != `no hook "gat"; did you mean "gate"?` {
		t.Error(err)
	}
	if got := r.Summary(); got != "0 hooks, 2 failed" {
		t.Error(got)
	}
}

func TestARosterCountsWhoListens(t *testing.T) {
	r := newRoster("print", nil)
	r.count("tool_call", 2)
	r.count("tool_call", -1)
	if !r.wants(agent.KindToolCall) || r.wants(agent.KindUserBash) {
		t.Error("one handler of tool_call is left, and none of user_bash")
	}
	if r.count("tool_call", -1); r.wants(agent.KindToolCall) {
		t.Error("nobody listens any more")
	}
	if !r.knows("tool_call") || !r.knows("mine:done") || r.knows("tool_cal") {
		t.Error("events are those of the table and those with a colon")
	}
}

// A gate whose file is saved, and still does not load, is shut anew.
func TestAGateThatIsShutAnewIsAtNoMomentOpen(t *testing.T) {
	r, h := newRoster("print", nil), newHook(trust.Source{Name: "gate", Path: "/hooks/gate.lua"})
	h.counts = true
	r.closeUnloaded(h, errors.New("why"))
	var done atomic.Bool
	var looks sync.WaitGroup
	looks.Go(func() {
		for !done.Load() {
			if !r.wants(agent.KindToolCall) || h.closed.Load() == nil {
				t.Error("it was open for a moment")
				return
			}
		}
	})
	for range 200_000 {
		r.closeUnloaded(h, nil)
	}
	done.Store(true)
	looks.Wait()
	if r.openGates(h); r.wants(agent.KindToolCall) {
		t.Error("it is counted twice")
	}
}

func TestPathsAreShownBelowTheWorkingDirectory(t *testing.T) {
	for path, want := range map[string]string{"/project/a.lua": "a.lua", "/project/b/c": "b/c", "/projects/a": "/projects/a", "/": "/", "/project/..b": "..b"} {
		if got := workdir("/project").shown(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}
