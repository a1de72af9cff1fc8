package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pi/session"
)

// worker is what modes change. Its model offers all levels but max, which it takes for high.
type worker struct {
	t       *testing.T
	session *session.Session
	busy    bool
	limited bool
	only    []Tool
	level   string
	told    []string
}

func newWorker(t *testing.T) (*worker, *Modes) {
	w := &worker{t: t, session: session.New(session.Options{Cwd: "/p"}), level: "low"}
	m := w.modes()
	m.Start(t.Context())
	return w, m
}

func (w *worker) modes() *Modes {
	return NewModes(ModeOptions{Tools: w, Thinking: w, Session: func() *session.Session { return w.session }, IsIdle: func() bool { return !w.busy },
		Emit: func(_ context.Context, name, previous, source string) {
			w.told = append(w.told, fmt.Sprintf("%q after %q by %s", name, previous, source))
		},
		Warn: func(_ context.Context, text string) { w.told = append(w.told, "warning: "+text) }})
}

func (w *worker) Restrict(only []Tool) { w.limited, w.only = true, only }
func (w *worker) Lift()                { w.limited, w.only = false, nil }
func (w *worker) Wish() string         { return w.level }

func (w *worker) InForce(level string) string {
	if level == "max" {
		return "high"
	}
	return level
}

func (w *worker) Use(level string) func(context.Context) {
	w.level = level
	return func(context.Context) { w.told = append(w.told, "level "+level) }
}

// tools are the active ones; "all" without a limit.
func (w *worker) tools() string {
	if !w.limited {
		return "all"
	}
	var names []string
	for _, t := range w.only {
		names = append(names, t.Spec().Name)
	}
	return strings.Join(names, " ")
}

func (w *worker) drain() string {
	told := strings.Join(w.told, "; ")
	w.told = nil
	return told
}

