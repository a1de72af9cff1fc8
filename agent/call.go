package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pi/internal/pace"
	"pi/session"
	"pi/session/message"
)

// runTimed runs the tool, whose time is counted, and returns its result, also if it is
// interrupted. Every tool call comes through here, be it of the model or of a hook. progress,
// which may be nil, gets what the tool reports, and nothing when runTimed has returned.
func (c *approvedCall) runTimed(ctx context.Context, progress *pace.Pacer[Result]) (result Result) {
	if ctx.Err() != nil {
		return *interrupted()
	}
	var update Update
	if progress != nil {
		c.progress = NewProgress(progress.Put)
		update = c.progress.take
		defer progress.Stop()
	}
	c.call.measure(ctx, func() { result = c.run(ctx, update) })
	result.Interrupted = result.IsError && ctx.Err() != nil
	return result
}

// run is the one place where a tool runs. It returns its result also if the tool crashes or
// fails. The tool reports to update, which may be nil.
func (c *approvedCall) run(ctx context.Context, update Update) (result Result) {
	defer func() {
		if p := recover(); p != nil {
			result = *refuse("tool %s crashed: %v", c.tool.Spec().Name, p)
		}
	}()
	result, err := c.tool.Run(context.WithValue(c.call.mark(ctx), runsKey{}, c), c.input, update)
	switch {
	case err != nil && ctx.Err() != nil:
		result = withError(result, "interrupted")
	case err != nil:
		result = withError(result, err.Error())
	}
	if len(result.Details) > 0 && !json.Valid(result.Details) {
		return withError(Result{Content: result.Content}, fmt.Sprintf("tool %s gave details that are not JSON", c.tool.Spec().Name))
	}
	return result
}

// gateKey is in the context of who is asked whether something runs.
type gateKey struct{}

// AtGate returns ctx for those who decide whether a call or a command runs. Their dialogs get
// it too.
func AtGate(ctx context.Context) context.Context { return context.WithValue(ctx, gateKey{}, true) }

// IsAtGate reports whether ctx is one of [AtGate].
func IsAtGate(ctx context.Context) bool { return ctx.Value(gateKey{}) != nil }

// runsKey is in the context of a tool that runs, with its *approvedCall.
type runsKey struct{}

// RunBelow runs below, in whose place a tool stands that runs with ctx, as part of that call.
// If input is not what the listeners were asked about, they are asked again. The error says
// why below does not run; if it fails, the result does. A Forwarder is below for the tool behind it
// that has the name of the one that runs.
func RunBelow(ctx context.Context, below Tool, input json.RawMessage, update Update) (Result, error) {
	running, _ := ctx.Value(runsKey{}).(*approvedCall)
	if running == nil {
		return Result{}, errors.New("no call of a tool is running")
	}
	if f, ok := below.(Forwarder); ok {
		if wrapped, ok := f.Wrap(running.tool.Spec().Name, input); ok {
			var err error
			if below, err = f.Target(ctx, wrapped); err != nil {
				return Result{}, err
			}
		}
	}
	c, refused := running.gate.approveBelow(ctx, running, below, input)
	if refused != nil {
		return Result{}, errors.New(refused.Content[0].Text)
	}
	result := c.run(ctx, update)
	for _, text := range c.context {
		result = withText(result, text)
	}
	return result, nil
}

// InTool reports whether ctx was handed to a tool's Run. The listeners that are asked about
// the call are not in it, though CallID names it for them.
func InTool(ctx context.Context) bool { return ctx.Value(runsKey{}) != nil }

// withError returns r marked as an error, with a message behind what the tool has written.
func withError(r Result, message string) Result {
	r.IsError = true
	return withText(r, message)
}

// withText returns r with a text behind its content, which stays as it is.
func withText(r Result, text string) Result {
	r.Content = append(r.Content[:len(r.Content):len(r.Content)], message.TextBlock(text))
	return r
}

