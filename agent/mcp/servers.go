package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/agent"
	"pi/internal/printable"
	"pi/internal/process"
	"pi/internal/suggest"
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
	// [http.DefaultTransport]. Its idle connections are closed with the servers.
	HTTP http.RoundTripper

	// Authorize returns what signs requests to a server, nil for nothing. It opens no browser:
	// who has not signed in yet gets an error, see [ErrSignIn]; one with a method SignIn, which
	// returns a string, is told in its own words, and one with a method Missing, which returns
	// strings, says what the user has to sign in for beside what they are signed in for. nil:
	// nobody signs in.
	Authorize func(e Entry) (auth.OAuthHandler, error)

	// SignIn asks the user to sign in for what is missing in a request of theirs, and signs them
	// in; false: they do not. nil: there is nobody. It is called by any goroutine.
	SignIn func(ctx context.Context, e Entry, missing []string) bool

	// Elicit asks the user what a server wants to know while it works on a call; nil: there is
	// nobody. It is called for one question of a server at a time.
	Elicit func(ctx context.Context, q Question) (Reply, error)

	// Notify is told of states and changes; nil: nobody is. It is called by one goroutine at a
	// time, in order, and does not call back into [Servers].
	Notify func(Event)

	// ReadIndex returns the index of the cache, which is at path, as it is in force, nil for none,
	// and ChangeIndex changes it and returns why it cannot: who may write it while nobody is looking
	// would have the model told what no server said. nil: whatever is there counts.
	ReadIndex   func(path string) []byte
	ChangeIndex func(path string, change func(old []byte) ([]byte, error)) error

	// OnChange is what becomes of a call of a tool whose definition is another than when it was
	// listed first; "" is tell.
	OnChange OnChange
	// Approve asks the user whether such a tool may be called from now on; nil: there is nobody.
	Approve func(ctx context.Context, c Change) (bool, error)

	// Play connects to servers that are played within this program, in place of starting their
	// processes and reaching them over HTTP; nil: none is played.
	Play Player

	testOnlyDiscoverPatience, testOnlyStart, testOnlyIdle, testOnlyPause time.Duration // in place of the usual times
}

// Player connects to the server of an entry, which speaks the older era of the protocol. It is called
// for each start of one, from any goroutine.
type Player func(e *Entry) (sdk.Transport, error)

// OnChange is what becomes of calls of tools that have changed.
type OnChange string

const (
	TellChange  OnChange = "tell"  // they are made: that there was a change was told
	AskChange   OnChange = "ask"   // the user is asked first; without one they are refused
	BlockChange OnChange = "block" // they are refused until the server is refreshed
)

// Servers are the servers of a session. All methods may be called from any goroutine.
type Servers struct {
	o     Options
	log   logFile
	cache cache
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	work  sync.WaitGroup // what the servers do beside calls

	startWithin, idleAfter, relistPause time.Duration

	mu     sync.Mutex // guards list
	list   []*server
	events sync.Mutex // held while Notify is called
}

