package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"pi/agent"
	"pi/internal/process"
	"pi/session/message"
)

// Options are what the servers of a session work with.
type Options struct {
	Entries []Entry
	Dir     string // the agent directory, for the cache and mcp.log; "": neither is kept
	Cwd     string // the directory of the session, absolute
	Version string // of this program, which servers are told

	// Environ is the environment of this program, of which servers get what they need; nil:
	// os.Environ.
	Environ func() []string

	// Watcher ends servers that run when this program is killed; nil: nobody does.
	Watcher *process.Watcher

	// HTTP makes the requests to servers, with proxies and certificates as for models; nil:
	// [http.DefaultTransport].
	HTTP http.RoundTripper

	// Authorize returns what signs requests to a server, nil for nothing. It opens no browser:
	// who has not signed in yet gets an error, see [ErrSignIn]. nil: nobody signs in.
	Authorize func(e Entry) (auth.OAuthHandler, error)

	// Elicit asks the user what a server wants to know while it works on a call; nil: there is
	// nobody. It is called for one question of a server at a time.
	Elicit func(ctx context.Context, q Question) (Reply, error)

	// Notify is told of states and changes; nil: nobody is. It is called by one goroutine at a
	// time, in order, and does not call back into [Servers].
	Notify func(Event)
}

// ErrSignIn is what the error of a server wraps that wants its user to sign in first.
var ErrSignIn = errors.New("it wants you to sign in")

// State is what a server does.
type State string

const (
	StateOff      State = "off"      // disabled, or it cannot be started as it is configured
	StateIdle     State = "idle"     // it is started when it is needed
	StateStarting State = "starting" // it is being started
	StateReady    State = "ready"    // it runs, or answers
	StateFailed   State = "failed"   // the last start failed, or it died
	StateSignIn   State = "sign-in"  // it wants its user to sign in
)

// Event is something that became of a server.
type Event struct {
	Server string
	State  State
	Tools  int     // how many it has, as far as is known
	Err    error   // of StateFailed and StateSignIn
	Change *Change // a definition that is another than before; nil: the state is
}

// Change is a tool whose definition is another than when it was listed first.
type Change struct {
	Server, Tool  string
	Before, After *Tool // nil: there is none
}

// Tool is a tool of a server as it was listed.
type Tool struct {
	Server      string
	Tool        string // its name at the server
	Name        string // mcp__SERVER__TOOL, see [Name]
	Title       string
	Description string            // cleaned
	Schema      json.RawMessage   // of its arguments
	Claims      agent.Annotations // what the server says of it
	Exposure    Exposure
	Hash        string // of its definition
	Hidden      int    // characters without a shape that were taken out of the description
}

// Resource is something that a server lets read.
type Resource struct {
	Server, URI, Name, Title, Description, MIMEType string
	Template                                        bool // URI has parts in braces
}

// Prompt is a text for the model that a server has.
type Prompt struct {
	Server, Name, Title, Description string
	Arguments                        []PromptArgument
}

// PromptArgument is a value that the text of a Prompt is made with.
type PromptArgument struct {
	Name, Description string
	Required          bool
}

// Status is what can be told of a server without starting it.
type Status struct {
	Entry                     *Entry
	State                     State
	Known                     bool // it has been listed once: the counts below say something
	Tools, Resources, Prompts int
	Direct                    int      // tools that are offered directly
	Tokens                    int      // that the definitions of those cost with each request
	Description               string   // in a row: the user's, else the first line of what the server says of itself
	Version                   string   // of the protocol that it spoke last
	Err                       error    // why it cannot be used now, or what ended it last; nil: nothing did
	Stderr                    []string // the last rows that it wrote there
	Changes                   []Change // in this session
}

// CallOptions are those of one call.
type CallOptions struct {
	Timeout  time.Duration // without progress; 0: that of the entry
	Progress agent.Update  // may be nil
}

// Result is what a call, or the reading of a resource, gives.
type Result struct {
	Tool       agent.Result
	Structured json.RawMessage // as the server sent it; nil: nothing
}

// Found is what a search gives.
type Found struct {
	Hits   []Hit
	More   int      // how many there are beside these
	Silent []string // servers that are not known yet and did not answer, each with why
}

// Hit is a tool or a resource that a search has found; the other one is nil.
type Hit struct {
	Tool     *Tool
	Resource *Resource
}

// Message is one of the messages of a prompt.
type Message struct {
	Role    string // user or assistant
	Content []message.Block
}
