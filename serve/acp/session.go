package acp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"pi/agent"
)

// session is one session of the client. What is in it before ready is closed may be used
// by any goroutine then.
type session struct {
	server  *Server
	id      string
	cwd     string
	servers json.RawMessage // of MCP, as the client handed them over
	ctx     context.Context // of the run
	stop    context.CancelFunc

	ready   chan struct{} // closed when there is a run, or why there is none
	run     *Run
	failed  error
	gone    chan struct{} // closed when close has ended the run
	started chan struct{} // closed when the hooks know that the session has started

	prompted chan struct{} // closed when there is a prompt
	prompt   sync.Once     // closes it

	begins sequence // requests begin in the order of their lines
	works  sequence // what the agent does, prompts and the like, is done one after the other

	out     outbox
	calls   calls
	speaker speaker
	shown   shown // what the client was told last

	mu    sync.Mutex // guards state
	state state
}

// state is what changes while a session is open.
type state struct {
	active     *activePrompt // nil for none
	chosen     bool          // the client has chosen the model
	prompted   bool          // there was a prompt
	untold     []string      // notices for a client that shows none, until they are told in the conversation
	ended      bool
	compacting string // the id of the compaction in progress; "" for none
}

// newSession returns a session in the directory cwd whose run is still to be made.
func (v *Server) newSession(cwd string) *session {
	ctx, stop := context.WithCancel(v.ctx)
	s := &session{server: v, cwd: cwd, ctx: ctx, stop: stop, ready: make(chan struct{}), gone: make(chan struct{}), started: make(chan struct{}), prompted: make(chan struct{})}
	s.out = outbox{conn: v.conn, wanted: make(chan struct{}), released: make(chan struct{})}
	s.calls = calls{session: s, mu: &sync.Mutex{}, used: map[string]bool{}, open: map[string]*call{}}
	return s
}

// agent returns the agent of a session that is ready.
func (s *session) agent() *agent.Agent { return s.run.Agent }

// isReady reports whether the session has been opened.
func (s *session) isReady() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// isKnown waits until the client knows the session. It reports false if ctx ended before, and
// while the session is being opened, which cannot wait for that.
func (s *session) isKnown(ctx context.Context) bool { return s.isReady() && s.out.await(ctx) }

// mayAsk waits until the user can be asked something in the session. What hooks ask before
// the first prompt waits for that: there are clients that answer no question before. It
// reports false as isKnown does, or if the client is gone.
func (s *session) mayAsk(ctx context.Context) bool {
	if !s.isKnown(ctx) {
		return false
	}
	select {
	case <-s.prompted:
	case <-s.server.conn.over:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// wait waits until the session has a run; the error says why there is none.
func (s *session) wait(ctx context.Context) error {
	if err := waitFor(ctx, s.ready); err != nil {
		return err
	}
	if s.failed != nil {
		return noSession(s.id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.ended {
		return noSession(s.id)
	}
	return nil
}

// waitSettled waits until the hooks know of the session, too, or one of them asks something,
// which may take until the first prompt.
func (s *session) waitSettled(ctx context.Context) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	select {
	case <-s.started:
	case <-s.out.wanted:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// waitStarted waits until the hooks know of the session, too.
func (s *session) waitStarted(ctx context.Context) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return waitFor(ctx, s.started)
}

// cancel cancels the prompt that is worked on, and what the agent does of itself.
func (s *session) cancel() {
	s.mu.Lock()
	p := s.state.active
	s.mu.Unlock()
	if p != nil {
		p.cancel()
	}
	if s.isReady() && s.run != nil {
		s.run.Agent.Abort()
	}
}

// close ends the session: its prompt is cancelled and its run closed. Whoever closes it once
// more waits for that, too. The error is one of saving.
func (s *session) close(ctx context.Context) error {
	s.mu.Lock()
	was, p := s.state.ended, s.state.active
	s.state.ended = true
	s.mu.Unlock()
	if was {
		return waitFor(ctx, s.gone)
	}
	defer close(s.gone)
	if p != nil {
		p.cancel()
		select {
		case <-p.done:
		case <-time.After(cancelTime):
		}
	}
	defer s.server.drop(s)
	s.stop() // what hooks ask at the start has no answer now
	select {
	case <-s.ready:
	case <-time.After(cancelTime): // it is still being opened, which sees that it has ended
		return nil
	}
	if s.run == nil {
		return nil
	}
	defer s.out.close()
	s.calls.stop()
	return s.run.Close(ctx)
}

// drop forgets a session that is closed, but for the id of one of which nothing was saved.
func (v *Server) drop(s *session) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sessions[s.id] != s {
		return
	}
	delete(v.sessions, s.id)
	if s.isReady() && s.run != nil && s.isEmpty() {
		v.empty[s.id] = s.cwd
	}
}

// isEmpty reports whether nothing of a session that is ready is on the disk, where nothing is
// before the first prompt, though a hook has put something into it.
func (s *session) isEmpty() bool {
	in := s.agent().Session()
	if in.Leaf() == "" {
		return true
	}
	_, err := os.Stat(in.File())
	return in.File() != "" && err != nil
}

// sequence lets things begin one after the other, in the order in which they asked.
type sequence struct {
	mu   sync.Mutex
	last chan struct{} // closed by the last one that asked; nil: nobody did
}

// next returns a channel that is closed when all that asked before are done, and what the
// caller calls when it is done, once or more.
func (q *sequence) next() (free <-chan struct{}, done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before, own := q.last, make(chan struct{})
	if before == nil {
		before = make(chan struct{})
		close(before)
	}
	q.last = own
	return before, sync.OnceFunc(func() {
		go func() { // the order holds also where one gives up before its turn
			<-before
			close(own)
		}()
	})
}

// outbox writes the updates of a session. Until release they wait: the client must not
// get one before it knows of the session.
type outbox struct {
	conn *connection
	id   string // of the session; set before release

	wanted   chan struct{} // closed when something cannot wait for release
	want     sync.Once
	released chan struct{}

	mu      sync.Mutex // keeps the order
	open    bool
	waiting []update
	muted   bool
	closed  bool
}

// send writes an update, or keeps it until release.
func (o *outbox) send(u update) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed || o.muted:
	case !o.open:
		o.waiting = append(o.waiting, u)
	default:
		o.write(u)
	}
}

// replay writes an update at once, before those that wait for release.
func (o *outbox) replay(u update) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.write(u)
}

// write writes an update in as many lines as it takes. The caller has the lock.
func (o *outbox) write(u update) {
	for _, part := range fit(u) {
		o.conn.notify("session/update", sessionUpdate{o.id, part})
	}
}

// release calls answer, and writes what has waited behind that.
func (o *outbox) release(answer func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open {
		answer()
		return
	}
	answer()
	o.open = true
	for _, u := range o.waiting {
		o.write(u)
	}
	o.waiting = nil
	close(o.released)
}

// await asks for release and waits for it: the client is to be asked something. It reports
// false if ctx ended before.
func (o *outbox) await(ctx context.Context) bool {
	o.want.Do(func() { close(o.wanted) })
	select {
	case <-o.released:
		return true
	case <-ctx.Done():
		return false
	}
}

// mute drops what is sent from now on, or no more.
func (o *outbox) mute(muted bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.muted = muted
}

// close drops what is sent from now on, for good.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// newID returns an id that nobody else has.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// cut returns the beginning of a text, at most so many bytes of it.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