// Open returns the servers of a session. Nothing is started and no file read: an entry that
// cannot be used is listed with its error.
func Open(o Options) *Servers {
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	s := &Servers{o: o, startWithin: cmp.Or(o.testOnlyStart, startWithin), idleAfter: cmp.Or(o.testOnlyIdle, idleAfter), relistPause: cmp.Or(o.testOnlyPause, relistPause)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if o.Dir != "" {
		s.log.path, s.cache.dir = filepath.Join(o.Dir, logName), filepath.Join(o.Dir, "cache", "mcp")
		s.cache.readIndex, s.cache.changeIndex = o.ReadIndex, o.ChangeIndex
	}
	for _, e := range o.Entries {
		s.list = append(s.list, newServer(s, e))
	}
	return s
}

// Close ends all servers, and returns when they and what they have started are gone.
func (s *Servers) Close() {
	s.stop()
	var ends sync.WaitGroup
	for _, server := range s.servers() {
		ends.Go(server.end)
	}
	ends.Wait()
	s.work.Wait()
	for _, server := range s.servers() { // one may have been started meanwhile
		server.end()
	}
	s.work.Wait()
	if t, ok := s.o.HTTP.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	s.log.close()
}

// servers are those that there are now.
func (s *Servers) servers() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// tell tells the listener what became of a server.
func (s *Servers) tell(of *server) { s.emit(of, nil, nil) }

// tellChanges tells the listener what became of tools, as a listing has shown it.
func (s *Servers) tellChanges(of *server, changes []Change) {
	var names []string
	for _, c := range changes {
		names = append(names, c.Tool)
	}
	for i := range changes {
		s.emit(of, &changes[i], names)
		names = nil
	}
}

func (s *Servers) emit(of *server, change *Change, changed []string) {
	if s.o.Notify == nil || s.ctx.Err() != nil {
		return
	}
	s.events.Lock()
	defer s.events.Unlock()
	st := of.status()
	s.o.Notify(Event{Server: of.entry.Name, State: st.State, Tools: st.Tools, Err: st.Err, Change: change, Changed: changed})
}

// find returns the server of a name, or an error that says which there are.
func (s *Servers) find(name string) (*server, error) {
	var names []string
	for _, server := range s.servers() {
		if server.entry.Name == name {
			return server, nil
		}
		names = append(names, server.entry.Name)
	}
	switch hint := suggest.Hint(name, names); {
	case hint != "":
		return nil, fmt.Errorf("there is no server %q%s", printable.Short(name), hint)
	case len(names) > 0:
		return nil, fmt.Errorf("there is no server %q; there are %s", printable.Short(name), strings.Join(names[:min(len(names), maxNamed)], ", "))
	}
	return nil, fmt.Errorf("there is no server %q, and no other", printable.Short(name))
}

// findShared is find for who uses what all may: a private server is none.
func (s *Servers) findShared(name string) (*server, error) {
	one, err := s.find(name)
	if err == nil && one.entry.Private {
		return nil, fmt.Errorf("the server %s is that of a %s alone", name, one.entry.Source)
	}
	return one, err
}

// List is what can be told of all servers without starting one, in their order.
func (s *Servers) List() (all []Status) {
	for _, server := range s.servers() {
		all = append(all, server.status())
	}
	return all
}

// Server is what can be told of one; the error says that there is none of that name.
func (s *Servers) Server(name string) (Status, error) {
	server, err := s.find(name)
	if err != nil {
		return Status{}, err
	}
	return server.status(), nil
}

// Add makes one more server one of the session's. The error says that its name cannot be one,
// or is taken.
func (s *Servers) Add(e Entry) error {
	_, err := s.add(e)
	return err
}

// add is Add, and returns the server.
func (s *Servers) add(e Entry) (*server, error) {
	if err := CheckName(e.Name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.list, func(have *server) bool { return have.entry.Name == e.Name }); i >= 0 {
		return nil, fmt.Errorf("there is a server %s already, of %s", e.Name, s.list[i].entry.Source)
	}
	if s.ctx.Err() != nil {
		return nil, errors.New("the session has ended")
	}
	one := newServer(s, e)
	s.list = append(s.list, one)
	return one, nil
}

// Remove takes a server out of the session, and ends it; the error says that there is none of
// that name.
func (s *Servers) Remove(name string) error {
	one, err := s.find(name)
	if err != nil {
		return err
	}
	s.takeOut(one)()
	return nil
}

// takeOut takes a server out of the session, so that its name is free at once. The function
// that it returns has to be called, and returns when the server has ended.
func (s *Servers) takeOut(one *server) (end func()) {
	s.mu.Lock()
	s.list = slices.DeleteFunc(s.list, func(have *server) bool { return have == one })
	s.mu.Unlock()
	return one.retire()
}

// SetOn turns a server on or off, for this session. One that is turned off is ended.
func (s *Servers) SetOn(name string, on bool) error {
	server, err := s.find(name)
	if err != nil {
		return err
	}
	server.mu.Lock()
	server.off = !on
	server.mu.Unlock()
	if !on {
		server.end()
	}
	s.tell(server)
	return nil
}

// Refresh ends a server and starts it again, and accepts its definitions as they are now: a
// tool that has changed is one like others. The error says why it cannot be used.
func (s *Servers) Refresh(ctx context.Context, name string) error {
	server, err := s.find(name)
	if err != nil {
		return err
	}
	server.end()
	server.mu.Lock()
	server.starts, server.changes, server.direct = nil, nil, nil
	server.mu.Unlock()
	_, done, err := server.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	server.settled.Store(nil)
	s.settle(server)
	return server.accept("")
}

// Relist asks a server that runs for its lists, as is done by itself soon after the server said that
// they are others, and returns when its changes were told. One that does not run is asked when it is
// started.
func (s *Servers) Relist(ctx context.Context, name string) error {
	server, err := s.find(name)
	if err != nil {
		return err
	}
	server.mu.Lock()
	c := server.conn
	server.mu.Unlock()
	if c == nil || c.isOver() {
		return nil
	}
	if err := server.listAgain(ctx, c); err != nil {
		return server.named(err)
	}
	return nil
}

// SignedIn lets a server that wanted its user to sign in be used again.
func (s *Servers) SignedIn(name string) error {
	server, err := s.find(name)
	if err != nil {
		return err
	}
	server.end()
	server.mu.Lock()
	server.starts = nil
	if server.state == StateSignIn || server.state == StateFailed {
		server.state, server.err = StateIdle, nil
	}
	server.mu.Unlock()
	s.tell(server)
	return nil
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
	// Changed are the names of all tools that one listing showed to be others, of the first Change of
	// it alone.
	Changed []string
}

// Trouble says why the server cannot be used, and what can be done about it; "" if it can.
func (e Event) Trouble() string {
	if e.Err == nil || e.Change != nil {
		return ""
	}
	return nameError(e.Server, e.Err).Error()
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
	Exposure                  Exposure // of tools that Entry.Tools says nothing of, as far as it is settled
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
	LeftOut                   []string // what of its lists is not there, and why
}

// CallOptions are those of one call.
type CallOptions struct {
	Timeout  time.Duration  // without progress; 0: that of the entry
	Progress agent.Update   // may be nil
	Each     func(Progress) // is told of each message of progress, and does not wait; may be nil
}

// Progress is how far a server says that a call has come.
type Progress struct {
	Done, Total float64 // Total is 0 if it is not known
	Message     string
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

// Hit is a tool or a resource that a search has found.
type Hit struct {
	Server string
	Tool   string // its name at the server; "": it is a resource
	URI    string // of a resource
	Text   string // the beginning of what is said of it
}

// Message is one of the messages of a prompt.
type Message struct {
	Role    string // user or assistant
	Content []message.Block
	Hidden  int // characters without a shape that were taken out of its text
}
