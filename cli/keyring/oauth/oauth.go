// Package oauth signs users in with authorization servers: a user signs in
// with a browser, and the browser is sent back here.
//
//	oauth.go     [SignIn]: the address is opened and shown, and the answer awaited
//	loopback.go  [Listen]: the server on 127.0.0.1 that takes one answer
//	answer.go    what an answer says, whether a browser brought it or the user pasted it
//	browser.go   [Browser]: which program opens an address
//	client.go    [Client]: a sign-in with PKCE, and the renewal of a token, by golang.org/x/oauth2
//	device.go    [Client.Device]: a code that is typed at another device
//	openrouter.go the sign-in of OpenRouter, which is not quite OAuth
//	transport.go [Transport]: how authorization servers are asked; errors.go: what of their errors is shown
//
// It does not know who is signed in to, and keeps nothing. Servers of MCP and providers of models
// share it; the former bring addresses and trade codes by a library of their own.
//
// Anything on this machine can call the loopback server. What has not the state, comes to
// another path or comes later is refused, and the wait goes on.
package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"pi/internal/printable"
)

// patience is how long somebody has to sign in, unless something else is said.
const patience = 5 * time.Minute

// User is who signs in.
type User struct {
	// Tell shows lines: the address, and what is wrong with what was pasted.
	Tell func(text string)
	// Paste returns the next line that the user gives; an error says that none follows. It
	// returns when ctx ends. nil: nothing can be pasted.
	Paste func(ctx context.Context) (string, error)
	// Open opens an address in a browser; nil: there is none. An error is told, and the
	// address can still be opened by hand.
	Open func(ctx context.Context, address string) error
	// Wait stands in view while a code is waited for that is typed at another device, and may offer
	// to copy it; an error says that the user has left. It returns when ctx ends. nil: nothing
	// does.
	Wait func(ctx context.Context, code string) error
}

// Request is one sign-in.
type Request struct {
	Address  string        // of the authorization server, with the state
	Patience time.Duration // 0: until the deadline of the context, or five minutes
	// StateInPath says that the answer has no state, and that nobody can guess the path of the
	// loopback server in its place.
	StateInPath bool
	// NeedsIssuer says whether the server names itself in each answer (RFC 9207), so that a
	// code that is pasted alone is no answer. It is asked when there is one; nil: it does not.
	NeedsIssuer func() bool
}

// SignIn shows and opens the address of a request, and returns the answer that comes to the
// loopback server or is pasted. An answer that says no is a [RefusedError].
func (l *Loopback) SignIn(ctx context.Context, r Request, u User) (Answer, error) {
	address, err := url.Parse(r.Address)
	if err != nil {
		return Answer{}, errors.New("sign in: the address of the authorization server cannot be read")
	}
	if err := CheckAddress(address); err != nil {
		return Answer{}, fmt.Errorf("sign in: %w", err)
	}
	state := address.Query().Get("state")
	if state == "" && !r.StateInPath {
		return Answer{}, errors.New("sign in: the address has no state, so anybody could answer")
	}
	ctx, cancel := r.within(ctx)
	defer cancel()
	l.expect(state)
	how := "Open this address to sign in"
	if u.Paste != nil {
		how += "; where the browser cannot come back to this machine, paste the address that it ends at"
	}
	u.Tell(how + ":\n" + printable.Visible(r.Address))
	if u.Open != nil {
		if err := u.Open(ctx, r.Address); err != nil {
			u.Tell("no browser was opened: " + printable.Line(err.Error()))
		}
	}
	answer, err := l.await(ctx, r, state, u)
	if err != nil {
		return Answer{}, fmt.Errorf("sign in: %w", err)
	}
	return answer, answer.refusal()
}

// within returns the context that ends with the patience for a request.
func (r Request) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, isSaid := ctx.Deadline(); isSaid && r.Patience == 0 {
		return context.WithCancel(ctx)
	}
	most := cmp.Or(r.Patience, patience)
	return context.WithTimeoutCause(ctx, most, fmt.Errorf("nobody signed in within %v", most))
}

// await returns the first answer that has the state.
func (l *Loopback) await(ctx context.Context, r Request, state string, u User) (Answer, error) {
	pasted := make(chan Answer)
	if u.Paste != nil {
		ctx, cancel := context.WithCancel(ctx)
		read := make(chan struct{})
		defer func() { cancel(); <-read }()
		go func() {
			defer close(read)
			l.readPasted(ctx, r, state, u, pasted)
		}()
	}
	select {
	case answer := <-l.answers:
		return answer, nil
	case answer := <-pasted:
		return answer, nil
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
}

// readPasted hands over the first line that is an answer. Of others it says what is wrong.
func (l *Loopback) readPasted(ctx context.Context, r Request, state string, u User, pasted chan<- Answer) {
	for more := true; more; { // when nothing more is pasted, the browser may still come back
		line, err := u.Paste(ctx)
		if more = err == nil; strings.TrimSpace(line) == "" {
			continue
		}
		answer, err := ParsePasted(line, state, r.NeedsIssuer != nil && r.NeedsIssuer())
		if err == nil && r.StateInPath && !l.isPathOf(line) {
			err = errOtherState
		}
		if err != nil {
			u.Tell(err.Error())
			continue
		}
		select {
		case pasted <- answer:
		case <-ctx.Done():
		}
		return
	}
}

// isPathOf reports whether what was pasted, if it is an address, leads to the path of the server.
func (l *Loopback) isPathOf(line string) bool {
	address, _, isAddress := strings.Cut(strings.TrimSpace(line), "?")
	if !isAddress {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && u.Path == l.path
}

// CheckAddress returns an error for an address that is not to be opened or asked: one that is
// neither https nor on this machine.
func CheckAddress(address *url.URL) error {
	switch {
	case address.Host == "" || address.User != nil:
	case address.Scheme == "https":
		return nil
	case address.Scheme == "http" && IsLoopback(address.Hostname()):
		return nil
	}
	return fmt.Errorf("%s is not opened: only https addresses are, and http ones of this machine", printable.URL(address.Redacted()))
}

// IsLoopback reports whether a host is this machine by its name or number.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