// entries are the data of the entries about modes.
func (w *worker) entries() string {
	var all []string
	for _, e := range w.session.Branch() {
		if e.IsModeChange() {
			body, err := session.Body[struct{ Data modeState }](e)
			if err != nil {
				w.t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%q", body.Data.Mode))
		}
	}
	return strings.Join(all, " ")
}

func (w *worker) say() {
	if _, err := w.session.Append("mine", nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *worker) mustSelect(m *Modes, name string) {
	w.t.Helper()
	if err := m.Select(w.t.Context(), name, ModeByKey); err != nil {
		w.t.Fatal(err)
	}
}

func TestAModeChangesToolsAndLevel(t *testing.T) {
	w, m := newWorker(t)
	m.Offer(t.Context(), []Mode{{Name: "plan", Tools: []Tool{echo("read")}, Thinking: "max", Section: "S"}, {Name: "deep", Thinking: "medium"}, {Name: "none", Tools: []Tool{}}}, []Tool{echo("look")})
	for _, step := range []struct{ to, chooses, tools, level, section, told string }{
		{"plan", "", "read", "max", "S", `"plan" after "" by key; level max`},
		{"plan", "", "read", "max", "S", ``},
		{"deep", "", "all", "medium", "", `"deep" after "plan" by key; level medium`},
		{"none", "", "", "low", "", `"none" after "deep" by key; level low`},
		{"plan", "high", "read", "high", "S", `"plan" after "none" by key; level max`},  // what the mode has, in force
		{"off", "", "all", "low", "", `"" after "plan" by key; level low`},              // so nobody chose another
		{"plan", "off", "read", "off", "S", `"plan" after "" by key; level max`},        // somebody does
		{"DEFAULT", "", "all", "off", "", `"" after "plan" by key`},                     // and it stays
		{"deep", "medium", "all", "medium", "", `"deep" after "" by key; level medium`}, // the same as that of the mode
		{"", "", "all", "off", "", `"" after "deep" by key; level off`},
	} {
		w.mustSelect(m, step.to)
		if step.chooses != "" {
			w.level = step.chooses
		}
		if told := w.drain(); w.tools() != step.tools || w.level != step.level || m.Section() != step.section || told != step.told {
			t.Errorf("%q: tools %q, level %s, section %q, told %s; want %+v", step.to, w.tools(), w.level, m.Section(), told, step)
		}
	}
}

func TestTheSessionSaysWhichModeIsOn(t *testing.T) {
	w, m := newWorker(t)
	m.Offer(t.Context(), []Mode{{Name: "plan", Thinking: "high"}, {Name: "ask"}}, nil)
	wants := func(want string) {
		t.Helper()
		if got := w.entries(); got != want {
			t.Errorf("it says %s, want %s", got, want)
		}
	}
	w.mustSelect(m, "plan")
	wants("") // an empty session is not begun by it
	w.say()
	if err := m.Record(); err != nil {
		t.Fatal(err)
	}
	wants(`"plan"`)
	w.mustSelect(m, "ask")
	wants(`"plan" "ask"`)
	w.busy = true
	w.mustSelect(m, "plan")
	w.mustSelect(m, "")
	wants(`"plan" "ask"`)
	if err := m.Record(); err != nil {
		t.Fatal(err)
	}
	if err := m.Record(); err != nil {
		t.Fatal(err)
	}
	wants(`"plan" "ask" ""`)
	w.busy = false
	w.mustSelect(m, "plan")

	again := w.modes() // the program is started again
	if was, is := again.Restore(w.session); was != "" || is != "plan" || again.Current() != "plan" {
		t.Errorf("restored %q after %q", is, was)
	}
	again.Offer(t.Context(), []Mode{{Name: "plan", Thinking: "high"}}, nil)
	again.Start(t.Context())
	w.drain()
	w.mustSelect(again, "off")
	if w.level != "low" {
		t.Errorf("the level from before the mode is lost: %s", w.level)
	}
}

func TestTheModeStaysWhereTheBranchSaysSomethingElse(t *testing.T) {
	w, m := newWorker(t)
	m.Offer(t.Context(), []Mode{{Name: "plan"}}, nil)
	w.say()
	before := w.session.Leaf()
	w.mustSelect(m, "plan")
	if _, err := w.session.MoveTo(before, session.Draft{Type: session.TypeCustom, Body: session.Custom{CustomType: session.LeafMove}}); err != nil {
		t.Fatal(err)
	}
	m.Stay(w.session)
	if err := m.Record(); err != nil || m.Current() != "plan" || w.entries() != `"plan"` {
		t.Errorf("after going back: %q, the branch says %s, %v", m.Current(), w.entries(), err)
	}
	w.session = session.New(session.Options{Cwd: "/p"})
	m.Stay(w.session)
	w.say()
	if m.RecordAtRest(t.Context()); w.entries() != `"plan"` {
		t.Errorf("a new session says %s", w.entries())
	}
	m.Stay(w.session)
	if m.RecordAtRest(t.Context()); w.entries() != `"plan"` {
		t.Errorf("it is said twice: %s", w.entries())
	}
}

func TestOfAModeThatNobodyHasToolsThatLookAreLeft(t *testing.T) {
	w, m := newWorker(t)
	plan := []Mode{{Name: "plan", Section: "S"}}
	m.Offer(t.Context(), plan, []Tool{echo("look")})
	w.say()
	w.mustSelect(m, "plan")
	w.drain()

	again := w.modes()
	again.Restore(w.session)
	if w.tools() != "" {
		t.Errorf("before anything is offered there are the tools %q", w.tools())
	}
	again.Offer(t.Context(), nil, []Tool{echo("look")})
	if told := w.drain(); told != "" || w.tools() != "look" || !again.IsMissing() || again.Section() != "" {
		t.Errorf("before the start: tools %q, told %s", w.tools(), told)
	}
	again.Start(t.Context())
	again.Offer(t.Context(), nil, []Tool{echo("look"), echo("read")})
	told := w.drain()
	if !strings.HasPrefix(told, `"plan" after "" by restore; warning: the session is in the mode "plan"`) || strings.Count(told, "warning") != 1 || w.tools() != "look read" {
		t.Errorf("tools %q, told %s", w.tools(), told)
	}
	again.Offer(t.Context(), plan, nil)
	if w.tools() != "all" || again.IsMissing() || again.Section() != "S" {
		t.Errorf("when it is there again: tools %q", w.tools())
	}
	again.Offer(t.Context(), nil, nil)
	if told := w.drain(); strings.Count(told, "warning") != 1 {
		t.Errorf("when it has gone again: %s", told)
	}
	w.mustSelect(again, "off")
	if w.tools() != "all" || again.IsMissing() {
		t.Errorf("after somebody chose: %q", w.tools())
	}
}

func TestWhatIsSelectedBeforeTheStartIsToldThere(t *testing.T) {
	plan := []Mode{{Name: "plan"}, {Name: "ask", Thinking: "high"}}
	for name, want := range map[string]string{"": `"plan" after "" by restore`, "ask": `"ask" after "" by flag`, "off": "", "plan": `"plan" after "" by restore`} {
		w, m := newWorker(t)
		m.Offer(t.Context(), plan, nil)
		w.say()
		w.mustSelect(m, "plan")
		again := w.modes()
		again.Restore(w.session)
		again.Offer(t.Context(), plan, nil)
		w.drain()
		if name != "" {
			if err := again.Select(t.Context(), name, ModeByFlag); err != nil {
				t.Fatal(err)
			}
		}
		if told := w.drain(); told != "" {
			t.Errorf("%q: told %s before the start", name, told)
		}
		if again.Start(t.Context()); w.drain() != want {
			t.Errorf("%q: at the start not told %s", name, want)
		}
	}
}

func TestAnUnknownModeChangesNothing(t *testing.T) {
	w, m := newWorker(t)
	for _, c := range []struct {
		offered []string
		want    string
	}{
		{nil, `no mode "plna"; no hook has a mode`},
		{[]string{"plan", "ask"}, `no mode "plna", did you mean "plan"?`},
		{[]string{"ask", "auto"}, `no mode "plna"; there are ask, auto`},
	} {
		var modes []Mode
		for _, name := range c.offered {
			modes = append(modes, Mode{Name: name})
		}
		m.Offer(t.Context(), modes, nil)
		if err := m.Set(t.Context(), "plna"); err == nil || err.Error() != c.want || m.Current() != "" || w.drain() != "" {
			t.Errorf("%q: %v, want %s", c.offered, err, c.want)
		}
	}
}

func TestModesAreChosenByManyAtOnce(t *testing.T) {
	w, m := newWorker(t)
	var mu sync.Mutex // of what the worker is told
	m.o.Emit = func(context.Context, string, string, string) { mu.Lock(); w.told = append(w.told, "x"); mu.Unlock() }
	m.Offer(t.Context(), []Mode{{Name: "a", Tools: []Tool{echo("a")}}, {Name: "b", Tools: []Tool{echo("b")}}}, nil)
	w.say()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := m.Select(t.Context(), []string{"a", "b", ""}[i%3], ModeByHook); err != nil {
				t.Error(err)
			}
			_, _, _ = m.List(), m.Section(), m.IsMissing()
		})
	}
	all.Wait()
	want := m.Current()
	if want == "" {
		want = "all"
	}
	if w.tools() != want {
		t.Errorf("in mode %q the tools are %q", m.Current(), w.tools())
	}
	if says := strings.Fields(w.entries()); len(says) == 0 || says[len(says)-1] != fmt.Sprintf("%q", m.Current()) {
		t.Errorf("the session says %q of %q", says, m.Current())
	}
}

