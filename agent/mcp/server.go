package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pi/agent/schema"
	"pi/internal/printable"
	"pi/internal/suggest"
)

// How long a server may live and take.
const (
	startWithin  = 30 * time.Second // to begin, with its lists
	idleAfter    = 10 * time.Minute // without use, until it is ended
	restartsIn   = time.Minute
	mostRestarts = 3 // of a server that died, in restartsIn
	relistPause  = time.Second
)

// server is one server of a session: nothing, being started, or running. All methods may be
// called from any goroutine.
type server struct {
	set   *Servers
	entry *Entry
	hash  string // of the entry

	settled atomic.Pointer[Entry] // entry with an exposure that was still open; nil: it is not known yet

	mu       sync.Mutex // guards what follows
	off      bool       // turned off, for this session
	gone     bool       // taken out of the set
	state    State      // but StateOff, which follows from other things
	err      error
	conn     *connection // nil: it does not run
	starting *start      // nil: it is not being started
	starts   []time.Time // within restartsIn
	uses     int         // of conn, now
	idle     *time.Timer
	stderr   []string // of the last connection
	changes  []Change
	loaded   bool // defs is what the cache has
	lost     bool // the cache had something, which is not there as it was written
	defs     *definitions
	direct   []*Tool                    // that are offered; nil: it is not known which
	index    searchIndex                // nil: it was not searched
	checkers map[string]*schema.Checker // of arguments, by definition

	relisting sync.Mutex // held while the lists of a running server are asked for again
}

// start is a start of a server that somebody waits for.
type start struct {
	giveUp context.CancelCauseFunc
	done   chan struct{}
	err    error // only once done is closed
}

func newServer(set *Servers, e Entry) *server {
	s := &server{set: set, entry: &e, hash: e.Hash(), off: e.Disabled, state: StateIdle}
	s.idle = time.AfterFunc(time.Hour, s.endIdle)
	s.idle.Stop()
	return s
}

// as is the entry with its exposure as it is by now.
func (s *server) as() *Entry { return cmp.Or(s.settled.Load(), s.entry) }

// isOpen reports whether it is still to be found out how the tools are offered.
func (s *server) isOpen() bool { return s.as().Exposure == DirectIfFew }

// cannot says why a server is not started; nil if it can be. The caller has the lock.
func (s *server) cannot() error {
	switch {
	case s.gone:
		return errors.New("it is no server of this session any more")
	case s.entry.Problem != nil:
		return s.entry.Problem
	case s.off:
		return errors.New("it is turned off")
	}
	return nil
}

// use returns the connection of a server, which is started if it does not run. done has to be
// called when the connection is not needed any more.
func (s *server) use(ctx context.Context) (c *connection, done func(), err error) {
	for {
		s.mu.Lock()
		if err := s.cannot(); err != nil {
			s.mu.Unlock()
			return nil, nil, s.named(err)
		}
		if s.conn != nil && !s.conn.isOver() {
			s.uses++
			s.idle.Stop()
			c := s.conn
			s.mu.Unlock()
			return c, func() { s.unuse() }, nil
		}
		if s.starting == nil {
			if err := s.begin(); err != nil {
				s.mu.Unlock()
				return nil, nil, s.named(err)
			}
		}
		st := s.starting
		s.mu.Unlock()
		select {
		case <-st.done:
			if st.err != nil {
				return nil, nil, s.named(st.err)
			}
		case <-ctx.Done():
			return nil, nil, s.named(fmt.Errorf("it is still starting: %w", context.Cause(ctx)))
		}
	}
}

// named says of which server an error is.
func (s *server) named(err error) error { return nameError(s.entry.Name, err) }

// nameError says of which server an error is, and what can be done about it.
func nameError(server string, err error) error {
	if says, ok := errors.AsType[interface { // of [Options.Authorize]
		error
		SignIn() string
	}](err); ok {
		return fmt.Errorf("server %s: %w", server, says)
	}
	if errors.Is(err, ErrSignIn) {
		return fmt.Errorf("server %s: %w: /mcp login %s", server, ErrSignIn, server)
	}
	return fmt.Errorf("server %s: %w", server, plain(err))
}

