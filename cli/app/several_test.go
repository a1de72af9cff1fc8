package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pi/agent"
	"pi/serve/acp"
)

// together is a front end that notes the answer, and whose first tool call begins only when
// the others are at one too.
type together struct {
	watching
	once    sync.Once
	arrived *sync.WaitGroup
}

func (f *together) Wants(k agent.Kind) bool {
	return k == agent.KindToolExecutionStart || f.watching.Wants(k)
}

func (f *together) Handle(ctx context.Context, e agent.Event) error {
	if _, call := e.(*agent.ToolExecutionStart); !call {
		return f.watching.Handle(ctx, e)
	}
	f.once.Do(func() {
		f.arrived.Done()
		f.arrived.Wait()
	})
	return nil
}

// project makes a folder with settings and a hook of its own.
func project(t *testing.T, dir, thinking string) {
	t.Helper()
	writePrompt(t, filepath.Join(dir, ".pi", "config.toml"), fmt.Sprintf("thinking = %q\n", thinking))
	writePrompt(t, filepath.Join(dir, ".pi", "hooks", "count.lua"), `local answers = 0
		pi.on("message_end", function(e, ctx)
			if e.message.role ~= "assistant" then return end
			answers = answers + 1
			e.message.content[#e.message.content + 1] = { type = "text", text = "|" .. answers .. " in " .. ctx.cwd }
			return { message = e.message }
		end)`)
}

func TestTwoRunsAreOpenInTwoFoldersAtOnce(t *testing.T) {
	first := place(t, Options{}, nil)
	root := filepath.Dir(first.Cwd)
	thinking := map[string]string{"one": "low", "two": "high"}
	var arrived, done sync.WaitGroup
	arrived.Add(len(thinking))
	runs, fronts := map[string]*run{}, map[string]*together{}
	for name, level := range thinking {
		dir := filepath.Join(root, name)
		project(t, dir, level)
		p, err := New(Options{Model: "demo/tour", Hooks: HookFlags{Approve: true}}, dir)
		if err != nil {
			t.Fatal(err)
		}
		r, f := p.newRun(), &together{arrived: &arrived}
		if err := r.approve(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.open(t.Context(), front{f, f}, "acp", nil); err != nil {
			t.Fatal(err)
		}
		runs[name], fronts[name] = r, f
	}
	for name, r := range runs {
		done.Go(func() {
			if err := r.agent.Prompt(t.Context(), agent.Prompt{Text: "run `pwd; echo " + name + " > mine`"}); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	for name, r := range runs {
		checkOneOfSeveral(t, r, fronts[name], filepath.Join(root, name), thinking[name])
	}
	// The end of one leaves the other alone, and its session free.
	if err := runs["one"].close(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := Options{Model: "demo/tour", Session: SessionFlags{Resume: Resume{Ref: runs["one"].agent.Session().File()}}}
	p, err := New(o, filepath.Join(root, "one"))
	if err != nil {
		t.Fatal(err)
	}
	again, f := p.newRun(), new(watching)
	if err := again.open(t.Context(), front{f, f}, "acp", nil); err != nil {
		t.Fatal(err)
	}
	if err := runs["two"].agent.Prompt(t.Context(), agent.Prompt{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if got := fronts["two"].answer; !strings.Contains(got, "|3 in "+filepath.Join(root, "two")) {
		t.Errorf("after the end of the other: %q", got)
	}
	for _, r := range []*run{again, runs["two"]} {
		if err := r.close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// noListener is a listener that wants nothing.
type noListener struct{}

func (noListener) Wants(agent.Kind) bool                     { return false }
func (noListener) Handle(context.Context, agent.Event) error { return nil }

// Memory tells whether it was compiled again: the compiler takes ten times as much of it as
// all else that a session with these hooks begins with.
func TestTheSecondSessionOfAnEditorCompilesNothing(t *testing.T) {
	p := place(t, Options{Model: "demo/tour", Session: SessionFlags{None: true}}, functionHooks())
	open := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := editors{p}.Open(t.Context(), acp.SessionRequest{Cwd: p.Cwd, Listener: noListener{}, UI: new(watching)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if first, second := open(), open(); second > first/3 {
		t.Errorf("the first session took %d bytes, the second %d", first, second)
	}
}

// checkOneOfSeveral checks that a run whose first prompt has ended is that of dir alone.
func checkOneOfSeveral(t *testing.T, r *run, f *together, dir, thinking string) {
	t.Helper()
	if got := f.answer; !strings.Contains(got, "|2 in "+dir) { // a call and an answer, counted by a hook of its own
		t.Errorf("in %s: %q", dir, got)
	}
	for _, s := range r.settings.List() {
		if s.Key == "thinking" && s.Value != strconv.Quote(thinking) {
			t.Errorf("in %s the level is to be %s, not %s as its settings say", dir, s.Value, thinking)
		}
	}
	if wrote, err := os.ReadFile(filepath.Join(dir, "mine")); err != nil || strings.TrimSpace(string(wrote)) != filepath.Base(dir) {
		t.Errorf("in %s the command wrote %q: %v", dir, wrote, err)
	}
	kept, err := os.ReadFile(r.agent.Session().File())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		other := filepath.Join(filepath.Dir(dir), name)
		if has := strings.Contains(string(kept), other); has != (other == dir) {
			t.Errorf("the session of %s names %s: %v", dir, other, has)
		}
	}
}
