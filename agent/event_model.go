package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pi/agent/llm"
	"pi/agent/prefix"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// BeforeProviderRequest is the body of a request as it will be sent.
type BeforeProviderRequest struct {
	Provider, Model string
	Payload         json.RawMessage // result
	Stages          []PayloadStage  // result: in order, one for each answer
}

// PayloadStage is the body as one listener left it.
type PayloadStage = prefix.Stage[json.RawMessage]

// BeforeProviderHeaders are the headers of a request. Values that hold the key
// read "…"; those that a listener leaves alone are sent as they were.
type BeforeProviderHeaders struct {
	Provider, Model string
	Headers         map[string]string
	Changed         map[string]*string // result: set, or (nil) removed; merged
}

// AfterProviderResponse comes with the head of the answer to a request over HTTP.
type AfterProviderResponse struct {
	Provider, Model string
	Status          int
	Headers         http.Header
}

// MessageStart comes with the first delta of an answer, or before MessageEnd if there is
// none: then the message is that of MessageEnd, with its StopReason, which is empty else.
type MessageStart struct{ Message *message.Message }

// MessageUpdate is a piece of an answer: a delta of text, thinking or a tool call.
// Listeners may abort the stream, and must not delay it: Handle returns at once.
//
// A listener that looks at deltas later than they come calls Stop as soon as it wants
// no more, for the model may send nothing further for a long time. So that it can stop
// the answer after the last delta as well, one more update comes when the stream is
// over, with a delta of the kind DeltaStop. It has nothing to show, and a listener may
// be slow with it. It does not come once the answer was aborted, nor after an interrupt.
// All updates of an answer come with the same context, those of the next one with
// another.
type MessageUpdate struct {
	Delta   llm.Delta // of any kind, its Usage is what the provider has counted so far; nil: nothing
	Abort   *Abort    // result
	partial func() *message.Message
	stop    func(*Abort)
}

// NewMessageUpdate returns an update that does not come from a stream of the agent.
// partial returns the message so far and is only called while the event is handled; stop
// is called by Stop and may be nil.
func NewMessageUpdate(d llm.Delta, partial func() *message.Message, stop func(*Abort)) *MessageUpdate {
	return &MessageUpdate{Delta: d, partial: partial, stop: stop}
}

// Stop aborts the answer that the delta belongs to, at once and whatever its
// stream waits for. Unlike the result Abort it may come from any goroutine and
// after the event was handled. The first abort of an answer counts; once the
// answer is over, it has no effect.
func (e *MessageUpdate) Stop(abort *Abort) {
	if e.stop != nil {
		e.stop(abort)
	}
}

// Abort ends an answer in the middle. The part that has come stays in the file, marked
// as aborted, and is not sent again; the model gets Inject instead (a custom
// message of [AbortType], not shown), and is asked again, in the same turn. By is the
// hook. The fourth in a prompt ends the run.
type Abort struct{ Reason, Inject, By string }

// Message builds and returns the answer as far as it has come. It may only be called while
// the event is handled.
func (e *MessageUpdate) Message() *message.Message { return e.partial() }

// MessageEnd comes with a whole answer before it is added to the session, also with one
// that failed or was stopped.
type MessageEnd struct {
	Message *message.Message // result: a message of the same role
	Abort   *Abort           // by which a listener stopped the answer; nil: none did
}

// ModelSelect comes when the next request goes to another model than the last one would
// have.
type ModelSelect struct {
	Model, Previous *llm.Model
	ThinkingLevel   string
	Source          string // set cycle restore
}

// ThinkingLevelSelect comes when the thinking level in force has become another one.
type ThinkingLevelSelect struct{ Level, Previous string }

// ModeSelect comes when another mode is on than before; "" is none. After the start, and
// after the session was replaced, it comes for the mode that the session was left in.
type ModeSelect struct {
	Name, Previous string
	Source         string // flag key command hook client restore
}

// UIPromptStart comes before a dialog, in which the program waits for the user.
type UIPromptStart struct{ PromptKind, Title string }

// UIPromptEnd comes after a dialog.
type UIPromptEnd struct{ PromptKind, Title string }

// UIPrompt comes when a dialog of a hook opens that another hook may answer.
type UIPrompt struct {
	ID, PromptKind, Title, Message string
	Choices                        []Choice // of select
	Multi                          bool     // several of them may be taken
	Hook                           string   // that asks
}

// Why a context is compacted, as events name it.
const (
	CompactManual    = "manual"    // somebody asked for it
	CompactThreshold = "threshold" // the window of the model is nearly full
	CompactOverflow  = "overflow"  // a request did not fit
)

// CompactOptions say how the context is compacted.
type CompactOptions struct {
	Instructions string // what the summary should look at; may be empty
	IfSmaller    bool   // it is compaction.ErrNotSmaller where the context would not get smaller, and no model is asked
}

