// Package agent is the loop: it takes a prompt, asks a model, runs the tools
// the model calls, and goes on until there is nothing left to do.
//
// An [Agent] owns the current session and alone replaces it. A [Listener] sees and
// changes what happens. The listeners are asked in their order, so hooks come before
// the front end, which shows what was decided. A model is reached through a
// [llm.Provider], a tool through [Tool].
//
// The path of one prompt, with the files that it is in:
//
//	Prompt → input event → user entry → before_agent_start → agent_start      prompt.go, run.go
//	  turn: turn_start → context → model → assistant entry                    answer.go, retry.go, ask.go
//	        each call: tool_call → run → tool_result → entry                  batch.go, gate.go, call.go
//	        turn_end, after which listeners may go on                         continue.go
//	  no calls and nothing queued → agent_before_settle → agent_end → agent_settled
//
// Who reads all of it begins with ports.go (what the agent is given, and what it asks for) and
// event.go (who is told what happens), goes on with inbox.go (what is sent while it works, and
// who may send), and then follows run.go, whose head shows the loop.
//
// The agent itself is a front for its parts, which a run uses too. Each part guards itself,
// knows only those that it was given, and can be used without an agent:
//
//	the conversation, and what the model sees of it    context.go, images.go
//	the system prompts                                 systemprompt.go
//	the choice of model, tools and mode                select.go, toolset.go, mode.go
//	what is used, and how full the context is          meter.go, spending.go, shortfall.go, limits.go
//	the compactor and its summaries                    compact.go, summary.go
//	how often hooks may have the model asked           brake.go, continuations.go
//	the sessions and the tree                          sessions.go, tree.go
//	the commands of the user                           usershell.go
//	the commands of hooks that wait for a prompt       await.go
//
// One run at a time, on the goroutine that called Prompt; only the running of
// tools is parallel. Cancelling the context of Prompt, or [Agent.Abort], stops
// the stream, the tools and the hooks below it, and leaves a session that goes
// on from there. All methods may be called from any goroutine.
package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pi/agent/llm"
	"pi/agent/work"
	"pi/internal/printable"
	"pi/session"
)

// Options are what an Agent is made of.
type Options struct {
	Session   *session.Session
	Models    *llm.Models
	Model     *llm.Model // what to ask first; never nil
	Thinking  string     // the wish; see [llm.Clamp]
	Cycle     []string   // what CycleModel goes through, see [llm.Models.Scope]
	Tools     []Tool     // the active tools, in the order the model sees them
	Always    Tool       // is active whatever is chosen, behind the others; nil: none
	Listeners []Listener
	Settings  Settings
	Prompt    *SystemPrompt
	Cwd       string

	// Begin is a request of another agent that this one goes on from: its requests begin as that
	// did, and Session is a copy by [Sent.Copy]. nil: there is none.
	Begin *Sent

	// NewSession makes an empty session for /new, whose header names parent, OpenSession opens one by its
	// path. The Agent closes the sessions it leaves, and the last one in Close.
	NewSession  func(parent string) (*session.Session, error)
	OpenSession func(path string) (*session.Session, error)
	// CopySession makes a session of the path to leaf in s, for /branch.
	CopySession func(s *session.Session, leaf string) (*session.Session, error)

	Shell Shell // runs the commands of the user

	// MaxCost is what this agent may cost with those that it uses, whatever sessions it works in, in
	// the currency of the prices; 0: no limit. [Settings] have that of a session.
	MaxCost float64

	Child *ChildOptions // nil: it is the agent of the user's own session

	IsChild bool // another pi started this program: nobody is asked how long hooks may go on
	// EachUpdate is for listeners that want each report of a running tool, however fast they
	// come; else of those within a tenth of a second the newest counts.
	EachUpdate bool

	Now func() time.Time // nil: time.Now
}

// Agent runs prompts in a session. See the package comment. What is written while
// it works is in the parts, which guard themselves.
type Agent struct {
	parts
	*shutdown
	busy     *work.Claim
	awaiting *awaiting
	sessions *sessions
	tree     *tree
	cwd      string
	isChild  bool // it is not that of the user's own session
}

