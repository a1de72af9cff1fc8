// Package children is what the agents of one user's session share, where one uses another: how
// many of them may work at a time and how deep they may be, which names they have, and who they
// are. What they cost and how often their hooks may go on is counted by the agents themselves,
// see [agent.Options.Parent].
//
//	family.go   a [Family], and who is admitted to it
//	slots.go    who may work: in order, and never more than there may be
//	child.go    one [Child]: its beginning, its waits, its end
//	doing.go    what a child is doing, from its events, and what it tells of its progress
//
// A child comes in with [Family.Begin], waits for its turn with [Child.AwaitSlot], and is out
// with [Child.End]. Nothing here has a goroutine of its own, and all may be called from any.
package children

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/printable"
)

// Limits are what the settings say of children.
type Limits struct {
	Max   int // children at work at a time, over the whole family
	Depth int // how deep they may be: 1 for those that the user's own agent uses
}

// Family is the children of one user's session, theirs, and so on.
type Family struct {
	now func() time.Time

	mu       sync.Mutex // guards what follows, and what children say that it guards
	limits   Limits
	children []*Child // in the order in which they began
	working  int      // children that have a slot
	queue    []*place // of those that wait for one
}

// New returns a family without children. Limits below 1 count as 1. now is the clock; nil for
// that of the system.
func New(limits Limits, now func() time.Time) *Family {
	if now == nil {
		now = time.Now
	}
	f := &Family{now: now}
	f.SetLimits(limits)
	return f
}

// SetLimits makes other limits hold from now on. Who is at work goes on.
func (f *Family) SetLimits(l Limits) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limits = Limits{max(l.Max, 1), max(l.Depth, 1)}
	f.admit()
}

// Controls are what others may do to a child.
type Controls struct {
	// Steer gives it a message before its next request; the error says that it has ended.
	Steer func(ctx context.Context, text string) error
	// Abort ends it, and does not wait.
	Abort func()
	// Tell hands an event to the listeners of the agent that uses it.
	Tell func(ctx context.Context, e agent.Event)
}

// Begin makes a child of parent, which is nil for the user's own agent. Its name is unique among
// the children that work: where name is taken it gets a number. ctx is that of who wants it: where
// a tool runs with it, what the child does shows as progress of that call. The caller calls
// [Child.End], however it ends. The error says that the child would be too deep.
func (f *Family) Begin(ctx context.Context, parent *Child, name string, c Controls) (*Child, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	who := agent.Identity{Depth: 1}
	if parent != nil {
		who.Depth, who.Parent = parent.identity.Depth+1, parent.identity.Name
	}
	if who.Depth > f.limits.Depth {
		return nil, fmt.Errorf("an agent at depth %d is too deep: [agents] depth in config.toml is %d", who.Depth, f.limits.Depth)
	}
	who.Name = f.freeName(Name(name))
	child := &Child{family: f, identity: who, parent: parent, began: f.now(), controls: c, ended: make(chan struct{})}
	if agent.InTool(ctx) {
		child.call, child.progress = agent.CallID(ctx), agent.ProgressOf(ctx)
	} else {
		child.progress = agent.NewProgress(child.tell)
	}
	f.children = append(f.children, child)
	return child, nil
}

// Children returns those that work or wait, in the order in which they began.
func (f *Family) Children() []*Child {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.children)
}

// Find returns the child with that name; nil for none.
func (f *Family) Find(name string) *Child {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.find(name)
}

// find is Find; the caller has the lock.
func (f *Family) find(name string) *Child {
	if i := slices.IndexFunc(f.children, func(c *Child) bool { return c.identity.Name == name }); i >= 0 {
		return f.children[i]
	}
	return nil
}

// longestName is how many characters the name of a child has at most.
const longestName = 32

// Name makes a line of at most 32 characters of what an agent is to be called; "agent" where that
// is nothing.
func Name(text string) string {
	return cmp.Or(printable.Cut(printable.Line(text), longestName), "agent")
}

// freeName is name, with a number behind it where it is taken; the caller has the lock.
func (f *Family) freeName(name string) string {
	free := name
	for n := 2; f.find(free) != nil; n++ {
		number := fmt.Sprintf("-%d", n)
		short := []rune(name)
		free = strings.TrimSpace(string(short[:min(len(short), longestName-len(number))])) + number
	}
	return free
}
