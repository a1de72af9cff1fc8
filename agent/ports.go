package agent

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"

	"pi/session"
)

// Provider speaks one wire API.
//
// Stream sends r and yields the answer as it arrives; the consumer's break
// cancels the request. An error ends the sequence; what was yielded before it
// stands. A stream that ends without an error and without a [DeltaStop] was cut
// off, and the provider must yield an error that says so instead. Stream is
// safe for concurrent use.
type Provider interface {
	Stream(ctx context.Context, r *Request) iter.Seq2[Delta, error]
}

// Request is one model call. The consumer reads it only.
type Request struct {
	Model     *Model
	System    string
	Messages  []*session.Message // roles user, assistant, toolResult only; calls and results are paired
	Tools     []ToolSpec
	Thinking  string // off minimal low medium high xhigh max
	MaxTokens int    // 0: the model's own limit
	MaxAnswer int    // bytes; 0: no limit. Longer, it ends with [ErrAnswerTooLong]
	SessionID string
	APIKey    string // "" if the model needs none
	Fresh     bool   // the connection that was used last is not to be trusted
	Headers   map[string]string

	// Callbacks for the provider events; each may be nil. Body is given the
	// encoded request body and returns the one to send; Header may change the
	// headers (the key is already among them); Response sees the answer's
	// status line before its body is read.
	Body     func(context.Context, []byte) ([]byte, error)
	Header   func(context.Context, http.Header) error
	Response func(context.Context, int, http.Header)
}

// DeltaKind says what a Delta carries.
type DeltaKind uint8

const (
	DeltaPing      DeltaKind = iota // nothing but a sign of life
	DeltaText                       // Text: more answer text
	DeltaThinking                   // Text: more thinking
	DeltaRedacted                   // Text: the opaque data of a redacted thinking block
	DeltaToolCall                   // ID and Name (first delta of a call), Text: more of its JSON arguments
	DeltaSignature                  // Text: signature of the block Index, of whatever type it is
	DeltaWhole                      // Text: all text or arguments of a block that has begun, in place of what came
	DeltaUsage                      // Usage: counts so far; replaces earlier ones
	DeltaStop                       // Stop: why the message ended
)

// Delta is one step of a streamed answer. Index is the content block it belongs
// to: any number that is the same for all deltas of a block and differs between
// blocks of the message; blocks stand in the order of their first delta.
type Delta struct {
	Kind     DeltaKind
	Index    int
	Text     string
	ID, Name string
	Usage    *session.Usage
	Stop     Stop
}

// Stop is the end of an answer.
type Stop struct {
	Reason  session.StopReason // also StopRefusal and StopPause
	Raw     string             // the provider's own word
	Message string             // what the provider said about it, for a refusal or error

	Retryable bool // an error that may not happen the next time
}

// Stop reasons of the wire that the session file has no word for. A refusal is
// stored as an error, a pause is answered by asking again.
const (
	StopRefusal session.StopReason = "refusal"
	StopPause   session.StopReason = "pause"
)

// Model is one model of one provider. It is immutable once registered.
type Model struct {
	Provider      string
	ID            string
	Name          string
	API           string // anthropic-messages, openai-completions, …, lua
	BaseURL       string // without the API's own path, without a slash at the end
	ContextWindow int    // tokens; 0: unknown
	MaxTokens     int    // of one answer; 0: unknown
	Reasoning     bool
	Levels        []string // thinking levels it offers, lowest first, "off" only if it can be; nil: not known. See Clamp
	Input         []string // "text", "image"
	Cost          *Price   // nil: unknown
	Headers       map[string]string
	Compat        map[string]any // switches of the wire API, named by its package
	NeedsKey      bool
}

// Price is per million tokens. A price below zero is not known.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Tool is something a model can do. Its description is immutable. Run gets
// arguments that passed the schema; an error is told to the model as it reads.
// Run honours ctx and may be called concurrently.
type Tool interface {
	Spec() ToolSpec
	Run(ctx context.Context, input json.RawMessage, update Update) (Result, error)
}

// Preparer is a Tool that has a say in how its arguments are read. Prepare gets
// them as the model sent them and returns those that are checked against the
// schema, shown to the gate and run. An error is told to the model as it reads.
type Preparer interface {
	Prepare(ctx context.Context, input json.RawMessage) (json.RawMessage, error)
}

// ToolSpec describes a tool to the model and to the loop.
type ToolSpec struct {
	Name        string
	Label       string
	Description string
	Parameters  json.RawMessage // JSON Schema of an object
	Snippet     string          // one line for the system prompt
	Guidelines  []string        // for the system prompt, while the tool is active
	Sequential  bool            // never runs beside other calls of the same message
}

// Update reports progress of a running tool. It never blocks and may be nil.
type Update func(Result)

// Result is what a tool run gives back. It is what the model sees, and Details
// are for people and hooks.
type Result struct {
	Content   []session.Block
	Details   json.RawMessage
	IsError   bool
	Usage     *session.Usage
	Terminate bool // end the run if all calls of the batch say so
}

// TextResult is a Result of one text block.
func TextResult(s string) Result { return Result{Content: []session.Block{session.TextBlock(s)}} }

// Listener hears everything the agent does; it is the only way out of the loop.
//
// Wants is asked before an event is built, so an event nobody wants costs
// nothing. Handle is called on the agent's goroutine (tool_execution_update
// comes from the tool's) and may change the result fields of the event. Its
// error is reported to the other listeners, except for events that are gates
// (tool_call, user_bash): there it blocks.
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
