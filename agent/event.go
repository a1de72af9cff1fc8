package agent

import (
	"context"
	"fmt"
	"sync"

	"pi/session"
	"pi/session/message"
)

// Kind names an event; its String is the name that hooks use.
type Kind uint8

const (
	KindNone Kind = iota

	KindProjectTrust
	KindAppStart
	KindSessionDirectory
	KindSessionStart
	KindSessionBeforeSwitch
	KindSessionSwitch
	KindSessionBeforeNew
	KindSessionNew
	KindSessionBeforeBranch
	KindSessionBranch
	KindSessionBeforeCompact
	KindSessionCompacting
	KindSessionCompact
	KindSessionCompactFailed
	KindSessionInfoChanged
	KindSessionBeforeTree
	KindSessionTree
	KindSessionShutdown

	KindLine
	KindInput
	KindBeforeAgentStart
	KindAgentStart
	KindAgentEnd
	KindAgentBeforeSettle
	KindAgentSettled
	KindTurnStart
	KindTurnEnd
	KindContext
	KindContinuationLimit
	KindBeforeProviderRequest
	KindBeforeProviderHeaders
	KindAfterProviderResponse
	KindMessageStart
	KindMessageUpdate
	KindMessageEnd
	KindModelSelect
	KindThinkingLevelSelect
	KindModeSelect
	KindUIPromptStart
	KindUIPromptEnd
	KindFocus
	KindUIPrompt
	KindHookError
	KindCompactionStart
	KindCompactionEnd
	KindAutoCompactionStart
	KindAutoCompactionEnd
	KindAutoRetryStart
	KindAutoRetryEnd

	KindToolCall
	KindToolResult
	KindToolExecutionStart
	KindToolExecutionUpdate
	KindToolExecutionEnd
	KindUserBash
	KindShell
	KindMCPServer
	KindMCPChange
	KindChildStart
	KindChildEnd

	KindNotice          // not for hooks: a line for the user
	KindCustomShow      // not for hooks: a message that is to be shown came into the session: of a hook, or typed while the agent worked
	KindToolClock       // not for hooks: the time of a tool begins to run, stands or goes on
	KindToolRan         // not for hooks: a tool has ended, and its result waits for its turn
	KindAutoRetryWaited // not for hooks: the wait that auto_retry_start told of is over
	KindEntryAppended   // not for hooks: an entry came into the session
	KindQueueChanged    // not for hooks: the texts that people and programs have queued are others
	KindChildUpdate     // not for hooks: an agent that works for a hook has told of its work

	KindOtherMessageStart // message_start of another role than assistant, for who listens to all roles
	KindOtherMessageEnd   // message_end likewise
	numKinds
)

var kindNames = [numKinds]string{
	"",
	"project_trust", "app_start", "session_directory", "session_start", "session_before_switch", "session_switch",
	"session_before_new", "session_new", "session_before_branch", "session_branch", "session_before_compact",
	"session_compacting", "session_compact", "session_compact_failed", "session_info_changed", "session_before_tree",
	"session_tree", "session_shutdown",
	"line", "input", "before_agent_start", "agent_start", "agent_end", "agent_before_settle", "agent_settled", "turn_start",
	"turn_end", "context", "continuation_limit", "before_provider_request", "before_provider_headers", "after_provider_response",
	"message_start", "message_update", "message_end", "model_select", "thinking_level_select", "mode_select", "ui_prompt_start",
	"ui_prompt_end", "focus", "ui_prompt", "hook_error", "compaction_start", "compaction_end", "auto_compaction_start", "auto_compaction_end",
	"auto_retry_start", "auto_retry_end",
	"tool_call", "tool_result", "tool_execution_start", "tool_execution_update", "tool_execution_end", "user_bash", "shell",
	"mcp_server", "mcp_change", "child_start", "child_end",
	"notice", "custom_show", "tool_clock", "tool_ran", "auto_retry_waited",
	"entry_appended", "queue_changed", "child_update",
	"other_message_start", "other_message_end",
}

func (k Kind) String() string { return kindNames[k] }

// Event is a pointer to one of the structs of the event_*.go files. Fields
// under "result" are written by listeners, everything else is read only.
type Event interface{ Kind() Kind }

// listeners are told of everything, in their order. Those of an agent are complete
// before it starts, see [Agent.Listen]; from then on all methods may be called from
// any goroutine.
type listeners struct{ all []Listener }

// wants reports whether anybody listens to k; events nobody wants are not built.
func (ls *listeners) wants(k Kind) bool {
	for _, l := range ls.all {
		if l.Wants(k) {
			return true
		}
	}
	return false
}

// emitIf builds and emits an event of kind k, if anybody listens to it.
func (ls *listeners) emitIf(ctx context.Context, k Kind, build func() Event) {
	if ls.wants(k) {
		ls.emit(ctx, build())
	}
}

// emitAfter is emitIf for an event that listeners get also after an interrupt: if ctx is
// cancelled already, they run with one that is not, see uncancelled.
func (ls *listeners) emitAfter(ctx context.Context, k Kind, build func() Event) {
	if ls.wants(k) {
		ls.emit(uncancelled(ctx), build())
	}
}

// uncancelled returns ctx, or a copy without its cancellation if it is cancelled
// already, so that listeners still run after an interrupt. An interrupt that comes
// while they run reaches them.
func uncancelled(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return context.WithValue(context.WithoutCancel(ctx), interruptedKey{}, true)
	}
	return ctx
}

type interruptedKey struct{}

// Interrupted reports whether ctx came with an event of a run that had been interrupted
// before. A listener should then not take long, for nobody wants to wait.
func Interrupted(ctx context.Context) bool { return ctx.Value(interruptedKey{}) != nil }