// parts are what a prompt is worked on with. Each is a type of its own, which knows
// only those that it was given.
type parts struct {
	settings      *inForce
	events        *listeners
	images        imageScaler
	conversation  *conversation
	choice        *choice
	tools         *toolset
	gate          *gate
	modes         *Modes
	inbox         *Inbox
	continuations *continuations
	prompts       *systemPrompts
	sent          *lastSent
	spending      *spending
	meter         *Meter
	asker         *asker
	shortfall     *shortfall
	compactor     *compactor
	userShell     *userShell
	now           func() time.Time
	begin         *Sent // what requests begin with; nil: with tools and system prompt of this agent
}

// New returns an idle agent. Nothing is emitted before [Agent.Start].
func New(o Options) *Agent {
	busy := &work.Claim{}
	p := newParts(o, busy)
	return &Agent{
		parts: p, busy: busy, awaiting: newAwaiting(), shutdown: &shutdown{requested: make(chan struct{})},
		sessions: &sessions{o.NewSession, o.OpenSession, o.CopySession, busy, p.events, p.conversation, p.spending, p.choice, p.inbox, p.prompts, p.modes, &p.compactor.state, p.userShell, &work.Claim{}},
		tree:     &tree{busy, p.events, p.conversation, p.choice, p.modes, p.meter, p.asker, p.settings},
		cwd:      o.Cwd, isChild: o.Child != nil,
	}
}

// newParts makes the parts of an agent that busy occupies.
func newParts(o Options, busy *work.Claim) parts {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Prompt == nil {
		o.Prompt = &SystemPrompt{}
	}
	p := parts{settings: newInForce(o.Settings), events: &listeners{o.Listeners}, tools: &toolset{always: o.Always}, sent: &lastSent{}, now: o.Now, begin: o.Begin}
	p.tools.set(o.Tools, "")
	p.gate = &gate{p.events, p.tools, updatePause, o.Begin}
	if o.EachUpdate {
		p.gate.pause = 0
	}
	p.images = imageScaler{p.settings, p.events}
	p.conversation = newConversation(p.events, p.images, o.Session)
	p.conversation.begin = newBeginning(o.Begin, o.Session)
	p.choice = &choice{events: p.events, conversation: p.conversation, models: o.Models, patterns: o.Cycle, idle: busy.IsIdle,
		selected: selection{o.Model, o.Thinking}}
	p.modes = newModes(&p, o.Session)
	p.inbox = newInbox(p.events, p.settings, newBrake(o.Child.parent()), o.Now)
	p.continuations = &continuations{inbox: p.inbox, events: p.events, isChild: o.IsChild || o.Child != nil}
	p.prompts = &systemPrompts{source: o.Prompt, tools: p.tools, mode: p.modes.Section, cwd: o.Cwd, begin: o.Begin,
		began: func() time.Time { return p.conversation.current().Began() }, now: o.Now}
	p.spending = &spending{events: p.events, conversation: p.conversation, models: o.Models, settings: p.settings}
	if o.Begin != nil {
		p.spending.account.skip = len(o.Session.Entries())
	}
	p.spending.run = runAccount{limit: o.MaxCost, priced: true}
	p.spending.run.begin(o.Session)
	p.meter = &Meter{p.conversation, p.choice, p.tools, p.prompts, p.sent, p.spending}
	p.asker = &asker{events: p.events, models: o.Models, sent: p.sent, spending: p.spending, now: o.Now, settings: p.settings}
	if c := o.Child; c != nil {
		p.spending.above, p.asker.turn = c.Parent.spending, c.Turn
		p.events.all = append([]Listener{&usageAbove{spending: c.Parent.spending, name: c.Name}}, p.events.all...)
	}
	p.shortfall = &shortfall{events: p.events}
	p.compactor = &compactor{events: p.events, conversation: p.conversation, choice: p.choice, meter: p.meter, asker: p.asker,
		inbox: p.inbox, settings: p.settings}
	p.userShell = &userShell{events: p.events, conversation: p.conversation, inbox: p.inbox, busy: busy, shell: o.Shell, cwd: o.Cwd, now: o.Now}
	return p
}

// Listen adds listeners behind the present ones. It may be called before Start
// only.
func (a *Agent) Listen(listeners ...Listener) { a.events.all = append(a.events.all, listeners...) }

// Start tells the listeners that the session has started. If one of them wants context
// events, it also runs the context chain, the hooks that change what the model sees, over
// the messages that the session has so far.
func (a *Agent) Start(ctx context.Context) {
	reason := "startup"
	if a.isChild {
		reason = sessionOfAgent
	}
	a.sessions.emitStart(ctx, reason, "")
	a.modes.Start(ctx)
	a.conversation.refresh(ctx)
}