// finishCall lets listeners edit the result of a tool, and adds the texts that they want
// behind it. Where an interrupt keeps them from editing, the result is dropped, for they
// may have wanted to remove a secret.
func (g *gate) finishCall(ctx context.Context, c *approvedCall, result Result) Result {
	if g.events.wants(KindToolResult) {
		ctx := c.call.mark(ctx)
		e := &ToolResult{ID: c.id, Name: c.tool.Spec().Name, Input: c.input, Result: result}
		if ctx.Err() == nil {
			g.events.emit(ctx, e)
		}
		if ctx.Err() != nil {
			lost := refuse("interrupted; what the tool had to say is not kept")
			lost.Interrupted = true
			return *lost
		}
		result = e.Result
	}
	for _, text := range c.context {
		result = withText(result, text)
	}
	return result
}

// maxNesting is how deep calls of CallTool may be nested, as they are when a listener
// to tool events calls a tool.
const maxNesting = 4

type nestingKey struct{}

// CallTool runs one tool for a hook or a program, through the same gate as a
// call of the model, whether a prompt runs or not; it is not added to the
// conversation. In another call, as CallID has it, its id is that one's with a number
// behind a slash. It ends with ctx, and is no part of the run in progress: an interrupt
// of that reaches it only through ctx. A refused call gives a Result that says why;
// one that is nested in four others, by their contexts, is refused.
func (a *Agent) CallTool(ctx context.Context, name string, input json.RawMessage) Result {
	return a.callTool(ctx, input, func(id string, input json.RawMessage) meaning {
		return a.tools.meaning(message.Block{Type: message.BlockToolCall, ID: id, Name: name, Arguments: input})
	})
}

// CallGiven is CallTool for a tool that the caller has, whether or not it is among the active
// ones: one of a server that a hook uses. The gate is the same; which names may be called at
// all the caller has to know.
func (a *Agent) CallGiven(ctx context.Context, tool Tool, input json.RawMessage) Result {
	return a.callTool(ctx, input, func(id string, input json.RawMessage) meaning {
		return meaning{Block: message.Block{Type: message.BlockToolCall, ID: id, Name: tool.Spec().Name, Arguments: input}, input: input, given: tool}
	})
}

// callTool makes a call outside of the conversation; meaningOf says what it is.
func (a *Agent) callTool(ctx context.Context, input json.RawMessage, meaningOf func(id string, input json.RawMessage) meaning) Result {
	depth, _ := ctx.Value(nestingKey{}).(int)
	if depth >= maxNesting {
		return *refuse("not run: calls of tools out of tool events nest %d deep already", maxNesting)
	}
	ctx = context.WithValue(ctx, nestingKey{}, depth+1)
	if depth > 0 || ctx.Value(viaKey{}) == nil {
		ctx = WithVia(ctx, ViaHook)
	}
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	call := meaningOf(newCallID(ctx), input)
	name, input := call.Name, call.Arguments
	sent := input
	a.events.emitIf(ctx, KindToolExecutionStart, func() Event { return &ToolExecutionStart{call.ID, name, sent} })
	took := time.Duration(0)
	c, result := a.gate.approve(ctx, call)
	if c != nil {
		input = c.input
		ran := c.runTimed(ctx, a.gate.updates(ctx, call.Block))
		took = c.call.took()
		r := a.gate.finishCall(ctx, c, ran)
		a.spending.record(ctx, session.UsageEntry{Kind: "tool", Usage: r.Usage, Note: name})
		result = &r
	}
	a.events.emitAfter(ctx, KindToolExecutionEnd, func() Event {
		return &ToolExecutionEnd{ID: call.ID, Name: name, Input: input, Result: *result, Took: took}
	})
	return *result
}

// updatePause is the usual time between two reports of a running tool, at least.
const updatePause = 100 * time.Millisecond

