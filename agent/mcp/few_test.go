package mcp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pi/internal/testing/mcptest"
)

// handed is a server that an editor has handed over.
func handed(name, kind string) Entry {
	e := entry(name, kind)
	e.Exposure, e.Source = DirectIfFew, Source{Kind: FromClient}
	return e
}

// offered are the names of the tools that the model is given, of each server the one that says a
// text back.
func (l *lab) offered() (names []string) {
	for _, t := range l.Tools(nil) {
		if name := t.Spec().Name; name == ToolName || name == Name("a", "echo") || name == Name("b", "echo") {
			names = append(names, name)
		}
	}
	return names
}

func TestFewToolsAreDirect(t *testing.T) {
	nothing := Entry{Name: "b", Command: "no-such-program", Exposure: DirectIfFew}
	for _, test := range []struct {
		name    string
		entries []Entry
		want    []string
		silent  int
	}{
		{"few", []Entry{handed("a", "good")}, []string{Name("a", "echo")}, 0},
		{"many together", []Entry{handed("a", "good"), handed("b", "good")}, []string{ToolName}, 0},
		{"many", []Entry{handed("a", "many")}, []string{ToolName}, 0},
		{"one that does not start does not count", []Entry{handed("a", "good"), nothing}, []string{ToolName, Name("a", "echo")}, 1},
		{"those of the user do not count", []Entry{handed("a", "good"), entry("b", "good")}, []string{ToolName, Name("a", "echo")}, 0},
	} {
		l := open(t, Options{Entries: test.entries})
		silent, waited := l.AwaitDirect(l.within())
		if got := l.offered(); !waited || len(silent) != test.silent || !slices.Equal(got, test.want) {
			t.Errorf("%s: offered %q, silent %v", test.name, got, silent)
		}
		if _, waited := l.AwaitDirect(l.within()); waited {
			t.Errorf("%s: there is something to wait for again", test.name)
		}
	}
}

func TestToolsThatAreDirectCanBeCalledAndAreTold(t *testing.T) {
	l := open(t, Options{Entries: []Entry{handed("s", "good")}})
	if _, waited := l.AwaitDirect(l.within()); !waited {
		t.Fatal("nothing was waited for")
	}
	for _, tool := range l.Tools(nil) {
		if tool.Spec().Name == Name("s", "echo") {
			if r, err := tool.Run(l.within(), []byte(`{"text":"hello"}`), nil); err != nil || text(r.Content) != "hello" {
				t.Errorf("%+v, %v", r, err)
			}
		}
	}
	if s, err := l.Server("s"); err != nil || s.Exposure != Direct || s.Direct != s.Tools || s.Tokens == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if section := l.Section(); section != "" {
		t.Errorf("a row for what stands there as a tool: %s", section)
	}
}

func TestABegunServerIsStartedOnceAndNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Options{Dir: dir, Entries: []Entry{handed("a", "good"), entry("b", "good")}})
	ofClient := func(e *Entry) bool { return e.Source.Kind == FromClient }
	l.Begin(ofClient)
	if s, _ := l.Server("b"); s.State != StateIdle {
		t.Errorf("a server of the user: %s", s.State)
	}
	if silent, waited := l.AwaitDirect(l.within()); !waited || len(silent) > 0 {
		t.Errorf("%v, %v", silent, waited)
	}
	eventually(t, "it is told once that it starts, and that it is ready", func() bool {
		return slices.Equal(l.states(), []State{StateStarting, StateReady})
	})
	l.Close()

	l = open(t, Options{Dir: dir, Entries: []Entry{handed("a", "good")}}) // it is known by now
	l.Begin(ofClient)
	if silent, waited := l.AwaitDirect(l.within()); !waited || len(silent) > 0 || !slices.Equal(l.offered(), []string{Name("a", "echo")}) {
		t.Errorf("%v, %v, %q", silent, waited, l.offered())
	}
	if got := l.states(); len(got) > 0 {
		t.Errorf("it was started: %v", got)
	}
	l.Close()
	l.Begin(func(*Entry) bool { return true }) // nothing is started any more
}

func TestAServerThatDoesNotAnswerDelaysNothingButTheFirstPrompt(t *testing.T) {
	l := open(t, Options{Entries: []Entry{handed("a", "silent")}})
	l.Begin(func(*Entry) bool { return true }) // returns, though the server does not answer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, waited := l.AwaitDirect(ctx); !waited {
		t.Error("nothing was waited for")
	}
	if s, _ := l.Server("a"); s.State != StateStarting || s.Exposure != DirectIfFew {
		t.Errorf("who gave up before has decided: %+v", s)
	}
}

func TestAFailedServerIsNotStartedAgainForTheFirstPrompt(t *testing.T) {
	later := filepath.Join(t.TempDir(), "later")
	e := handed("a", "good")
	e.Command = later
	l := open(t, Options{Entries: []Entry{e}})
	l.Begin(func(*Entry) bool { return true })
	eventually(t, "it has failed", func() bool { return slices.Contains(l.states(), StateFailed) })
	if silent, waited := l.AwaitDirect(l.within()); !waited || len(silent) > 0 {
		t.Errorf("%v, %v", silent, waited)
	}
	if got := l.states(); !slices.Equal(got, []State{StateStarting, StateFailed}) {
		t.Errorf("states %v", got)
	}

	program, _ := mcptest.Command("good")
	if err := os.Symlink(program, later); err != nil {
		t.Skip(err)
	}
	if found := l.Search(l.within(), "echo", nil); len(found.Hits) == 0 {
		t.Errorf("it is there now: %+v", found)
	}
	if got := l.offered(); !slices.Equal(got, []string{ToolName}) {
		t.Errorf("the tools have changed within the session: %q", got)
	}
	if err := l.Refresh(l.within(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := l.offered(); !slices.Equal(got, []string{Name("a", "echo")}) {
		t.Errorf("after a refresh: %q", got)
	}
}

// Tools are read while it is settled how they are offered.
func TestSettlingIsSeenWholeOrNotAtAll(t *testing.T) {
	l := open(t, Options{Entries: []Entry{handed("a", "good")}})
	if err := l.servers()[0].know(l.within()); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			_, _, _, _ = l.Tools(nil), l.Search(t.Context(), "echo", nil), l.List(), l.Known("a")
		}
	}()
	l.AwaitDirect(l.within())
	<-done
	if got := l.offered(); !slices.Equal(got, []string{Name("a", "echo")}) {
		t.Errorf("offered %q", got)
	}
}
