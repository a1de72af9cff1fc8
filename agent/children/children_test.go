package children

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pi/agent"
	"pi/session/message"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mute are controls of a child that nobody controls.
var mute = Controls{
	Steer: func(context.Context, string) error { return nil },
	Abort: func() {},
	Tell:  func(context.Context, agent.Event) {},
}

// begin begins a child, which has to be allowed.
func begin(t *testing.T, f *Family, parent *Child, name string) *Child {
	t.Helper()
	c, err := f.Begin(t.Context(), parent, name, mute)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// atWork counts who works, and the most that did at a time.
type atWork struct{ now, most atomic.Int64 }

func (w *atWork) enter() {
	n := w.now.Add(1)
	for {
		most := w.most.Load()
		if n <= most || w.most.CompareAndSwap(most, n) {
			return
		}
	}
}

func (w *atWork) exit() { w.now.Add(-1) }

func TestAChildTooDeepIsRefusedAndTheLimitIsNamed(t *testing.T) {
	f := New(Limits{Max: 4, Depth: 2}, nil)
	child := begin(t, f, nil, "one")
	grandchild := begin(t, f, child, "two")
	_, err := f.Begin(t.Context(), grandchild, "three", mute)
	if want := "an agent at depth 3 is too deep: [agents] depth in config.toml is 2"; err == nil || err.Error() != want {
		t.Errorf("%v, not %s", err, want)
	}
	if n := len(f.Children()); n != 2 {
		t.Errorf("%d children, not 2", n)
	}
	f.SetLimits(Limits{Max: 4, Depth: 3})
	begin(t, f, grandchild, "three").End()
	if is, want := grandchild.Identity(), (agent.Identity{Name: "two", Depth: 2, Parent: "one"}); is != want {
		t.Errorf("%+v, not %+v", is, want)
	}
}

func TestNamesAreUniqueAmongThoseThatWork(t *testing.T) {
	f := New(Limits{Max: 4, Depth: 2}, nil)
	first, second := begin(t, f, nil, "reviewer"), begin(t, f, nil, "reviewer")
	inner := begin(t, f, first, "reviewer")
	if a, b, c := first.Identity().Name, second.Identity().Name, inner.Identity().Name; a != "reviewer" || b != "reviewer-2" || c != "reviewer-3" {
		t.Errorf("%q, %q, %q", a, b, c)
	}
	if f.Find("reviewer-2") != second || f.Find("nobody") != nil {
		t.Error("a child is not found by its name")
	}
	second.End()
	if again := begin(t, f, nil, "reviewer"); again.Identity().Name != "reviewer-2" {
		t.Errorf("%q has not the name that became free", again.Identity().Name)
	}
}

func TestNamesFitIntoALine(t *testing.T) {
	for given, want := range map[string]string{
		"reviewer":              "reviewer",
		"":                      "agent",
		" \n\t ":                "agent",
		"a\nb":                  "a b",
		"a\x1b[31mb":            "ab",
		"a\u202eb":              "a<U+202E>b",
		strings.Repeat("é", 32): strings.Repeat("é", 32),
		strings.Repeat("é", 33): strings.Repeat("é", 31) + "…",
	} {
		if got := Name(given); got != want {
			t.Errorf("%q: %q, not %q", given, got, want)
		}
	}
}

func TestANumberFitsIntoALongName(t *testing.T) {
	f := New(Limits{Max: 1, Depth: 1}, nil)
	for range 12 {
		name := begin(t, f, nil, strings.Repeat("x", 50)).Identity().Name
		if n := utf8.RuneCountInString(name); n > longestName {
			t.Errorf("%q has %d characters", name, n)
		}
	}
}

// TestNeverMoreThanMaxAreAtWork lets families of many shapes work: children that start others, wait
// for them or not, ask models meanwhile, are interrupted while they wait, and limits that change. All
// come to their end.
func TestNeverMoreThanMaxAreAtWork(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				most := 1 + random.IntN(4)
				s := &shape{f: New(Limits{Max: most, Depth: 3}, nil), random: random}
				for range 1 + random.IntN(8) {
					s.start(t.Context(), nil)
				}
				s.all.Wait() // else synctest says that all are blocked
				if got := int(s.work.most.Load()); got > most {
					t.Errorf("%d at work at a time, not %d", got, most)
				}
				if s.f.working != 0 || len(s.f.queue) != 0 || len(s.f.children) != 0 {
					t.Errorf("at the end there are %d slots in use, %d in the queue, %d children", s.f.working, len(s.f.queue), len(s.f.children))
				}
			})
		})
	}
}

