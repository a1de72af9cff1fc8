// Package rpc is the front end for programs that speak the RPC protocol: commands come in
// as lines of JSON, answers and events go out as such. docs/rpc.md is the protocol's manual.
//
// A [Server] is made first, because it is the agent's last listener and has the user
// interface of hooks, whose dialogs go to the client:
//
//	s := rpc.New(os.Stdin, os.Stdout, os.Stderr, rpc.Options{…})
//	a := agent.New(… Listeners: {…, s} …) // hooks get s.UI()
//	s.Begin(ctx, a, commands)             // reads from now on
//	a.Start(ctx)                          // hooks may ask the client something already
//	err := s.Run()                        // until the end of the input, or another end
//	a.Close(…)
//	s.Close(ctx)                          // what was written is read, or ctx is done
//
// The way of a line:
//
//	reader.go    one line after the other becomes a command, whose fields are checked; what is
//	             none is refused
//	table.go     the commands: their names, how they are ordered, and what they do
//	order.go     in which order commands are worked on, and what waits for what
//	state.go     what commands and events know of each other: who has the agent, what can be
//	             interrupted, what is not answered yet
//	prompt.go    a prompt on its way, and what waits for a run; slash.go: commands of hooks and
//	             of the program, and what hooks hand in
//	reading.go   what is only read
//	settings.go, work.go, sessions.go: what the other commands do; settings.go has the model
//	             and the level, too
//	answer.go    what is written
//	events.go    the agent's events become records
//	user.go      what hooks show and ask
//	end.go       how all this ends
//
// Reads are answered in the order in which they come, whatever else goes on. Everything that
// changes something is begun in the order in which it comes, and then goes on beside the
// rest; only a change of the session is waited for by what comes behind it.
package rpc

import (
	"context"
	"io"
	"sync"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/jsonlines"
)

// Options are what a Server needs to know besides its agent. The zero value will do.
type Options struct {
	// Ready, if set, is asked before each prompt that goes to the model, unless the client
	// has chosen one. Its error refuses the prompt; one with a method NoKey() bool that
	// reports true says that there is no key, which clients know by their own words.
	Ready func() error
	// Cycle are the patterns of the models that cycle_model goes through, see
	// llm.Models.Scope; none are all of them.
	Cycle []string
	// Sessions, if set, is where the paths of switch_session and export_html lead to; else
	// they are as the agent opens them.
	Sessions Sessions
	Version  string // of the program
}

// Server is the front end. As listener it may be used by any goroutine.
type Server struct {
	Options
	state
	agent    *agent.Agent
	commands *command.Set

	in      *jsonlines.Reader
	out     *output
	stderr  *lines
	user    *user
	table   map[string]known // the commands
	reads   chan func()      // that are to be answered, in their order
	changes chan change      // that are to begin, in their order

	read    chan error    // what the reader ended with; nil is the end of the input
	started chan struct{} // closed when session_start is through
	ending  chan struct{} // closed when nothing is waited for any more
	work    context.Context
	stop    context.CancelFunc // ends work
	tasks   sync.WaitGroup     // what is worked on
}

// New returns a Server that reads commands from in, writes answers and events to out, and
// lines for a user to errs.
func New(in io.Reader, out, errs io.Writer, o Options) *Server {
	written := newOutput(out)
	s := &Server{
		Options: o, in: jsonlines.NewReader(in), out: written, stderr: &lines{w: errs}, user: &user{written, newDialogs()},
		reads: make(chan func(), mostReads), changes: make(chan change, mostChanges),
		read: make(chan error, 1), started: make(chan struct{}), ending: make(chan struct{}),
	}
	s.table = s.newTable()
	return s
}

// UI returns the user interface of hooks.
func (s *Server) UI() agent.UI { return s.user }

// Begin starts to read. Until [Server.Run] is called, which is after the agent was started,
// only reads and answers to dialogs are worked on. The context is that of all that is done
// for the client; its end is the end of the Server.
func (s *Server) Begin(ctx context.Context, a *agent.Agent, commands *command.Set) {
	s.agent, s.commands = a, commands
	s.work, s.stop = context.WithCancel(ctx)
	context.AfterFunc(s.work, s.user.dialogs.close) // the start may be at a question
	go s.readLines()
	s.tasks.Go(s.runReads)
	s.afterStart(s.runChanges)
	s.afterStart(s.runSubmitted)
}

// afterStart does something beside the rest as soon as session_start is through, unless all
// ends before.
func (s *Server) afterStart(do func()) {
	s.tasks.Go(func() {
		select {
		case <-s.started:
			do()
		case <-s.ending:
		}
	})
}

var _ agent.Listener = (*Server)(nil)
