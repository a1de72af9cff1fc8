package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// newChildOf is an agent with that name which parent uses.
func newChildOf(t *testing.T, parent *Agent, name string, o Options, replies ...reply) *harness {
	t.Helper()
	if o.Child == nil {
		o.Child = &ChildOptions{}
	}
	o.Child.Parent, o.Child.Identity = parent, Identity{Name: name, Depth: 1}
	return newHarness(t, o, replies...)
}

// usages are the entries of type usage in a session, as short lines.
func usages(s *session.Session) (lines []string) {
	for _, e := range s.Entries() {
		if e.Type != session.TypeUsage {
			continue
		}
		body, err := session.Body[session.UsageEntry](e)
		if err != nil {
			lines = append(lines, err.Error())
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s/%s %s %v", body.Kind, body.Provider, body.Model, body.Note, body.Usage.Cost.Total))
	}
	return lines
}

func wantUsages(t *testing.T, s *session.Session, want ...string) {
	t.Helper()
	if got := usages(s); !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

func TestWhatAChildAndItsOwnUseIsCountedInThoseAbove(t *testing.T) {
	root := newHarness(t, Options{}, costing(0.5))
	child := newChildOf(t, root.Agent, "reviewer", Options{Tools: []Tool{echo("look")}}, costing(0.25), say("done"))
	grandchild := newChildOf(t, child.Agent, "helper", Options{}, costing(0.125), say("done"))
	root.Agent.spending.aside.begin()
	child.prompt("look at it")
	grandchild.Agent.spending.record(t.Context(), session.UsageEntry{Kind: "hook", Provider: "acme", Model: "two", Usage: &message.Usage{Input: 1, Cost: message.Cost{Total: 2}}})
	if err := grandchild.Prompt(t.Context(), Prompt{Text: "help"}); err != nil { // the tool is not there, and it says done
		t.Fatal(err)
	}
	wantUsages(t, grandchild.Session(), "hook acme/two  2")
	wantUsages(t, child.Session(), "agent acme/two helper 2", "agent acme/one helper 0.125")
	wantUsages(t, root.Session(), "agent acme/one reviewer 0.25", "agent acme/two helper 2", "agent acme/one helper 0.125")
	if is, _ := root.Meter().Spent(); is != 2.375 {
		t.Errorf("the session of the user has cost %v", is)
	}
	if is, _ := child.Meter().Spent(); is != 2.375 {
		t.Errorf("that of the child has cost %v", is)
	}
	if sum := root.Agent.spending.aside.end(); sum == nil || sum.Cost.Total != 2.375 {
		t.Errorf("the run in progress has cost %+v", sum)
	}
}

// A summary says nothing of its model: it was written by the one at hand.
func TestASummaryOfAChildIsCountedWithItsModel(t *testing.T) {
	root := newHarness(t, Options{})
	child := newChildOf(t, root.Agent, "reviewer", Options{}, say("a"))
	child.prompt("go")
	if _, err := child.Session().Append(session.TypeBranchSummary, session.BranchSummary{Summary: "s", Usage: &message.Usage{Input: 3, Cost: message.Cost{Total: 1}}}); err != nil {
		t.Fatal(err)
	}
	wantUsages(t, root.Session(), "agent acme/one reviewer 1")
}

func TestAChildMaySpendWhatTheSessionsAboveHaveLeft(t *testing.T) {
	for name, c := range map[string]struct {
		root, child, own float64 // max_cost, and what the child may cost
		want             string
		requests         int
	}{
		"no limit":                {0, 0, 0, "", 3},
		"a limit of its own":      {10, 0, 0.5, "stopped: this session has cost $0.5000, and max_cost is $0.5000; /new begins another one", 1},
		"what the root has left":  {1.5, 0, 0, "stopped: the session that uses this agent has, with its agents, cost $1.5000, and max_cost is $1.5000; /new begins another one", 2},
		"what the child has left": {10, 0.75, 0, "stopped: the session that uses this agent has, with its agents, cost $1.0000, and max_cost is $0.7500; /new begins another one", 2},
	} {
		t.Run(name, func(t *testing.T) {
			root := newHarness(t, Options{Settings: Settings{MaxCost: c.root}})
			paid(t, root.Session(), 1, 0.5)
			child := newChildOf(t, root.Agent, "child", Options{Settings: Settings{MaxCost: c.child}})
			grandchild := newChildOf(t, child.Agent, "grandchild", Options{Settings: Settings{MaxCost: c.own}, Tools: []Tool{echo("look")}}, costing(0.5), costing(0.5), say("done"))
			err := grandchild.Prompt(t.Context(), Prompt{Text: "go"})
			var limit *LimitError
			switch {
			case c.want == "" && err != nil, c.want != "" && (!errors.As(err, &limit) || limit.Limit != "max_cost" || err.Error() != c.want):
				t.Errorf("it ended with %v, want %s", err, c.want)
			}
			if n := len(grandchild.model.requests); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
		})
	}
}

// together answers when so many requests are on their way at the same time.
type together struct {
	wait sync.WaitGroup
	all  atomic.Int64
}

func (g *together) reply(cost reply) reply {
	return func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
		g.all.Add(1)
		g.wait.Done()
		g.wait.Wait()
		cost(ctx, r, yield)
	}
}

func TestChildrenBesideEachOtherSpendARequestEachTooMuchAtMost(t *testing.T) {
	const children = 4
	root := newHarness(t, Options{Settings: Settings{MaxCost: 1}})
	var g together
	g.wait.Add(children)
	var all sync.WaitGroup
	var limited atomic.Int64
	for i := range children {
		child := newChildOf(t, root.Agent, fmt.Sprint("child-", i), Options{Tools: []Tool{echo("look")}}, g.reply(costing(1)), costing(1), costing(1))
		all.Go(func() {
			var limit *LimitError
			if err := child.Prompt(t.Context(), Prompt{Text: "go"}); errors.As(err, &limit) && limit.Limit == "max_cost" {
				limited.Add(1)
			}
			if n := len(child.model.requests); n != 1 {
				t.Errorf("%d requests of one child", n)
			}
		})
	}
	all.Wait()
	if is, _ := root.Meter().Spent(); is != children || limited.Load() != children {
		t.Errorf("they cost %v, and %d ended at the limit", is, limited.Load())
	}
}

func TestAChildBeginsNoCountAnew(t *testing.T) {
	for name, c := range map[string]struct {
		do       func(child *harness) error
		heldBack bool
	}{
		"with its prompt":              {do: func(child *harness) error { return child.Prompt(child.t.Context(), Prompt{Text: "go"}) }},
		"with what comes from outside": {func(child *harness) error { return child.Submit(child.t.Context(), fromOutside()) }, true},
		"with a message of a user":     {do: func(child *harness) error { return child.Submit(child.t.Context(), Prompt{Text: "x"}) }},
		"with a command":               {do: func(child *harness) error { child.CommandContext(child.t.Context(), Prompt{Text: "/x"}); return nil }},
		"with its work": {do: func(child *harness) error {
			child.ResetBrake(Origin{Kind: FromUser})
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			root, _ := limitRig(t, nil, 9, Options{})
			if err := root.Prompt(t.Context(), Prompt{Text: "go"}); err == nil {
				t.Fatal("the limit of the hook is not reached")
			}
			child := newChildOf(t, root.Agent, "child", Options{Settings: Settings{MaxContinuations: 2}}, say("a"), say("b"))
			if err := c.do(child); heldBack(err) != c.heldBack || err != nil && !c.heldBack {
				t.Errorf("it came to %v", err)
			}
			if err := root.Submit(t.Context(), byHook("more")); !heldBack(err) {
				t.Errorf("hooks may go on: %v", err)
			}
		})
	}
	t.Run("but the user does", func(t *testing.T) { // the control
		root, _ := limitRig(t, nil, 9, Options{})
		if err := root.Prompt(t.Context(), Prompt{Text: "go"}); err == nil {
			t.Fatal("the limit of the hook is not reached")
		}
		root.ResetBrake(Origin{Kind: FromUser})
		if err := root.Submit(t.Context(), byHook("more")); err != nil {
			t.Error(err)
		}
	})
}

func TestTheEndOfAChildTakesBackNothingThatTheUserAllowed(t *testing.T) {
	root := newHarness(t, Options{Settings: Settings{MaxContinuations: 2}})
	child := newChildOf(t, root.Agent, "child", Options{Settings: Settings{MaxContinuations: 2}})
	o := byHook("").Origin
	root.inbox.brake.allow(o, 9)
	child.inbox.EndAllowed()
	if q := child.inbox.quotaOf(o); q.limit != 9 {
		t.Errorf("the hook may add %d, not 9", q.limit)
	}
	root.inbox.EndAllowed()
	if q := child.inbox.quotaOf(o); q.limit != 2 {
		t.Errorf("after an interrupt the hook may add %d, not 2", q.limit)
	}
}

func fromOutside() Prompt {
	return Prompt{Text: "news", Origin: Origin{Kind: FromOutside, Hook: "loop", Source: "a file"}}
}

func TestWhatHooksAddInChildrenCountsInTheSessionOfTheUser(t *testing.T) {
	root := newHarness(t, Options{Settings: Settings{MaxContinuations: 5}})
	sum := 0
	for i := range 3 {
		name := fmt.Sprint("child-", i)
		child := newChildOf(t, root.Agent, name, Options{Settings: Settings{MaxContinuations: 5}, Listeners: []Listener{goOnTimes(2)}}, scriptedAnswers(9)...)
		err := child.Prompt(t.Context(), Prompt{Text: "go"})
		sum += len(child.model.requests) - 1
		if i < 2 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		wantLimit(t, err, "stopped: hook tests wants the model asked once more, and hooks may add 5 requests until somebody says something (max_continuations)")
	}
	if sum != 5 {
		t.Errorf("hooks have added %d requests, not 5", sum)
	}
	if err := root.Submit(t.Context(), byHook("more")); !heldBack(err) {
		t.Errorf("the hooks of the session may go on: %v", err)
	}
}

// What a hook of a child listens to outside of the program is its own doing there: it counts, and at
// the limit it is dropped.
func TestWhatComesFromOutsideCountsInAChild(t *testing.T) {
	root := newHarness(t, Options{Settings: Settings{MaxContinuations: 2}})
	child := newChildOf(t, root.Agent, "child", Options{Settings: Settings{MaxContinuations: 2}}, scriptedAnswers(9)...)
	child.events.all = append(child.events.all, on(func(*TurnEnd) {
		_ = child.Submit(t.Context(), fromOutside())
	}))
	err := child.Prompt(t.Context(), Prompt{Text: "go"})
	wantLimit(t, err, "stopped: hook loop wants the model asked once more, and hooks may add 2 requests until somebody says something (max_continuations)")
	if n := len(child.model.requests); n != 3 {
		t.Errorf("%d requests, want the prompt's and two", n)
	}
}

func TestAChildWaitsForItsTurnBeforeEachRequest(t *testing.T) {
	root := newHarness(t, Options{Settings: Settings{MaxCost: 1}})
	var order []string
	turn := func(context.Context) (func(), error) {
		order = append(order, "turn")
		if len(order) == 3 { // others have spent what was left while it waited
			paid(t, root.Session(), 1, 2)
		}
		return func() { order = append(order, "answered") }, nil
	}
	child := newChildOf(t, root.Agent, "child", Options{Child: &ChildOptions{Turn: turn}, Tools: []Tool{echo("look")}}, costing(0.1), say("never"))
	err := child.Prompt(t.Context(), Prompt{Text: "go"})
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Limit != "max_cost" {
		t.Errorf("it ended with %v", err)
	}
	if got := strings.Join(order, " "); got != "turn answered turn answered" || len(child.model.requests) != 1 {
		t.Errorf("%s, and %d requests", got, len(child.model.requests))
	}
}

func TestAnInterruptEndsTheWaitForATurn(t *testing.T) {
	root := newHarness(t, Options{})
	waits := make(chan struct{})
	turn := func(ctx context.Context) (func(), error) {
		close(waits)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	child := newChildOf(t, root.Agent, "child", Options{Child: &ChildOptions{Turn: turn}})
	ended := make(chan error, 1)
	go func() { ended <- child.Prompt(t.Context(), Prompt{Text: "go"}) }()
	<-waits
	child.Abort()
	if err := <-ended; !errors.Is(err, ErrAborted) {
		t.Errorf("it ended with %v", err)
	}
	if n := len(child.model.requests); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// withProgress runs a call of a tool that has run, and returns the texts of its updates.
func withProgress(t *testing.T, run func(ctx context.Context, update Update)) (texts []string) {
	t.Helper()
	look := echo("look")
	look.run = func(ctx context.Context, _ json.RawMessage, update Update) (Result, error) {
		run(ctx, update)
		return TextResult("done"), nil
	}
	var mu sync.Mutex
	r := newHarness(t, Options{EachUpdate: true, Tools: []Tool{look}, Listeners: []Listener{on(func(e *ToolExecutionUpdate) {
		mu.Lock()
		defer mu.Unlock()
		texts = append(texts, e.Partial.Content[0].Text)
	})}}, use(call{"a", "look", "{}"}), say("ok"))
	r.prompt("go")
	return texts
}

func TestWhatAgentsTellShowsAsProgressOfTheCall(t *testing.T) {
	got := withProgress(t, func(ctx context.Context, _ Update) {
		p := ProgressOf(ctx)
		p.Tell("one", "read a.go\nmore")
		p.Tell("one", "  ")
		p.Tell("one", "bash\x1b[2J make")
		p.Tell("two", "thinks")
	})
	want := []string{"read a.go", "read a.go\nbash make", "[one] read a.go\n[one] bash make\n[two] thinks"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestAToolThatTellsItselfIsNotTalkedOver(t *testing.T) {
	got := withProgress(t, func(ctx context.Context, update Update) {
		ProgressOf(ctx).Tell("one", "read a.go")
		update(TextResult("mine"))
		ProgressOf(ctx).Tell("one", "read b.go")
	})
	if want := []string{"read a.go", "mine"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestProgressIsBoundedAndNobodyElses(t *testing.T) {
	got := withProgress(t, func(ctx context.Context, _ Update) {
		for i := range progressLines + 5 {
			ProgressOf(ctx).Tell("one", fmt.Sprint(i, strings.Repeat("x", 500)))
		}
	})
	last := strings.Split(got[len(got)-1], "\n")
	if len(last) != progressLines || !strings.HasPrefix(last[0], "5x") || len([]rune(last[0])) != progressWidth {
		t.Errorf("%d lines, the first %.20q", len(last), last[0])
	}
	ProgressOf(t.Context()).Tell("one", "nobody hears it")
}

// A listener to the progress of a call may itself wait for who tells more of it.
func TestWhoShowsProgressKeepsNobodyFromTelling(t *testing.T) {
	shows, more := make(chan struct{}), make(chan struct{})
	var texts []string
	p := NewProgress(func(r Result) {
		texts = append(texts, r.Content[0].Text)
		if len(texts) == 1 {
			close(shows)
			<-more
		}
	})
	ended := make(chan struct{})
	go func() { p.Tell("one", "a"); close(ended) }()
	<-shows
	told := make(chan struct{})
	go func() { p.Tell("one", "b"); p.Tell("one", "c"); close(told) }()
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Fatal("who tells waits for who shows")
	}
	close(more)
	<-ended
	if want := []string{"a", "a\nb\nc"}; !slices.Equal(texts, want) {
		t.Errorf("%q, not %q", texts, want)
	}
}