// Compacted is a compaction that has happened.
type Compacted struct {
	Entry         *session.Entry
	Messages      int // that the summary replaces
	Before, After int // tokens of the context, about
	FromHook      bool
	Usage         message.Usage // of the model for the summary
}

// Text says what happens in one line.
func (e *CompactionStart) Text() string {
	switch e.Reason {
	case CompactThreshold:
		return "compacting: the context is nearly full"
	case CompactOverflow:
		return "compacting: the request did not fit the model's context window"
	}
	return "compacting"
}

// Text says in one line how the compaction ended; "" where its error is told elsewhere.
func (e *CompactionEnd) Text() string {
	switch {
	case e.Done != nil:
		return e.Done.String()
	case e.Aborted:
		return "not compacted: " + e.ErrorMessage
	}
	return ""
}

// String says in one line what was compacted.
func (c *Compacted) String() string {
	return fmt.Sprintf("compacted: %s → summary, about %s → %s tokens", printable.Count(c.Messages, "message"), printable.Grouped(c.Before), printable.Grouped(c.After))
}

// CompactionStart comes when a compaction begins. For one that nobody asked for it comes
// once more as auto_compaction_start.
type CompactionStart struct {
	Reason string           // manual threshold overflow
	Auto   bool             // the event is auto_compaction_start
	Failed *message.Message // with overflow: the answer that did not fit, with its error; it has left the context. Else nil
}

// CompactionEnd comes after each CompactionStart, however the compaction ended. For one
// that nobody asked for it comes once more as auto_compaction_end.
type CompactionEnd struct {
	Reason       string
	Done         *Compacted     // what happened; nil: nothing
	Result       *session.Entry // nil: none
	Aborted      bool
	WillRetry    bool
	ErrorMessage string
	Auto         bool // the event is auto_compaction_end
}

// AutoRetryStart comes when a model call failed for a reason that may pass, before
// the wait for the next attempt. The part of the answer that has come does not count:
// the message begins anew, with a further message_start, and has no message_end.
type AutoRetryStart struct {
	Attempt, MaxAttempts int // further ones, from 1
	DelayMS              int
	ErrorMessage         string
	Aside                bool             // the call is none of the conversation
	Failed               *message.Message // what came of the attempt and is not stored, without calls, with the error; nil with Aside
}

// Text returns the line that a front end shows while the agent waits, with the seconds
// left.
func (e *AutoRetryStart) Text(left time.Duration) string {
	seconds := max(1, (left+time.Second-1)/time.Second) // rounded up, for nothing happens in 0 seconds
	return fmt.Sprintf("retry %d/%d in %d s: %s", e.Attempt, e.MaxAttempts, seconds, e.ErrorMessage)
}

// Delay returns how long the agent waits before the next attempt.
func (e *AutoRetryStart) Delay() time.Duration { return time.Duration(e.DelayMS) * time.Millisecond }

// AutoRetryWaited comes at the end of that wait, also where it was interrupted.
type AutoRetryWaited struct {
	Aside     bool
	Cancelled bool // the wait was interrupted: no further attempt is made
}

// AutoRetryEnd comes when a call that was made again has an answer or is given up.
type AutoRetryEnd struct {
	Success    bool
	Attempt    int // the last
	FinalError string
	Aside      bool // the call was none of the conversation
}

func (*BeforeProviderRequest) Kind() Kind { return KindBeforeProviderRequest }
func (*BeforeProviderHeaders) Kind() Kind { return KindBeforeProviderHeaders }
func (*AfterProviderResponse) Kind() Kind { return KindAfterProviderResponse }
func (*MessageStart) Kind() Kind          { return KindMessageStart }
func (*MessageUpdate) Kind() Kind         { return KindMessageUpdate }
func (*MessageEnd) Kind() Kind            { return KindMessageEnd }
func (*ModelSelect) Kind() Kind           { return KindModelSelect }
func (*ThinkingLevelSelect) Kind() Kind   { return KindThinkingLevelSelect }
func (*ModeSelect) Kind() Kind            { return KindModeSelect }
func (*UIPromptStart) Kind() Kind         { return KindUIPromptStart }
func (*UIPromptEnd) Kind() Kind           { return KindUIPromptEnd }
func (*UIPrompt) Kind() Kind              { return KindUIPrompt }
func (*AutoRetryWaited) Kind() Kind       { return KindAutoRetryWaited }
func (*AutoRetryStart) Kind() Kind        { return KindAutoRetryStart }
func (*AutoRetryEnd) Kind() Kind          { return KindAutoRetryEnd }

func (e *CompactionStart) Kind() Kind {
	if e.Auto {
		return KindAutoCompactionStart
	}
	return KindCompactionStart
}

func (e *CompactionEnd) Kind() Kind {
	if e.Auto {
		return KindAutoCompactionEnd
	}
	return KindCompactionEnd
}
