package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pi/agent/llm"
	"pi/agent/prefix"
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

type AfterProviderResponse struct {
	Provider, Model string
	Status          int
	Headers         http.Header
}

type MessageStart struct{ Message *message.Message }

// MessageUpdate is a piece of an answer: a delta of text, thinking or a tool call.
// Listeners may abort the stream, and must not hold it: Handle returns at once.
//
// A listener that looks at deltas behind the stream calls Stop as soon as it wants
// no more, for the model may say nothing further for a long time. So that the last
// word is not lost, one more update comes when the stream is over, with a delta of
// the kind DeltaStop. It carries nothing to show, and a listener may take its time
// with it. It does not come once the answer was aborted, nor after an interrupt.
// All updates of an answer come with the same context, those of the next one with
// another.
type MessageUpdate struct {
	Delta   llm.Delta
	Abort   *Abort // result
	partial func() *message.Message
	stop    func(*Abort)
}

// NewMessageUpdate makes one outside of a stream. partial may be called only
// while the event is handled; stop is what Stop calls, nil for nothing.
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

// Abort ends an answer in the middle. What came of it stays in the file, marked as
// aborted, and is not sent again; Inject is told to the model in its place (a
// custom message of [AbortType], not shown), and it is asked again, in the same
// turn. By is the hook. The fourth in a prompt ends the run.
type Abort struct{ Reason, Inject, By string }

// Message is the answer as far as it has come, built when it is asked for. It
// may be called only while the event is handled.
func (e *MessageUpdate) Message() *message.Message { return e.partial() }

type MessageEnd struct {
	Message *message.Message // result: a message of the same role
	Abort   *Abort           // by which a listener stopped the answer; nil: none did
}

type ModelSelect struct {
	Model, Previous *llm.Model
	ThinkingLevel   string
	Source          string // set cycle restore
}

type ThinkingLevelSelect struct{ Level, Previous string }

// UIPromptStart and UIPromptEnd are told around a dialog: the program waits for
// the person and does not work.
type UIPromptStart struct{ PromptKind, Title string }

type UIPromptEnd struct{ PromptKind, Title string }

type CompactionStart struct {
	Reason string // manual threshold overflow
	Auto   bool   // the event is auto_compaction_start
}

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
// the wait for the next attempt. What came of the call so far does not count: the
// message begins anew, with a further message_start, and has no message_end.
type AutoRetryStart struct {
	Attempt, MaxAttempts int // further ones, from 1
	DelayMS              int
	ErrorMessage         string
	Aside                bool // the call is none of the conversation
}

// Text is what a front end says of it when the wait has so long to go.
func (e *AutoRetryStart) Text(left time.Duration) string {
	seconds := max(1, (left+time.Second-1)/time.Second) // rounded up, for nothing happens in 0 seconds
	return fmt.Sprintf("retry %d/%d in %d s: %s", e.Attempt, e.MaxAttempts, seconds, e.ErrorMessage)
}

// Delay is how long the wait is.
func (e *AutoRetryStart) Delay() time.Duration { return time.Duration(e.DelayMS) * time.Millisecond }

// AutoRetryWaited comes at the end of that wait, whether the call is made again
// now or somebody wants no more of it.
type AutoRetryWaited struct{ Aside bool }

// AutoRetryEnd comes when it is decided: an answer stands, or the call is given up.
type AutoRetryEnd struct {
	Success    bool
	Attempt    int // the last
	FinalError string
}

func (*BeforeProviderRequest) Kind() Kind { return KindBeforeProviderRequest }
func (*BeforeProviderHeaders) Kind() Kind { return KindBeforeProviderHeaders }
func (*AfterProviderResponse) Kind() Kind { return KindAfterProviderResponse }
func (*MessageStart) Kind() Kind          { return KindMessageStart }
func (*MessageUpdate) Kind() Kind         { return KindMessageUpdate }
func (*MessageEnd) Kind() Kind            { return KindMessageEnd }
func (*ModelSelect) Kind() Kind           { return KindModelSelect }
func (*ThinkingLevelSelect) Kind() Kind   { return KindThinkingLevelSelect }
func (*UIPromptStart) Kind() Kind         { return KindUIPromptStart }
func (*UIPromptEnd) Kind() Kind           { return KindUIPromptEnd }
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