// emit hands e to the listeners in order. If one fails, the user is shown the error, and
// the others get e all the same. For events where an error has a meaning there is
// emitGate.
func (ls *listeners) emit(ctx context.Context, e Event) {
	ls.emitUntil(ctx, e, func() bool { return false })
}

// emitUntil hands e to the listeners in order until decided reports true, which it is
// asked after each. A listener that fails is shown to the user and passed over.
func (ls *listeners) emitUntil(ctx context.Context, e Event, decided func() bool) {
	for _, l := range ls.all {
		if !l.Wants(e.Kind()) {
			continue
		}
		if err := handle(ctx, l, e); err != nil {
			ls.Notify(context.WithoutCancel(ctx), LevelError, err.Error())
		}
		if decided() {
			return
		}
	}
}

// emitGate hands e to the listeners in order, up to the first error, which it
// returns, or until decided reports true.
func (ls *listeners) emitGate(ctx context.Context, e Event, decided func() bool) error {
	for _, l := range ls.all {
		if !l.Wants(e.Kind()) {
			continue
		}
		if err := handle(ctx, l, e); err != nil {
			return err
		}
		if decided() {
			return nil
		}
	}
	return nil
}

// handle turns a crash of a listener into its error, so that it neither ends the program
// nor opens a gate.
func handle(ctx context.Context, l Listener, e Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("listener for %s crashed: %v", e.Kind(), p)
		}
	}()
	return l.Handle(ctx, e)
}

// Notify shows the user a line that is no part of the conversation.
func (ls *listeners) Notify(ctx context.Context, level Level, text string) {
	ls.tellAll(ctx, &Notice{Text: text, Level: level})
}

// tellAll hands e to all listeners that want it. Their errors are dropped: they are the
// front ends, and a failure to show something cannot be shown.
func (ls *listeners) tellAll(ctx context.Context, e Event) {
	for _, l := range ls.all {
		if l.Wants(e.Kind()) {
			_ = handle(ctx, l, e) // a front end that cannot show a notice has no better place to say so
		}
	}
}

// notifyf is Notify with a format.
func (ls *listeners) notifyf(ctx context.Context, level Level, format string, args ...any) {
	ls.Notify(ctx, level, fmt.Sprintf(format, args...))
}

// Listener is told of everything the agent does; it is the only way out of the loop.
//
// Wants is asked before an event is built, so an event nobody wants costs
// nothing. Handle is called on the agent's goroutine (tool_execution_update
// comes from the tool's) and may change the result fields of the event. Its
// error is reported to the other listeners, except for events that are gates
// (tool_call, user_bash, shell): there it blocks.
type Listener interface {
	Wants(Kind) bool
	Handle(ctx context.Context, e Event) error
}

// Level grades a notice.
type Level string

const (
	LevelInfo    Level = "info"
	LevelWarning Level = "warning"
	LevelError   Level = "error"
)

// Notice is a line for the user that is no part of the conversation.
type Notice struct {
	Text   string
	Level  Level
	Failed *HookFailed // what it is about, if that is the failure of a hook
}

func (*Notice) Kind() Kind { return KindNotice }

// announcer emits [EntryAppended] for the entries that come into one session, whoever
// appends them: each once, in their order, one at a time. All methods may be called from
// any goroutine, but not by a listener to EntryAppended, which must not append either.
type announcer struct {
	events  *listeners
	session *session.Session

	mu     sync.Mutex        // guards what follows, and is locked while a listener has an entry
	told   int               // of the entries of the session
	paused bool              // what comes in waits for resume
	before map[string]func() // is called right before an entry is told, by its id
}

// announce returns the announcer of a session, whose present entries nobody is told of.
func announce(events *listeners, s *session.Session) *announcer {
	a := &announcer{events: events, session: s, told: len(s.Entries())}
	s.Watch(a.tell)
	return a
}

// stop ends the watch: of what is appended later nobody is told.
func (a *announcer) stop() { a.session.Watch(nil) }

// tell emits what has come in since the last call.
func (a *announcer) tell() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.paused {
		a.tellRest(func(*session.Entry) bool { return true })
	}
}

// tellRest emits the new entries that are wanted; the caller has the lock.
func (a *announcer) tellRest(wanted func(*session.Entry) bool) {
	entries := a.session.Entries()
	fresh := entries[min(a.told, len(entries)):]
	a.told = len(entries)
	wants := a.events.wants(KindEntryAppended)
	for _, e := range fresh {
		if f := a.before[e.ID]; f != nil {
			delete(a.before, e.ID)
			f()
		}
		if wants && wanted(e) {
			a.events.emit(context.Background(), &EntryAppended{Entry: e, Message: messageOf(e)})
		}
	}
}

// messageOf returns the message that an entry is, a custom one too; nil for entries of
// other kinds, also for those that the model sees as a message, such as a summary.
func messageOf(e *session.Entry) *message.Message {
	if e.Type == session.TypeMessage || e.Type == session.TypeCustomMessage {
		return e.Message()
	}
	return nil
}

// pause makes what comes in wait for resume or refuse: messages that open a turn are told
// behind the event that begins it.
func (a *announcer) pause() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = true
}

// resume ends a pause and emits what came in meanwhile.
func (a *announcer) resume() {
	a.mu.Lock()
	a.paused = false
	a.mu.Unlock()
	a.tell()
}

// refuse ends a pause like resume, but passes over the messages: those of a prompt that
// was refused in the end.
func (a *announcer) refuse() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paused = false
	a.tellRest(func(e *session.Entry) bool { return messageOf(e) == nil })
}

// precede has f called right before the entry id is told. It may be called in a pause
// only, for later the entry is told already.
func (a *announcer) precede(id string, f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.before == nil {
		a.before = map[string]func(){}
	}
	a.before[id] = f
}