// plain returns an error in words for users and models.
func plain(err error) error {
	if err == nil {
		return nil
	}
	return &plainError{err}
}

// plainError is without what the SDK was doing, which the reader has not asked for, and has no more
// of what a server says than is read.
type plainError struct{ err error }

func (e *plainError) Unwrap() error { return e.err }

func (e *plainError) Error() string {
	const most = 4 << 10
	return cleanText(doing.ReplaceAllString(e.err.Error(), ""), most)
}

// doing is what the SDK puts before an error.
var doing = regexp.MustCompile(`^((calling|sending) "[^"]*": |rejected by transport: )+`)

// unuse ends a use.
func (s *server) unuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uses--; s.uses == 0 && s.conn != nil {
		s.idle.Reset(s.set.idleAfter)
	}
}

// endIdle ends a server that nobody has used for long.
func (s *server) endIdle() {
	s.mu.Lock()
	c := s.conn
	if s.uses > 0 || c == nil {
		s.mu.Unlock()
		return
	}
	s.conn, s.state = nil, StateIdle
	s.mu.Unlock()
	s.set.tell(s)
	s.set.work.Go(c.end)
}

// begin begins to start the server. The caller has the lock. The error says that it died too
// often.
func (s *server) begin() error {
	now := time.Now()
	s.starts = slices.DeleteFunc(s.starts, func(at time.Time) bool { return now.Sub(at) > restartsIn })
	if len(s.starts) > mostRestarts {
		return fmt.Errorf("it was started %d times within a minute, which is enough; /mcp refresh %s tries again: %w", len(s.starts), s.entry.Name, cmp.Or(s.err, errEnded))
	}
	if s.set.ctx.Err() != nil {
		return errors.New("the session has ended")
	}
	s.starts = append(s.starts, now)
	ctx, giveUp := context.WithCancelCause(s.set.ctx)
	st := &start{giveUp: giveUp, done: make(chan struct{})}
	s.starting, s.state, s.err = st, StateStarting, nil
	s.set.work.Go(func() {
		defer giveUp(nil)
		s.run(ctx, st)
	})
	return nil
}

// run starts the server, and ends the start with what became of it.
func (s *server) run(ctx context.Context, st *start) {
	s.set.tell(s)
	ctx, cancel := context.WithTimeoutCause(ctx, s.set.startWithin, fmt.Errorf("it did not begin within %s", s.set.startWithin))
	defer cancel()
	c, defs, err := s.connect(ctx)
	if err != nil && ctx.Err() != nil && s.set.ctx.Err() == nil {
		err = context.Cause(ctx)
	}
	err = plain(err)
	var changes []Change
	if err == nil {
		changes = s.take(defs)
	}
	s.mu.Lock()
	s.starting = nil
	unwanted := s.cannot() // by now
	switch {
	case unwanted != nil:
		err, s.state = unwanted, StateIdle
	case err == nil:
		s.conn, s.state = c, StateReady
		s.idle.Reset(s.set.idleAfter)
		s.set.work.Go(func() { s.watch(c) })
	default:
		s.err, s.state = err, StateFailed
		if errors.Is(err, ErrSignIn) {
			s.state = StateSignIn
		}
	}
	s.mu.Unlock()
	if unwanted != nil && c != nil {
		c.end()
	}
	st.err = err
	close(st.done)
	s.set.tell(s)
	s.set.tellChanges(s, changes)
}

