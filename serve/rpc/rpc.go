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
//	reader.go    one line after the other becomes a command; what is none is refused
//	table.go     the commands: their names, how they are ordered, and what they do
//	fields.go    the fields of a command are checked
//	order.go     in which order commands are worked on, and what waits for what
//	prompt.go    a prompt on its way; claim.go: who has the agent; slash.go: commands of
//	             hooks and of the program; queue.go: what waits for a run; submitted.go:
//	             what hooks hand in
//	interrupt.go abort and its like; register.go: what can be interrupted
//	reading.go   what is only read; entries.go, stats.go, offers.go: parts of it
//	model.go, switches.go, compact.go, bash.go, sessions.go: what the other commands do
//	answer.go    what is written
//	events.go    the agent's events become records; state.go: what is remembered of them
//	show.go      what hooks show; dialog.go: what they ask
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
}

// Server is the front end. As listener it may be used by any goroutine.
type Server struct {
	parts
	in     *jsonlines.Reader
	beside *besides
	table  map[string]known // the commands
	prompt *prompter
	shells *shells
	read   chan error // what the reader ended with; nil is the end of the input
}

// parts are what commands are worked on with.
type parts struct {
	Options
	agent    *agent.Agent
	commands *command.Set

	out     *output
	person  *person
	order   *order
	claims  *claims
	state   *state
	prompts *register // what was read and is not done: prompts, and compactions too

	started chan struct{} // closed when session_start is through
	ending  chan struct{} // closed when nothing is waited for any more
	work    context.Context
	stop    context.CancelFunc // ends work
	tasks   *sync.WaitGroup    // what is worked on
}

// New returns a Server that reads commands from in, writes answers and events to out, and
// lines for a person to errs.
func New(in io.Reader, out, errs io.Writer, o Options) *Server {
	written, questions, ending := newOutput(out), newDialogs(), make(chan struct{})
	s := &Server{in: jsonlines.NewReader(in), beside: &besides{w: errs}, read: make(chan error, 1), parts: parts{
		Options: o, out: written, person: &person{written, questions}, order: newOrder(questions, ending),
		claims: &claims{}, state: &state{}, prompts: &register{},
		started: make(chan struct{}), ending: ending, tasks: &sync.WaitGroup{},
	}}
	compacting := &compactions{parts: &s.parts}
	s.prompt = &prompter{parts: &s.parts, isCompacting: compacting.isUnderWay}
	s.shells = &shells{parts: &s.parts}
	s.table = newTable(&s.parts, s.prompt, s.shells, compacting)
	return s
}

// UI returns the user interface of hooks.
func (s *Server) UI() agent.UI { return s.person }

// Begin starts to read. Until [Server.Run] is called, which is after the agent was started,
// only reads and answers to dialogs are worked on. The context is that of all that is done
// for the client; its end is the end of the Server.
func (s *Server) Begin(ctx context.Context, a *agent.Agent, commands *command.Set) {
	s.agent, s.commands = a, commands
	s.work, s.stop = context.WithCancel(ctx)
	context.AfterFunc(s.work, s.person.dialogs.close) // the start may be at a question
	go s.readLines()
	s.tasks.Go(s.order.runReads)
	s.tasks.Go(func() {
		if s.isStarted() {
			s.order.runChanges(s.work)
		}
	})
	s.tasks.Go(func() {
		if s.isStarted() {
			s.prompt.runSubmitted()
		}
	})
}

// isStarted waits until session_start is through; false means that all ends before.
func (p *parts) isStarted() bool {
	select {
	case <-p.started:
		return true
	case <-p.ending:
		return false
	}
}

var _ agent.Listener = (*Server)(nil)