// planning offers r a mode that has one tool.
func planning(r *harness, tools ...Tool) {
	r.Start(context.Background())
	r.Modes().Offer(context.Background(), []Mode{{Name: "plan", Tools: tools, Section: "PLAN"}}, nil)
}

// modeIn is the mode in which a program would resume the session of r.
func modeIn(t *testing.T, r *harness) string {
	t.Helper()
	return New(Options{Session: again(r), Models: r.Models(), Model: r.Model(), Thinking: "off"}).Modes().Current()
}

func mustMode(t *testing.T, r *harness, name string) {
	t.Helper()
	if err := r.Modes().Select(t.Context(), name, ModeByCommand); err != nil {
		t.Fatal(err)
	}
}

func TestGoingBackAndForthLeavesTheModeAsItIs(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"), say("c"))
	planning(r)
	r.prompt("one")
	r.prompt("two")
	mustMode(t, r, "plan")
	for _, step := range []struct {
		name string
		do   func(context.Context) (Moved, error)
		talk string
	}{
		{"undo", func(ctx context.Context) (Moved, error) { return r.Undo(ctx, 1) }, "one a"},
		{"undo", func(ctx context.Context) (Moved, error) { return r.Undo(ctx, 1) }, ""},
		{"redo", r.Redo, "one a"},
		{"redo", r.Redo, "one a two b"},
	} {
		_, err := step.do(t.Context())
		if talk := talkOf(r.Session()); err != nil || talk != step.talk {
			t.Fatalf("%s: %q, %v", step.name, talk, err)
		}
		if r.Modes().Current() != "plan" || modeIn(t, r) != "plan" {
			t.Errorf("%s to %q: in mode %q, resumed in %q", step.name, step.talk, r.Modes().Current(), modeIn(t, r))
		}
	}
	mustMode(t, r, "off")
	if modeIn(t, r) != "" {
		t.Error("the end of the mode is not in the session")
	}
	r.prompt("three")
	r.wantTalk("user: one", "assistant: a", "user: two", "assistant: b", "user: three", "assistant: c")
}