// connect reaches the server and asks for what it has.
func (s *server) connect(ctx context.Context) (*connection, *definitions, error) {
	d := &dialer{entry: s.entry, options: &s.set.o, log: &s.set.log,
		asks:    func(c *connection) *asks { return newAsks(c, s.set.o.Cwd, s.set.o.Elicit) },
		changed: s.relist}
	d.testOnlyDiscoverPatience = s.set.o.testOnlyDiscoverPatience
	known := ""
	if r, ok := s.set.cache.row(s.hash); ok {
		known = r.Protocol
	}
	c, err := d.dial(ctx, known)
	if err != nil {
		return nil, nil, err
	}
	defs, err := c.listed(ctx, s.entry)
	if err != nil {
		s.noteStderr(c)
		c.end()
		return nil, nil, err
	}
	return c, defs, nil
}

// listed is list, and says why the connection was lost.
func (c *connection) listed(ctx context.Context, e *Entry) (*definitions, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends bodies that do not
	defer context.AfterFunc(c.closing, cancel)()
	defs, err := c.list(ctx, e)
	return defs, c.lost(err)
}

// take makes definitions those of the server, keeps them, and returns what has changed.
func (s *server) take(defs *definitions) (changes []Change) {
	before := s.definitions()
	changes = defs.compare(before)
	s.mu.Lock()
	s.adopt(defs)
	if s.lost {
		defs.forgetFirst()
		s.lost = false // it is known from now on
	}
	s.defs, s.loaded, s.checkers, s.index = defs, true, nil, nil
	s.changes = append(s.changes, changes...)
	s.mu.Unlock()
	if err := s.set.cache.keep(s.hash, defs); err != nil {
		s.set.log.row(s.entry.Name, err.Error())
	}
	return changes
}

// adopt gives definitions the names and exposures of the entry, which may be of another name
// than that they were kept for.
func (s *server) adopt(defs *definitions) {
	as := s.as()
	for i := range defs.Tools {
		t := &defs.Tools[i]
		t.Server, t.Name, t.Exposure = s.entry.Name, Name(s.entry.Name, t.Tool), as.ExposureOf(t.Tool)
	}
	for i := range defs.Resources {
		defs.Resources[i].Server = s.entry.Name
	}
	for i := range defs.Prompts {
		defs.Prompts[i].Server = s.entry.Name
	}
}

// definitions are what is known of the server; nil for nothing.
func (s *server) definitions() *definitions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.definitionsLocked()
}

// definitionsLocked is definitions for who has the lock.
func (s *server) definitionsLocked() *definitions {
	if !s.loaded {
		s.loaded = true
		if s.defs, s.lost = s.set.cache.load(s.hash); s.defs != nil {
			s.adopt(s.defs)
		}
		if s.lost {
			s.set.log.row(s.entry.Name, "what was known of it is not there as it was written, and is asked for anew")
		}
	}
	return s.defs
}

// watch waits for the end of a connection, and notes it if nobody wanted that.
func (s *server) watch(c *connection) {
	<-c.ended
	s.noteStderr(c)
	s.mu.Lock()
	if s.conn != c || c.err == nil {
		s.mu.Unlock()
		return
	}
	s.conn, s.state, s.err = nil, StateFailed, c.err
	if c.carrier != nil && s.uses == 0 {
		// Servers over HTTP, and what is on the way to them, end streams on which nothing comes.
		s.state, s.err = StateIdle, nil
		s.set.log.row(s.entry.Name, "the connection ended: "+c.err.Error())
	}
	s.idle.Stop()
	s.mu.Unlock()
	s.set.tell(s)
}

func (s *server) noteStderr(c *connection) {
	if c.process != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stderr = c.process.stderr.all()
	}
}

// relist asks a running server for its lists again, because it says that they are others. It
// does not wait: several of these messages are one.
func (s *server) relist(c *connection) {
	if !s.relisting.TryLock() {
		return
	}
	s.set.work.Go(func() {
		pause := time.NewTimer(s.set.relistPause)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-c.ctx.Done():
			s.relisting.Unlock()
			return
		}
		s.relisting.Unlock() // what is said from now on is news again
		ctx, cancel := context.WithTimeout(s.set.ctx, s.set.startWithin)
		defer cancel()
		if err := s.listAgain(ctx, c); err != nil {
			s.set.log.row(s.entry.Name, "its lists changed, and cannot be read: "+err.Error())
		}
	})
}

