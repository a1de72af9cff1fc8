// Package acp serves the Agent Client Protocol, by which editors drive agents: lines of
// JSON-RPC over a pair of streams, usually standard input and output. A [Server] has any
// number of sessions, each with an agent and hooks of its own, which its [SessionOpener] makes:
//
//	v := acp.New(acp.Options{In: os.Stdin, Out: os.Stdout, Opener: opener, …})
//	err := v.Run(ctx) // until the client ends the input, or ctx is done
//
// What happens in which file:
//
//	acp.go        the server, from the first line to the end
//	rpc.go        requests, replies and errors, both ways, and what they carry
//	shapes.go     what is written, by the protocol's schema
//	requests.go   which request does what
//	session.go    one session and the updates that the client gets of it
//	opening.go    sessions begin and end; listing.go: those that there are; replay.go: what
//	              was said before
//	blocks.go     a prompt as the client sends it; prompt.go: it is worked on, a command or
//	              not, and ends
//	events.go     what the agent does becomes updates; calls.go: calls of tools
//	options.go    what the user can choose: model, thinking, mode
//	dialogs.go    questions of hooks go to the client, and what else they show; questions.go:
//	              those of MCP servers
//	files.go      the client's files
//
// The client's capabilities decide what it is sent. Nothing is written before it asks.
// Requests are read in order; those to one session begin in that order, and all else
// happens at the same time.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/tool"
	"pi/internal/jsonlines"
)

// Options are what a Server works with.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Version string // of the program
	Opener  SessionOpener
	// SignIn are the arguments that make the program ask for a key in a terminal; nil: none do.
	SignIn   []string
	FileWait time.Duration // how long the client may take for one of its files; 0: 30 s
	// Root is the folder with the sessions of all directories; "" if none are kept.
	Root string
	// Catch calls work and makes an error of a panic in it; nil: a panic ends the program.
	Catch func(work func() error) error
}

// SessionOpener makes and removes sessions.
type SessionOpener interface {
	// Open makes the run of a session ready, but for Start. ctx is that of the run. After
	// an error nothing is open.
	Open(ctx context.Context, o SessionRequest) (*Run, error)
	// Remove moves the session at path to the trash. It fails if a process has it open.
	Remove(path string) error
}

// SessionRequest says what run a client wants.
type SessionRequest struct {
	Cwd      string // absolute
	Path     string // of the session; "" for a new one
	ID       string // of a new session; "" for a fresh one
	UI       agent.UI
	Listener agent.Listener
	Files    tool.Files // of the client
	// Servers are those of MCP that the client hands over for the session, as it wrote them.
	Servers json.RawMessage
}

// Run is a session with all that works in it.
type Run struct {
	Agent    *agent.Agent
	Commands *command.Set
	// Ready is called before each prompt; its error says why the prompt is not sent. chosen
	// says that the client has chosen the model.
	Ready func(chosen bool) error
	// Answered is called once, when the client knows that the session is open. It does not wait.
	// It may be nil.
	Answered func()
	// Close interrupts what runs, tells the hooks and closes the session.
	Close func(ctx context.Context) error
}

// ErrGone ends a server whose client reads no more, and whose input is still open.
var ErrGone = errors.New("nobody reads the output")

// Server serves one client.
type Server struct {
	Options
	conn *connection
	ctx  context.Context // of everything that is done for the client
	stop context.CancelFunc

	requests sync.WaitGroup // those that are worked on
	key      string         // of the cursors that this server gives

	mu       sync.Mutex // guards what follows
	client   *client    // nil before initialize
	sessions map[string]*session
	empty    map[string]string  // the directories of sessions that were closed with nothing on the disk, by their ids
	tasks    map[*task]struct{} // the requests that can be cancelled
	draining bool               // no request is begun any more
	ending   bool               // no session is begun any more
}

// New returns a Server that has read nothing yet.
func New(o Options) *Server {
	ctx, stop := context.WithCancel(context.Background())
	return &Server{Options: o, ctx: ctx, stop: stop, key: newID(), sessions: map[string]*session{}, empty: map[string]string{}, tasks: map[*task]struct{}{}}
}

// How long the end may take.
const (
	endOfRequests = 2 * time.Second // until the requests have their answers
	endOfOutput   = time.Second     // until the client has read the rest
)

// Run serves the client until its input ends or ctx is done; both are no errors, and neither
// is a client that is gone. Then all prompts are cancelled and all sessions closed. It is
// ErrGone if only the output is broken.
func (v *Server) Run(ctx context.Context) error {
	out := jsonlines.NewWriter(v.Out)
	v.conn = &connection{out: out, over: make(chan struct{}), waiting: map[int64]chan *incoming{}}
	read := make(chan error, 1)
	go func() { read <- v.readAll() }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	case <-out.Broken():
		select {
		case <-read: // the client is gone, and has not just closed its end of our output
		case <-time.After(100 * time.Millisecond):
			err = ErrGone
		}
	}
	v.end(ctx, out)
	return err
}

// end gives the requests that are worked on a moment, cancels prompts at once, and closes
// all sessions. The output ends before those: a client that reads nothing must not keep
// them from being stored.
func (v *Server) end(ctx context.Context, out *jsonlines.Writer) {
	v.conn.closeReplies()
	v.mu.Lock()
	v.draining = true // requests are refused from now on
	v.mu.Unlock()
	for _, s := range v.all(false) {
		s.cancel()
	}
	answered := make(chan struct{})
	go func() { v.requests.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-time.After(endOfRequests):
	}
	v.stop()
	flush, cancel := context.WithTimeout(context.Background(), endOfOutput)
	defer cancel()
	_ = out.Close(flush) // what the client does not read is lost
	var closing sync.WaitGroup
	for _, s := range v.all(true) {
		closing.Go(func() { s.close(context.WithoutCancel(ctx)) })
	}
	closing.Wait()
}

// all returns the sessions; with ending, none are begun any more.
func (v *Server) all(ending bool) (all []*session) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ending = v.ending || ending
	for _, s := range v.sessions {
		all = append(all, s)
	}
	return all
}

// readAll reads the lines of the client to their end. An error of the input counts as that.
func (v *Server) readAll() error {
	in := jsonlines.NewReader(v.In)
	for {
		line, err := in.Next()
		switch {
		case errors.Is(err, jsonlines.ErrTooLong):
			v.conn.answer(json.RawMessage("null"), nil, newError(codeParse, "%v", err))
		case err != nil:
			return nil
		default:
			v.readLine(line)
		}
	}
}

// readLine works on one line. It returns soon: what may take time is done elsewhere.
func (v *Server) readLine(line []byte) {
	if isBlank(line) {
		return
	}
	m, failed := parseLine(line)
	switch {
	case failed != nil:
		v.conn.answer(json.RawMessage("null"), nil, failed)
	case m.method == "": // the answer to a request of ours
		v.conn.deliver(m)
	case m.id == nil:
		v.notice(m)
	default:
		v.request(m)
	}
}

func isBlank(line []byte) bool {
	for _, b := range line {
		if b != ' ' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}

// guarded calls work, and makes an error of a panic where the program wants that.
func (v *Server) guarded(work func()) error {
	if v.Catch == nil {
		work()
		return nil
	}
	if err := v.Catch(func() error { work(); return nil }); err != nil {
		return newError(codeBug, "%v", err)
	}
	return nil
}