// shape is a family of which each member does something else.
type shape struct {
	f    *Family
	work atWork
	all  sync.WaitGroup

	mu     sync.Mutex // guards random
	random *rand.Rand
}

func (s *shape) dice(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// start starts a child of parent; nil if that is too deep.
func (s *shape) start(ctx context.Context, parent *Child) *Child {
	c, err := s.f.Begin(ctx, parent, "x", mute)
	if err != nil {
		return nil
	}
	s.all.Go(func() { s.live(ctx, c) })
	return c
}

func (s *shape) live(ctx context.Context, c *Child) {
	defer c.End()
	if s.dice(6) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(s.dice(40))*time.Millisecond)
		defer cancel()
	}
	if c.AwaitSlot(ctx) != nil {
		return
	}
	var asides sync.WaitGroup
	defer asides.Wait()
	for range 1 + s.dice(4) {
		s.ask(ctx, c)
		switch s.dice(4) {
		case 0: // one after the other
			if other := s.start(ctx, c); other != nil {
				_ = c.WaitFor(ctx, other)
			}
		case 1: // several calls of one answer, one of which asks a model meanwhile
			var calls sync.WaitGroup
			for range 1 + s.dice(3) {
				if other := s.start(ctx, c); other != nil {
					calls.Go(func() { _ = c.WaitFor(ctx, other) })
				}
			}
			calls.Go(func() { s.ask(ctx, c) })
			calls.Wait()
		case 2: // the child works on while a hook waits for its own
			if other := s.start(ctx, c); other != nil {
				asides.Go(func() { _ = c.WaitFor(ctx, other) })
			}
		}
	}
}

// ask makes a request.
func (s *shape) ask(ctx context.Context, c *Child) {
	answered, err := c.Ask(ctx)
	if err != nil {
		return
	}
	s.work.enter()
	time.Sleep(time.Duration(1+s.dice(5)) * time.Millisecond) // on the clock of the test
	s.work.exit()
	answered()
}

func TestFourThatWaitForFourDoNotLockUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Limits{Max: 4, Depth: 2}, nil)
		var all sync.WaitGroup
		var done atomic.Int64
		var slots sync.WaitGroup
		slots.Add(4)
		for range 4 {
			parent := begin(t, f, nil, "parent")
			all.Go(func() {
				defer parent.End()
				if err := parent.AwaitSlot(t.Context()); err != nil {
					t.Error(err)
				}
				slots.Done()
				slots.Wait() // all four have one
				child := begin(t, f, parent, "child")
				all.Go(func() {
					defer child.End()
					if err := child.AwaitSlot(t.Context()); err != nil {
						t.Error(err)
					}
					done.Add(1)
				})
				if err := parent.WaitFor(t.Context(), child); err != nil {
					t.Error(err)
				}
				done.Add(1)
			})
		}
		all.Wait()
		if done.Load() != 8 {
			t.Errorf("%d of 8 came to their end", done.Load())
		}
	})
}

// TestAWaitThatKeepsItsSlotLocksUp is the control of the test above: without the slots given back
// nothing goes on.
func TestAWaitThatKeepsItsSlotLocksUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Limits{Max: 1, Depth: 2}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		parent := begin(t, f, nil, "parent")
		defer parent.End()
		if err := parent.AwaitSlot(ctx); err != nil {
			t.Fatal(err)
		}
		child := begin(t, f, parent, "child")
		waited := make(chan error, 1)
		go func() { waited <- child.AwaitSlot(ctx) }()
		synctest.Wait()
		if is := child.State().Doing; is != "waits for a slot" {
			t.Errorf("the child %q", is)
		}
		cancel()
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		child.End()
	})
}

