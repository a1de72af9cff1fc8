// Package agent is the loop: it takes a prompt, asks a model, runs the tools
// the model calls, and goes on until there is nothing left to do.
//
// An [Agent] owns the current session and alone replaces it. Whoever wants to
// see or change what happens is a [Listener]; the order of the listeners is the
// order of their say, so hooks come before the front end, which shows what was
// decided. A model is reached through a [llm.Provider], a tool through [Tool].
//
// The path of one prompt:
//
//	Prompt → input event → user entry → before_agent_start → agent_start
//	  turn: turn_start → context → model → assistant entry       (answer.go, ask.go, wire.go; retry.go, idle.go)
//	        each call: tool_call → run → tool_result → entry     (batch.go, gate.go, call.go)
//	        turn_end, after which listeners may go on            (continue.go)
//	  no calls and nothing queued → agent_before_settle → agent_end → agent_settled
//
// One run at a time, on the goroutine that called Prompt; only the running of
// tools is parallel. Cancelling the context of Prompt, or [Agent.Abort], stops
// the stream, the tools and the hooks below it, and leaves a session that goes
// on from there. All methods may be called from any goroutine.
package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"pi/agent/llm"
	"pi/session"
)

// Settings are the plain values of the configuration that the loop obeys.
type Settings struct {
	MaxTurns    int  // per prompt; 0: no limit
	MaxRepeats  int  // the same call with the same result in a row; 0: no limit
	SteerAll    bool // deliver all steering lines at once instead of one per turn
	FollowUpAll bool

	MaxContinuations int // model requests that hooks may add until somebody says something

	MaxAnswerBytes int // of one answer; 0: no limit

	MaxCost float64 // per session, in the currency of the prices; 0: no limit

	Compaction CompactionSettings
	Retry      RetrySettings

	StreamIdleTimeout time.Duration // silence of a server that ends a request; 0: none
}

// Options are what an Agent is made of.
type Options struct {
	Session   *session.Session
	Models    *llm.Models
	Model     *llm.Model // what to ask first; never nil
	Thinking  string     // the wish; see [llm.Clamp]
	Cycle     []string   // what CycleModel goes through, see [llm.Models.Scope]
	Tools     []Tool     // the active tools, in the order the model sees them
	Listeners []Listener
	Settings  Settings
	Prompt    *SystemPrompt
	Cwd       string

	// NewSession makes an empty session for /new, whose header names parent, OpenSession opens one by its
	// path. The Agent closes the sessions it leaves, and the last one in Close.
	NewSession  func(parent string) (*session.Session, error)
	OpenSession func(path string) (*session.Session, error)
	// CopySession makes a session of the path to leaf in s, for /branch.
	CopySession func(s *session.Session, leaf string) (*session.Session, error)

	// Shell runs a command of the person (not of the model) and reports its
	// output as it comes.
	Shell func(ctx context.Context, command string, output func(string)) (BashOutcome, error)

	Now func() time.Time // nil: time.Now
}

// Agent runs prompts in a session. See the package comment. What is written while
// it works is in types that guard themselves.
type Agent struct {
	listeners
	choice
	cycling
	toolset
	activity
	inbox
	openers
	farewell

	models   *llm.Models
	settings Settings
	cwd      string
	shell    func(context.Context, string, func(string)) (BashOutcome, error)
	now      func() time.Time

	current    atomic.Pointer[session.Session]
	view       contextView
	lastSeen   lastSeen
	sent       lastSent
	inForce    promptInForce
	spending   spending
	compacting compactionState
}

// openers make the sessions that an agent goes on with, see [Options].
type openers struct {
	newSession  func(parent string) (*session.Session, error)
	openSession func(path string) (*session.Session, error)
	copySession func(s *session.Session, leaf string) (*session.Session, error)
}

var (
	// ErrBusy is returned when a prompt comes while another one runs.
	ErrBusy = errors.New("the agent is working")
	// ErrCancelled is returned for what a listener did not want to happen.
	ErrCancelled = errors.New("cancelled by hook")
	// ErrNotIdle is returned for what cannot be done while a prompt runs.
	ErrNotIdle = errors.New("not while the agent is working")
)

// LimitError ends a run at a limit: one that the person set, or "aborts", the one
// for answers that listeners stop.
type LimitError struct{ Limit, Message string }

func (e *LimitError) Error() string { return e.Message }

// New returns an idle agent. Nothing is emitted before [Agent.Start].
func New(o Options) *Agent {
	a := &Agent{
		models: o.Models, listeners: o.Listeners, settings: o.Settings, cwd: o.Cwd, shell: o.Shell, now: o.Now,
		openers: openers{o.NewSession, o.OpenSession, o.CopySession}, cycling: cycling{patterns: o.Cycle},
		inForce: promptInForce{source: o.Prompt},
	}
	a.current.Store(o.Session)
	a.restore(selection{o.Model, o.Thinking})
	a.SetTools(o.Tools, "")
	a.wake, a.leaving = make(chan struct{}, 1), make(chan struct{})
	if a.now == nil {
		a.now = time.Now
	}
	if o.Prompt == nil {
		a.inForce.source = &SystemPrompt{}
	}
	return a
}

// Listen adds listeners behind the present ones. It may be called before Start
// only.
func (a *Agent) Listen(listeners ...Listener) { a.listeners = append(a.listeners, listeners...) }

// Start announces the session and, if a listener wants it, runs the context
// chain over what it holds.
func (a *Agent) Start(ctx context.Context) {
	a.announce(ctx, "startup", "")
	a.refresh(ctx)
}

// Close says goodbye to the listeners and closes the session. It interrupts a
// run in progress and waits for it.
func (a *Agent) Close(ctx context.Context) error {
	a.Abort()
	_ = a.WaitIdle(ctx) // who does not stop in time is not waited for
	a.refuseRest(ctx)
	a.refuseAsked(ErrAborted)
	if a.isUnnoted() {
		a.noteChoice(ctx)
	}
	a.emitIf(ctx, KindSessionShutdown, func() Event { return &SessionShutdown{Reason: "quit"} })
	a.refuseAsked(ErrAborted) // of those who asked just now
	return a.Session().Close()
}

// Session returns the current session.
func (a *Agent) Session() *session.Session { return a.current.Load() }

// Models returns the registry the agent asks.
func (a *Agent) Models() *llm.Models { return a.models }

// Cwd returns the working directory of the agent and its tools.
func (a *Agent) Cwd() string { return a.cwd }