// listAgain asks a running server for its lists again, and tells what has changed.
func (s *server) listAgain(ctx context.Context, c *connection) error {
	defs, err := c.listed(ctx, s.entry)
	if err != nil {
		return err
	}
	changes := s.take(defs)
	s.set.tellChanges(s, changes)
	return nil
}

// end ends the server, if it runs, and returns when that is done. A start is given up only if the
// server cannot be used any more: who waits for it wants one.
func (s *server) end() {
	s.mu.Lock()
	c, st := s.conn, s.starting
	if s.cannot() == nil {
		st = nil
	}
	s.conn = nil
	s.idle.Stop()
	if s.state == StateReady {
		s.state = StateIdle
	}
	s.mu.Unlock()
	if c != nil {
		c.end()
	}
	if st != nil {
		st.giveUp(errors.New("it is wanted no more"))
		<-st.done
	}
}

// status is what can be told of the server.
func (s *server) status() Status {
	defs := s.definitionsIfCheap()
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Entry: s.entry, Exposure: cmp.Or(s.as().Exposure, Search), State: s.state, Err: s.err, Description: s.entry.Description, Stderr: slices.Clone(s.stderr), Changes: slices.Clone(s.changes)}
	if s.conn != nil && s.conn.process != nil {
		st.Stderr = s.conn.process.stderr.all()
	}
	if err := s.cannot(); err != nil {
		st.State = StateOff
		if s.entry.Problem != nil {
			st.Err = s.entry.Problem
		}
	}
	r, known := s.set.cache.row(s.hash)
	st.Known = known
	st.Tools, st.Resources, st.Prompts, st.Version = r.Tools, r.Resources, r.Prompts, r.Protocol
	st.Description = cmp.Or(printable.FirstLine(st.Description, 200), r.Description)
	if defs == nil {
		return st
	}
	st.LeftOut = defs.LeftOut
	for i := range defs.Tools {
		if t := &defs.Tools[i]; t.Exposure == Direct {
			st.Direct++
			st.Tokens += t.tokens()
		}
	}
	return st
}

// definitionsIfCheap are the definitions, if they are in memory or there may be direct tools,
// whose cost is told.
func (s *server) definitionsIfCheap() *definitions {
	if s.as().mayBe(Direct) {
		return s.definitions()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.defs
}

// find returns a tool that is not off, or an error that says which there are.
func (s *server) find(tool string) (*Tool, error) {
	defs := s.definitions()
	if t := defs.tool(tool); t != nil && t.Exposure != Off {
		return t, nil
	}
	var names []string
	if defs != nil {
		for i := range defs.Tools {
			if defs.Tools[i].Exposure != Off {
				names = append(names, defs.Tools[i].Tool)
			}
		}
	}
	switch hint := suggest.Hint(tool, names); {
	case hint != "":
		return nil, fmt.Errorf("server %s has no tool %q%s", s.entry.Name, printable.Short(tool), hint)
	case len(names) > 0 && len(names) <= maxNamed:
		return nil, fmt.Errorf("server %s has no tool %q; it has %s", s.entry.Name, printable.Short(tool), strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("server %s has no tool %q; search finds the others", s.entry.Name, printable.Short(tool))
}

// maxNamed is how many names an error lists.
const maxNamed = 20

// checker checks arguments of a tool.
func (s *server) checker(t *Tool) (*schema.Checker, error) {
	s.mu.Lock()
	known := s.checkers[t.Hash]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	c, err := schema.Compile(t.Schema)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checkers == nil {
		s.checkers = map[string]*schema.Checker{}
	}
	s.checkers[t.Hash] = c
	return c, nil
}