func TestTheQueueIsInOrderAndLosesWhoIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Limits{Max: 1, Depth: 1}, nil)
		first := begin(t, f, nil, "first")
		if err := first.AwaitSlot(t.Context()); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		impatient, cancel := context.WithCancel(t.Context())
		for i := range 32 {
			ctx, name := t.Context(), fmt.Sprintf("n%02d", i)
			if i == 7 || i == 31 {
				ctx = impatient
			}
			c := begin(t, f, nil, name)
			all.Go(func() {
				defer c.End()
				if err := c.AwaitSlot(ctx); err != nil {
					name += " " + err.Error()
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
			})
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		first.End()
		all.Wait()
		want := []string{"n07 context canceled", "n31 context canceled"}
		if order[0] == "n31 context canceled" {
			want[0], want[1] = want[1], want[0]
		}
		for i := range 31 {
			if i != 7 {
				want = append(want, fmt.Sprintf("n%02d", i))
			}
		}
		if fmt.Sprint(order) != fmt.Sprint(want) {
			t.Errorf("%v\nnot %v", order, want)
		}
	})
}

func TestWhoHasWaitedTakesItsSlotInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Limits{Max: 1, Depth: 2}, nil)
		parent, other := begin(t, f, nil, "parent"), begin(t, f, nil, "other")
		child := begin(t, f, parent, "child")
		if err := parent.AwaitSlot(t.Context()); err != nil {
			t.Fatal(err)
		}
		over, childWorks := make(chan struct{}), make(chan struct{})
		go func() { _ = other.AwaitSlot(t.Context()); close(over) }()
		synctest.Wait()
		go func() { _ = child.AwaitSlot(t.Context()); close(childWorks) }()
		synctest.Wait()
		waited := make(chan struct{})
		go func() { _ = parent.WaitFor(t.Context(), child); close(waited) }()
		<-over // before the child, which came later
		if got := []string{parent.State().Doing, child.State().Doing, other.State().Doing}; fmt.Sprint(got) != "[waits for child waits for a slot thinking]" {
			t.Errorf("%v", got)
		}
		other.End()
		<-childWorks
		next := begin(t, f, nil, "next")
		nextWorks := make(chan struct{})
		go func() { _ = next.AwaitSlot(t.Context()); close(nextWorks) }()
		synctest.Wait()
		child.End()
		<-nextWorks
		synctest.Wait()
		select {
		case <-waited:
			t.Error("the parent goes on while another one has the only slot")
		default:
		}
		next.End()
		<-waited
		parent.End()
	})
}

func TestAWaitThatIsCutShortSaysSoAndTheNextRequestWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Limits{Max: 1, Depth: 2}, nil)
		parent := begin(t, f, nil, "parent")
		child := begin(t, f, parent, "child")
		if err := parent.AwaitSlot(t.Context()); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		works := make(chan struct{})
		go func() { _ = child.AwaitSlot(t.Context()); close(works) }()
		if err := parent.WaitFor(short, child); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		<-works
		asked := make(chan struct{})
		go func() {
			answered, err := parent.Ask(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			answered()
			close(asked)
		}()
		synctest.Wait()
		select {
		case <-asked:
			t.Error("two are at work")
		default:
		}
		child.End()
		<-asked
		if err := parent.WaitFor(t.Context(), child); err != nil { // that has ended
			t.Error(err)
		}
		parent.End()
	})
}

// full returns a family with one slot, which holder has.
func full(t *testing.T) (f *Family, holder *Child) {
	t.Helper()
	f = New(Limits{Max: 1, Depth: 2}, nil)
	holder = begin(t, f, nil, "holder")
	if err := holder.AwaitSlot(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f, holder
}

func TestAnInterruptTakesOneGoroutineOutOfTheQueueAndNotTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, holder := full(t)
		c := begin(t, f, nil, "c")
		ask := func(ctx context.Context) (got chan error) {
			got = make(chan error, 1)
			go func() { _, err := c.Ask(ctx); got <- err }()
			synctest.Wait()
			return got
		}
		impatient, cancel := context.WithCancel(t.Context())
		one, other := ask(impatient), ask(t.Context())
		cancel()
		if err := <-one; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		select {
		case err := <-other:
			t.Errorf("two are at work (%v)", err)
		default:
		}
		holder.End()
		if err := <-other; err != nil {
			t.Error(err)
		}
		c.End()
	})
}

func TestWhoIsInterruptedInTheQueueGetsNoSlotLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, holder := full(t)
		gone, next := begin(t, f, nil, "gone"), begin(t, f, nil, "next")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := gone.AwaitSlot(ended); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		works := make(chan struct{})
		go func() { _ = next.AwaitSlot(t.Context()); close(works) }()
		synctest.Wait()
		holder.End()
		<-works // though gone has not ended
		next.End()
		gone.End()
	})
}

