package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/agent"
	"pi/internal/printable"
)

// A call of a tool, or another request that may take long, is sent once. Its time begins anew
// with each message of progress and stands while the server asks the user something, but there
// is an end to it. Where the server wants to know something first, it answers with questions
// and is asked again with the answers: that is no second call, and comes three times at most.

// maxRounds is how often a request is sent again with what the server wanted to know.
const maxRounds = 3

// calls are the requests of a connection that are on their way. The zero value is ready.
type calls struct {
	mu   sync.Mutex
	all  map[string]*pending // by token of progress
	next int
}

// pending is a request that is on its way.
type pending struct {
	ctx    context.Context // of who made it
	update agent.Update    // may be nil
	each   func(Progress)  // likewise
	clock  *callClock
	rows   []string // of progress, the last ones

	mu    sync.Mutex
	notes []string // what the model is told behind the result
}

// begin notes a request, and returns it with its token.
func (c *calls) begin(p *pending) (token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]*pending{}
	}
	c.next++
	token = fmt.Sprintf("pi-%d", c.next)
	c.all[token] = p
	return token
}

func (c *calls) end(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, token)
}

// now are the requests that are on their way.
func (c *calls) now() (all []*pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.all {
		all = append(all, p)
	}
	return all
}

// progress passes on what a server says of a request. It is called by one goroutine.
func (c *calls) progress(said *sdk.ProgressNotificationParams) {
	token, _ := said.ProgressToken.(string)
	c.mu.Lock()
	p := c.all[token]
	c.mu.Unlock()
	if p == nil {
		return
	}
	p.clock.again()
	if p.each != nil {
		p.each(Progress{said.Progress, said.Total, printable.Cut(printable.Line(said.Message), 500)})
	}
	if p.update == nil {
		return
	}
	row := printable.Cut(printable.Line(said.Message), 500)
	if row == "" {
		row = fmt.Sprint(said.Progress)
		if said.Total > 0 {
			row = fmt.Sprintf("%v of %v", said.Progress, said.Total)
		}
	}
	if p.rows = append(p.rows, row); len(p.rows) > keptRows {
		p.rows = p.rows[1:]
	}
	p.update(agent.TextResult(strings.Join(p.rows, "\n")))
}

// note has the model told something behind the result.
func (p *pending) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, text)
}

// takeNotes returns what the model is to be told.
func (p *pending) takeNotes() (notes []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	notes, p.notes = p.notes, nil
	return notes
}

// callClock is the time of a request.
type callClock struct {
	timeout time.Duration
	late    func()

	mu     sync.Mutex // guards what follows
	timer  *time.Timer
	stands int // reasons for which it does
	over   bool
}

// newCallClock starts the time of a request; late is called when it is up.
func newCallClock(timeout time.Duration, late func()) *callClock {
	c := &callClock{timeout: timeout, late: late}
	c.timer = time.AfterFunc(timeout, c.ring)
	return c
}

func (c *callClock) ring() {
	c.mu.Lock()
	isLate := c.stands == 0 && !c.over
	c.mu.Unlock()
	if isLate {
		c.late()
	}
}

// again begins the time anew.
func (c *callClock) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stands == 0 && !c.over {
		c.timer.Reset(c.timeout)
	}
}

// stand stops the time until goOn is called, with which it begins anew.
func (c *callClock) stand() (goOn func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stands++
	c.timer.Stop()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stands--; c.stands == 0 && !c.over {
			c.timer.Reset(c.timeout)
		}
	}
}

func (c *callClock) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
}

// timeoutError says that a server took too long.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }

// request makes a request within its time, and answers what the server wants to know for it. The error
// is that of send, unless the request was given up: then it is the cause, and who waits does so no
// longer, whatever send does.
func (c *connection) request(ctx context.Context, e *Entry, o CallOptions, send sender) (notes []string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// If the connection ends by itself the SDK gives the request up, unless it was answered.
	defer context.AfterFunc(c.closing, func() { cancel(errors.New("the server was ended")) })()
	limit := e.maxTimeout()
	defer time.AfterFunc(limit, func() { cancel(&timeoutError{fmt.Sprintf("not done within %s (max_timeout)", limit)}) }).Stop()
	timeout := e.timeout()
	if o.Timeout > 0 {
		timeout = min(o.Timeout, limit)
	}
	p := &pending{ctx: ctx, update: o.Progress, each: o.Each}
	p.clock = newCallClock(timeout, func() {
		cancel(&timeoutError{fmt.Sprintf("no answer and no progress for %s (timeout)", timeout)})
	})
	defer p.clock.end()
	token := c.calls.begin(p)
	defer c.calls.end(token)
	answered := make(chan error, 1)
	go func() { // writing to a server that does not read cannot be stopped
		answered <- c.asks.rounds(ctx, func(r round) (reply, sdk.InputRequestMap, string, error) {
			r.token = token
			return send(ctx, c, r)
		})
	}()
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return p.takeNotes(), c.lost(err)
}

// lost is the error of a request: if the connection ended meanwhile, why it did.
func (c *connection) lost(err error) error {
	if err == nil || !isHangup(err) && c.ctx.Err() == nil {
		return err
	}
	select {
	case <-c.ended:
	case <-time.After(endsByItself): // of a server that hung up it is soon known how it ended
		return err
	}
	if c.err != nil {
		return c.err
	}
	return err
}

// reply is a result by which a server may ask for something first.
type reply interface{ NeedsInput() bool }

// round is what goes with one sending of a request.
type round struct {
	token   string               // of progress
	answers sdk.InputResponseMap // to what the server wanted to know; nil the first time
	state   string               // what it wants back with them
}

// sender sends a request once, by a connection, and returns the result, what the server wants to know
// before there is one, and what it wants back then.
type sender func(ctx context.Context, c *connection, r round) (reply, sdk.InputRequestMap, string, error)

// rounds sends a request until the server does not want to know anything more.
func (a *asks) rounds(ctx context.Context, send func(r round) (reply, sdk.InputRequestMap, string, error)) error {
	with := round{}
	for n := 0; ; n++ {
		r, questions, next, err := send(with)
		needs := err == nil && r.NeedsInput()
		addresses := addressesOf(err)
		switch {
		case !needs && len(addresses) == 0:
			return err
		case n == maxRounds:
			return fmt.Errorf("it asked for input %d times, and once more", maxRounds)
		case needs && len(questions) == 0:
			return errors.New("it is busy; try again later")
		case needs:
			with = round{answers: a.all(ctx, questions), state: next}
		default:
			for _, address := range addresses {
				if !a.visit(ctx, address) {
					return fmt.Errorf("it wants you to open a page first: %s", printable.URL(address.URL))
				}
			}
		}
	}
}

// addressesOf returns the pages that the error of a request says are to be opened first.
func addressesOf(err error) (pages []*sdk.ElicitParams) {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != sdk.CodeURLElicitationRequired {
		return nil
	}
	var data struct{ Elicitations []*sdk.ElicitParams }
	if json.Unmarshal(wire.Data, &data) != nil {
		return nil
	}
	const most = 4
	for _, page := range data.Elicitations[:min(len(data.Elicitations), most)] {
		if page != nil && page.URL != "" {
			page.Mode = "url"
			pages = append(pages, page)
		}
	}
	return pages
}