func TestAModeIsNoPlaceInTheTree(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	planning(r)
	r.prompt("one")
	leaf := r.Session().Leaf()
	mustMode(t, r, "plan")
	entries := len(r.Session().Entries())
	moved, err := r.Navigate(t.Context(), leaf, NavigateOptions{})
	if err != nil || !moved.Stayed || len(r.Session().Entries()) != entries {
		t.Errorf("it moves to where it is: %+v, %v", moved, err)
	}
}

func TestTheModeOfASessionThatIsResumedCounts(t *testing.T) {
	var told []string
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *ModeSelect) { told = append(told, e.Previous+">"+e.Name+" "+e.Source) })}}, say("a"), say("b"))
	planning(r)
	r.prompt("one")
	first := r.Session().File()
	mustMode(t, r, "plan")
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	if r.Modes().Current() != "plan" {
		t.Error("a new session is in another mode")
	}
	r.prompt("two")
	if modeIn(t, r) != "plan" {
		t.Error("the new session does not say its mode")
	}
	mustMode(t, r, "")
	if err := r.SwitchSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if want := []string{">plan command", "plan> command", ">plan restore"}; r.Modes().Current() != "plan" || !slices.Equal(told, want) {
		t.Errorf("in %q, told %q", r.Modes().Current(), told)
	}
}

func TestToolsAndSectionOfAModeAreInTheRequest(t *testing.T) {
	echoed := echo("other")
	r := newHarness(t, Options{Tools: []Tool{echo("usual")}}, say("a"), use(call{"1", "usual", `{}`}), say("b"))
	planning(r, echoed)
	r.prompt("one")
	mustMode(t, r, "plan")
	r.prompt("two")
	requests := r.model.requests
	if got := requests[0]; strings.Contains(got.System, "PLAN") || len(got.Tools) != 1 || got.Tools[0].Name != "usual" {
		t.Errorf("without the mode %s %+v", got.System, got.Tools)
	}
	if got := requests[1]; !strings.HasSuffix(got.System, "\n\nPLAN") || len(got.Tools) != 1 || got.Tools[0].Name != "other" {
		t.Errorf("in the mode %s %+v", got.System, got.Tools)
	}
	if talk := r.talk(); !strings.Contains(talk, `unknown tool "usual"; available tools: other`) {
		t.Errorf("a tool that the mode does not have: %s", talk)
	}
	if b := r.Meter().PrefixBreak(); b != nil {
		t.Errorf("no hook is why: %v", b)
	}
	names := []string{}
	for _, s := range r.Meter().Breakdown().Sources[0].Parts {
		names = append(names, s.Name)
	}
	if !slices.Contains(names, "mode") {
		t.Errorf("the sections are %q", names)
	}
}