// sessionOfAgent is why the session of a child starts and ends.
const sessionOfAgent = "agent"

// Close interrupts the run in progress and ends the commands of the user, waits for them
// until ctx ends, drops what hooks have sent and nobody has delivered, tells the listeners
// that the session ends, and closes it. The error is that of closing the session.
func (a *Agent) Close(ctx context.Context) error {
	a.Abort()
	_ = a.WaitIdle(ctx) // a run that does not stop in time goes on without a session
	a.userShell.close(ctx)
	if n := a.inbox.close(); n > 0 {
		what, why := printable.Count(n, "message")+" of hooks", "the program ends"
		if a.isChild { // which the user may have sent one, too
			what, why = printable.Count(n, "message"), "the agent has ended"
		}
		a.events.notifyf(ctx, LevelWarning, "not sent, because %s: %s", why, what)
	}
	a.inbox.takeCompact().refuse(ErrAborted)
	if a.choice.isUnrecorded() {
		a.choice.recordAtRest(ctx)
	}
	a.modes.RecordAtRest(ctx)
	reason := "quit"
	if a.isChild {
		reason = sessionOfAgent
	}
	a.events.emitIf(ctx, KindSessionShutdown, func() Event { return &SessionShutdown{Reason: reason} })
	a.inbox.takeCompact().refuse(ErrAborted) // a listener may have requested another one just now
	return a.Session().Close()
}

// IsIdle reports whether no prompt is running.
func (a *Agent) IsIdle() bool { return a.busy.IsIdle() }

// WaitIdle returns when no prompt is running, or with ctx's error.
func (a *Agent) WaitIdle(ctx context.Context) error { return a.busy.WaitIdle(ctx) }

// Abort interrupts the run in progress, if there is one, and does not wait.
func (a *Agent) Abort() { a.busy.Abort() }

// Interrupt ends one thing that the agent does, and nothing else.
type Interrupt struct {
	parts *parts
	busy  *work.Claim
}

// Interrupt returns what ends one thing only.
func (a *Agent) Interrupt() Interrupt { return Interrupt{&a.parts, a.busy} }

// Work interrupts what [Agent.Abort] does. What it returns is closed when that has ended,
// whatever has begun since.
func (i Interrupt) Work() (ended <-chan struct{}) { return i.busy.Abort() }

// Compaction interrupts the compaction in progress: a run that it belongs to goes on as if
// it had failed. It reports whether there was one.
func (i Interrupt) Compaction() bool { return i.parts.compactor.state.Interrupt() }

// Retry ends the wait for another attempt of a model call in the conversation. The call is
// given up, and its run ends with an error that says so and wraps ErrAborted. It reports
// whether there was such a wait.
func (i Interrupt) Retry() bool { return i.parts.asker.waiting.Interrupt() }

// Session returns the current session.
func (a *Agent) Session() *session.Session { return a.conversation.current() }

// Models returns the registry the agent asks.
func (a *Agent) Models() *llm.Models { return a.choice.models }

// Cwd returns the working directory of the agent and its tools.
func (a *Agent) Cwd() string { return a.cwd }

// Tools returns the active tools in the order the model sees them: those of the mode that is
// on, else those of SetTools.
func (a *Agent) Tools() []Tool { return a.tools.active() }

// SetTools replaces the tools that are active without a mode, from the next model call on.
// by is the hook that chose them, "" if none did.
func (a *Agent) SetTools(tools []Tool, by string) { a.tools.set(tools, by) }

// Modes returns the modes that there are, and turns them on and off.
func (a *Agent) Modes() *Modes { return a.modes }

// AskAt says at which front end the agent asks the user itself. Before that nobody is there.
func (a *Agent) AskAt(ui UI) { a.continuations.ui.Store(&ui) }

// AllowContinuations asks the user whether the hook of o may add up to n requests, unless it may
// already. The error says why it may not.
func (a *Agent) AllowContinuations(ctx context.Context, o Origin, n int) error {
	return a.continuations.allow(ctx, o, n)
}

// Inbox returns what was sent and waits for the front end.
func (a *Agent) Inbox() *Inbox { return a.inbox }

// Meter returns what counts the use of models and the context.
func (a *Agent) Meter() *Meter { return a.meter }