// updates returns what passes the reports of a running tool to the listeners; nil if none of
// them wants it.
func (g *gate) updates(ctx context.Context, call message.Block) *pace.Pacer[Result] {
	if !g.events.wants(KindToolExecutionUpdate) {
		return nil
	}
	id, name, input := call.ID, call.Name, call.Arguments // a block captured whole would be allocated also for nobody
	return pace.New(g.pause, func(partial Result) {
		g.events.emit(ctx, &ToolExecutionUpdate{id, name, input, partial})
	})
}

// callScope is what belongs to one call of a tool while that is on its way: its id, the calls
// that are made in it, and the time that the tool has run. A context that is marked with it
// belongs to the call, with all that is done in it. It may be used from any goroutine.
type callScope struct {
	id     string
	in     *callScope // the call that this one was made in; nil: none
	nested atomic.Int64
	tell   func(ctx context.Context, runs bool)

	mu     sync.Mutex    // guards what follows
	runs   bool          // the tool does
	waits  int           // questions that are open
	since  time.Time     // when the time began to run, or went on; zero: it stands
	before time.Duration // until it stood last
}

// newCallScope returns the scope of a call that is made with ctx. tell is called when its time begins,
// stands or goes on.
func newCallScope(ctx context.Context, id string, tell func(ctx context.Context, runs bool)) *callScope {
	return &callScope{id: id, in: scopeOf(ctx), tell: tell}
}

type scopeKey struct{}

// scopeOf is the innermost call that ctx belongs to; nil for none.
func scopeOf(ctx context.Context) *callScope {
	s, _ := ctx.Value(scopeKey{}).(*callScope)
	return s
}

// mark returns a context that belongs to the call.
func (s *callScope) mark(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

// CallID returns the id of the tool call that ctx belongs to: the one that the listeners
// to tool_call or tool_result are asked about, or that runs; "" elsewhere. The dialogs of
// hooks get the context of what they are asked in.
func CallID(ctx context.Context) string {
	if s := scopeOf(ctx); s != nil {
		return s.id
	}
	return ""
}

// CallIDs are the ids of all tool calls that ctx belongs to, the innermost first: a call may be made in
// another one.
func CallIDs(ctx context.Context) (ids []string) {
	for s := scopeOf(ctx); s != nil; s = s.in {
		ids = append(ids, s.id)
	}
	return slices.Compact(ids)
}

// newCallID returns the id of a call that the program makes: in another call it is that one's
// with a number.
func newCallID(ctx context.Context) string {
	if in := scopeOf(ctx); in != nil {
		return fmt.Sprintf("%s/%d", in.id, in.nested.Add(1))
	}
	return "call_" + rand.Text()[:20]
}

// measure has the time of the call run while f runs, which is the tool.
func (s *callScope) measure(ctx context.Context, f func()) {
	s.change(ctx, func() { s.runs = true })
	defer s.change(ctx, func() { s.runs = false })
	f()
}

// took is how long the tool has run, without its waits for the user.
func (s *callScope) took() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return s.before
	}
	return s.before + time.Since(s.since)
}

// AwaitUser notes that what ctx belongs to waits for the user until end is called. That is
// no time of the call, nor of those that it was made in.
func AwaitUser(ctx context.Context) (end func()) {
	innermost := scopeOf(ctx)
	wait := func(more int) {
		for s := innermost; s != nil; s = s.in {
			s.change(ctx, func() { s.waits += more })
		}
	}
	wait(1)
	return func() { wait(-1) }
}

// change calls do, which changes what the time depends on, and tells if the time runs or
// stands with that.
func (s *callScope) change(ctx context.Context, do func()) {
	s.mu.Lock()
	do()
	runs, ran := s.runs && s.waits == 0, !s.since.IsZero()
	switch now := time.Now(); {
	case runs && !ran:
		s.since = now
	case !runs && ran:
		s.before, s.since = s.before+now.Sub(s.since), time.Time{}
	}
	s.mu.Unlock()
	if runs != ran {
		s.tell(ctx, runs)
	}
}