// A hook that has waited for one child stands in the queue while another one begins to wait: the
// place is given up, for what it waits for may need the slot.
func TestAPlaceInTheQueueIsLeftByWhoWaitsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, holder := full(t)
		parent := begin(t, f, nil, "parent")
		first, second := begin(t, f, parent, "first"), begin(t, f, parent, "second")
		begun := make(chan struct{})
		go func() { _ = parent.AwaitSlot(t.Context()); close(begun) }()
		synctest.Wait()
		both := make(chan struct{}, 2)
		wait := func(other *Child) { _ = parent.WaitFor(t.Context(), other); both <- struct{}{} }
		go wait(first)
		synctest.Wait()
		<-begun // it needs no slot while it waits
		first.End()
		synctest.Wait() // in the queue
		go wait(second)
		synctest.Wait()
		<-both // the first wait, for a child works without a slot while it waits
		works := make(chan struct{})
		go func() { _ = second.AwaitSlot(t.Context()); close(works) }()
		synctest.Wait()
		holder.End()
		<-works
		second.End()
		<-both
		parent.End()
	})
}

func TestAWaitInARaisedLimitGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(Limits{}, nil) // counts as 1 and 1
		first, second := begin(t, f, nil, "a"), begin(t, f, nil, "b")
		if err := first.AwaitSlot(t.Context()); err != nil {
			t.Fatal(err)
		}
		works := make(chan struct{})
		go func() { _ = second.AwaitSlot(t.Context()); close(works) }()
		synctest.Wait()
		f.SetLimits(Limits{Max: 2, Depth: 1})
		<-works
		first.End()
		second.End()
		second.End() // again: nothing
		if f.working != 0 {
			t.Errorf("%d slots are in use", f.working)
		}
	})
}

func TestTheUsersOwnAgentWaitsWithoutASlot(t *testing.T) {
	f := New(Limits{Max: 1, Depth: 1}, nil)
	child := begin(t, f, nil, "a")
	child.End()
	var own *Child
	if err := own.WaitFor(t.Context(), child); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	other := begin(t, f, nil, "b")
	defer other.End()
	if err := own.WaitFor(ended, other); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWhatAChildDoesIsSaidAndTold(t *testing.T) {
	var told []string
	controls := mute
	controls.Tell = func(_ context.Context, e agent.Event) { told = append(told, e.(*agent.ChildUpdate).Text) }
	now := time.Unix(1000, 0)
	f := New(Limits{Max: 1, Depth: 1}, func() time.Time { return now })
	c, err := f.Begin(t.Context(), nil, "reader", controls)
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	check := func(want string) {
		t.Helper()
		if got := c.State().Doing; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	handle := func(e agent.Event) {
		t.Helper()
		if !c.Wants(e.Kind()) {
			t.Errorf("%v is not wanted", e.Kind())
		}
		if err := c.Handle(t.Context(), e); err != nil {
			t.Error(err)
		}
	}
	check("waits for a slot")
	if err := c.AwaitSlot(t.Context()); err != nil {
		t.Fatal(err)
	}
	now = now.Add(3 * time.Second)
	check("thinking")
	handle(&agent.ToolExecutionStart{ID: "1", Name: "read", Input: []byte(`{"path":"a.go"}`)})
	check("read a.go")
	handle(&agent.ToolExecutionStart{ID: "2", Name: "bash", Input: []byte(`{"command":"go test\ngo vet"}`)})
	check("bash go test")
	handle(&agent.ToolExecutionEnd{ID: "2", Name: "bash", Result: agent.Result{IsError: true, Content: []message.Block{message.TextBlock("exit status 1\nmore")}}})
	check("read a.go")
	handle(&agent.ToolExecutionEnd{ID: "1", Name: "read"})
	check("thinking")
	handle(&agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("All is well.\nReally.")}}})
	want := "read a.go\nbash go test\nbash failed: exit status 1\nAll is well."
	if got := told[len(told)-1]; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if s := c.State(); s.Ran != 3*time.Second || s.Name != "reader" || s.Depth != 1 || !s.Priced || s.Usage != (message.Usage{}) || c.Messages() != nil {
		t.Errorf("%+v, %v", s, c.Messages())
	}
}