// Totals adds up what the session has used: answers, and the model calls outside
// of the conversation.
func (a *Agent) Totals() Totals {
	used, priced := a.spending.used()
	return Totals{Usage: used, Priced: priced, ContextUsage: a.meter.contextUsage(), Break: a.meter.PrefixBreak()}
}

// Notify shows the user a line that is no part of the conversation.
func (a *Agent) Notify(ctx context.Context, level Level, text string) {
	a.events.Notify(ctx, level, text)
}

// HookFailed hands f, a failure of a hook, to the listeners. If text is not empty, it
// first shows that to the user as an error.
func (a *Agent) HookFailed(ctx context.Context, f *HookFailed, text string) {
	if text != "" {
		a.events.tellAll(ctx, &Notice{Text: text, Level: LevelError, Failed: f})
	}
	a.events.tellAll(ctx, f)
}

// TellServer hands an event about a server of tools to the listeners: an [MCPServer] or an
// [MCPChange]. What becomes of servers is no part of a run.
func (a *Agent) TellServer(ctx context.Context, e Event) { a.events.emit(ctx, e) }

// TellFocus tells the listeners whether the window of the terminal is in front.
func (a *Agent) TellFocus(ctx context.Context, focused bool) {
	a.events.emitIf(ctx, KindFocus, func() Event { return &Focus{focused} })
}

// TellChild hands an event about an agent that a hook of this one's session uses to the listeners: a
// [ChildStart], a [ChildUpdate] or a [ChildEnd].
func (a *Agent) TellChild(ctx context.Context, e Event) { a.events.emit(ctx, e) }

// Model returns the model that the next request goes to.
func (a *Agent) Model() *llm.Model { return a.choice.model() }

// Thinking returns the thinking level of the next request: the wanted one, or the nearest
// that the model offers.
func (a *Agent) Thinking() string { return a.choice.thinking() }

// ThinkingWish returns the thinking level that was chosen. It stays when a model
// offers less, and counts again with one that offers more.
func (a *Agent) ThinkingWish() string { return a.choice.chosen().wish }

// Replace replaces was by now, if was is the selected model: it is the same
// model, of which more is known by now. Nothing is emitted, because nobody chose another
// one.
func (a *Agent) Replace(was, now *llm.Model) { a.choice.replace(was, now) }

// SetModel makes the next request go to model, also while a prompt runs. It fires
// model_select if that is another model than before; source is set, cycle or
// restore. If the thinking level in force becomes another one with it, that is
// told as well.
func (a *Agent) SetModel(ctx context.Context, model *llm.Model, source string) {
	_ = a.choice.set(ctx, model, "", source) // an error would be about the level, and none is given
}

// SetThinking sets the wanted thinking level from the next request on. A level that the
// model does not offer is remembered as the wish, and the nearest one is used, see
// [llm.Clamp]. The error says that there is no such level.
func (a *Agent) SetThinking(ctx context.Context, level string) error {
	if err := llm.CheckThinking(level); err != nil {
		return err
	}
	return a.choice.set(ctx, nil, level, "set")
}

// Select is SetModel and SetThinking in one step; a level of "" leaves that as it
// is.
func (a *Agent) Select(ctx context.Context, model *llm.Model, level, source string) error {
	return a.choice.set(ctx, model, level, source)
}

// ThinkingNote is [ThinkingNote] of the present model, for the level that is wished of it.
func (a *Agent) ThinkingNote() string {
	is := a.choice.chosen()
	return ThinkingNote(a.choice.models, a.Session(), is.model, is.wish)
}

// CycleModel selects the model that is by further among those that the settings name (see
// [llm.Models.Scope]): 1 is the next, -1 the one before. Behind the last comes the first,
// which is also the next one if the present model is none of them. It changes nothing while
// a prompt runs (ErrNotIdle), or if there are fewer than two (ErrFewModels). Names in the
// settings that no model has are shown to the user, once.
func (a *Agent) CycleModel(ctx context.Context, by int) error { return a.choice.cycleModel(ctx, by) }

// CycleThinking goes on to the next level that the model offers, from the highest
// to the lowest. It reports false for a model that offers only one.
func (a *Agent) CycleThinking(ctx context.Context) (bool, error) {
	levels := llm.OfferedLevels(a.Model())
	if len(levels) < 2 {
		return false, nil
	}
	next := levels[(slices.Index(levels, a.Thinking())+1)%len(levels)]
	return true, a.SetThinking(ctx, next)
}

