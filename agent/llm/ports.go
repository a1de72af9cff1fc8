// Package llm is what a model is and how it is asked, for those who ask and for
// those who answer.
//
// A [Provider] speaks one wire API: it is given a [Request] and streams a [Delta]
// after the other, which an [Assembly] joins into the message. What fails is a
// [ProviderError]: the words of the server, what a user can do about it, and
// whether it may pass. Who asks, retries, counts and stores is not known here; that
// is package agent.
//
// [Models] is the registry of those that there are: catalogue, settings and hooks
// register a [ProviderSpec] each (providers.go), keys are asked for when they are
// needed, and a server can be asked what it has (discover.go). A user names a model
// in many ways, all of which [Models.Match] reads (match.go, names.go, nearest.go), or several of
// them by patterns (scope.go). How much a model thinks is a level (thinking.go), what it
// costs a [Price].
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"slices"

	"pi/session/message"
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
	Messages  []*message.Message // roles user, assistant, toolResult only; calls and results are paired
	Tools     []ToolSpec
	Thinking  string // off minimal low medium high xhigh max; "": nothing is said of it
	Off       bool   // Thinking is off and the user said so: the model is told, though nobody knows that it can be; see AsksOff
	MaxTokens int    // 0: the model's own limit
	MaxAnswer int    // bytes; 0: no limit. Longer, it ends with [ErrAnswerTooLong]
	SessionID string
	APIKey    string // "" if the model needs none
	Fresh     bool   // the connection that was used last is not to be trusted
	Headers   map[string]string

	// Secret are headers that let the request in, beside the key or in its place. They are set last:
	// the callbacks do not see them, and no error repeats a value.
	Secret map[string]string

	// Refused are the thoughts of earlier answers that a server has refused, see
	// [ProviderError].Unfit: they stay out. Nobody writes to it.
	Refused map[Thought]bool

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
	Usage    *message.Usage
	Stop     Stop

	// Spoken is of thinking: the thought is for the user, as what a model says between its
	// calls. That may be known only when all of it has come; a delta without text says it then.
	Spoken bool
}

// Stop is the end of an answer.
type Stop struct {
	Reason  message.StopReason // also StopRefusal and StopPause
	Raw     string             // the provider's own word
	Message string             // what the provider said about it, for a refusal or error

	Retryable bool // an error that may not happen the next time
}

// Stop reasons of the wire that the session file has no word for. A refusal is
// stored as an error, a pause is answered by asking again.
const (
	StopRefusal message.StopReason = "refusal"
	StopPause   message.StopReason = "pause"
)

// The wire APIs, each by the one name that it has as [Model.API], in settings and in session
// files.
const (
	AnthropicMessages  = "anthropic-messages"
	OpenAICompletions  = "openai-completions"
	OpenAIResponses    = "openai-responses"
	GoogleGenerativeAI = "google-generative-ai"
)

// Model is one model of one provider. It is immutable once registered.
type Model struct {
	Provider      string
	ID            string
	Name          string
	API           string // a wire API, or "lua"
	BaseURL       string // without the API's own path, without a slash at the end
	ContextWindow int    // tokens; 0: unknown
	MaxTokens     int    // of one answer; 0: unknown
	Reasoning     bool
	MayThink      bool     // without Reasoning: nobody knows whether it does
	Levels        []string // thinking levels it offers, lowest first, "off" only if it can be; nil: not known. See Clamp
	Input         []string // "text", "image"
	Cost          *Price   // nil: unknown
	Headers       map[string]string
	Compat        map[string]any // switches of the wire API, named by its package
	NeedsKey      bool
	Like          string // provider/id of the listed model whose facts an unlisted one was given; "": none
}

// TakesImages reports whether the model takes images. One that does not say what it takes is
// believed to.
func (m *Model) TakesImages() bool { return len(m.Input) == 0 || slices.Contains(m.Input, "image") }

// Price is per million tokens. A price below zero is not known.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64

	Above *Step // what a longer prompt costs; nil: the same
}

// Step is a price by the length of the prompt: a request with more than these tokens in its
// prompt, cached ones among them, costs that price as a whole.
type Step struct {
	Tokens int
	Price  Price // its own Above is that of a prompt which is longer still
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