// Context runs the context chain over what the session holds and returns what
// the model would see now, before the messages are put into the form of a
// request. The session is not changed by it. Every run of the chain starts from
// the session, never from an earlier result.
func (a *Agent) Context(ctx context.Context) []session.Item {
	return a.conversation.runChain(ctx).items
}

// Seen returns the result of the last context chain, with what was edited since
// then as it is now, and behind it what the session got since then; the session's
// own list if there was no chain since it was opened.
func (a *Agent) Seen() []session.Item {
	items, _ := a.conversation.seen()
	return items
}

// EditContext makes a lasting edit of what the model sees of one entry of the
// current branch: r nil removes it, else only its content changes. The history
// of the session stays as it is. It returns the id of the edit. Messages of the
// user, answers, tool results and custom messages can be edited.
func (a *Agent) EditContext(ctx context.Context, id string, r *session.Replacement) (string, error) {
	s := a.Session()
	if err := checkEdit(s, id); err != nil {
		return "", fmt.Errorf("edit context: %w", err)
	}
	e, err := s.Append(session.TypeContextEdit, session.ContextEdit{TargetID: id, Replacement: a.images.replacement(ctx, r)})
	if e == nil {
		return "", fmt.Errorf("edit context: %w", err)
	}
	a.conversation.noteEdit(s, id)
	return e.ID, err
}

// SystemPrompt returns the system prompt of the run in progress, or the one that
// the next prompt starts with.
func (a *Agent) SystemPrompt() string {
	if running := a.prompts.ofRun(); running.text != "" {
		return a.prompts.inMode(running).text
	}
	return a.prompts.inMode(plainPrompt(a.prompts.sections())).text
}

// PromptParts returns the sections of the system prompt of the run in progress, or of the one that
// the next prompt starts with. A listener may have put another text in the place of them all.
func (a *Agent) PromptParts() []Section {
	if running := a.prompts.ofRun(); running.text != "" {
		return a.prompts.inMode(running).sections
	}
	return a.prompts.inMode(plainPrompt(a.prompts.sections())).sections
}

// ScopedModels lists the models that [Agent.CycleModel] goes through, each with the level it
// is chosen with, if that is said.
func (a *Agent) ScopedModels() []llm.Choice {
	choices, _ := a.choice.models.Scope(a.choice.patterns)
	return choices
}

// shutdown is the wish that the program ends.
type shutdown struct {
	once      sync.Once
	requested chan struct{} // closed by Shutdown
}

// Shutdown asks the front end to end the program as soon as the prompt that runs is done.
// To end that too, the caller calls [Agent.Abort] as well. Further calls do nothing.
func (s *shutdown) Shutdown() { s.once.Do(func() { close(s.requested) }) }

// ShutdownRequested is closed when somebody asked for the end of the program.
func (s *shutdown) ShutdownRequested() <-chan struct{} { return s.requested }

// Settings are the plain values of the configuration that the loop obeys.
type Settings struct {
	MaxTurns    int  // per prompt; 0: no limit
	MaxRepeats  int  // the same call with the same result, and nothing new in between; 0: no limit
	SteerAll    bool // deliver all steering lines at once instead of one per turn
	FollowUpAll bool

	MaxContinuations int // model requests that hooks may add until somebody says something

	MaxAnswerBytes int // of one answer; 0: no limit

	MaxCost float64 // per session, in the currency of the prices; 0: no limit

	Compaction CompactionSettings
	Retry      RetrySettings

	ImageScale bool // images that are too large for models are made smaller

	Patience llm.Patience // with servers
}

// inForce are the settings that hold now. All parts of an agent have the same one. It is
// safe for concurrent use.
type inForce struct{ settings atomic.Pointer[Settings] }

func newInForce(s Settings) *inForce {
	f := &inForce{}
	f.set(s)
	return f
}

func (f *inForce) get() Settings { return *f.settings.Load() }

func (f *inForce) set(s Settings) { f.settings.Store(&s) }

// Settings returns the settings that hold now.
func (a *Agent) Settings() Settings { return a.settings.get() }

// SetSettings makes other settings hold from now on, also for a run in progress: each
// counts when it is looked at the next time.
func (a *Agent) SetSettings(s Settings) { a.settings.set(s) }
