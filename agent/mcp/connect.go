//lint:file-ignore SA1019 servers of the older era of the protocol ask for roots and send log messages

package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/internal/child"
)

// The protocol has two eras. In the older one a client says `initialize` first, in the newer
// one `server/discover`, and neither kind of server can be relied on to refuse the other's
// word: some exit, others do not answer. So a process is told initialize first, and is started
// anew for discover only if it refused that; a server over HTTP is asked with discover, and
// with initialize after a short while. What worked is remembered.
const (
	older = "2025-11-25"
	newer = "2026-07-28"
)

// discoverPatience is how long a server over HTTP may take to answer the word of the newer
// era, before it is taken for one of the older.
const discoverPatience = 3 * time.Second

// connection is a server that runs, or answers.
type connection struct {
	name    string
	session *sdk.ClientSession
	process *running // nil: it is none of ours, but speaks HTTP or is played
	carrier *carrier // nil: it does not speak HTTP

	ctx  context.Context // ends when the connection is to end, or has ended
	stop context.CancelFunc

	closing context.Context // ends when this program ends the connection
	close   context.CancelFunc
	cut     context.CancelFunc // ends the requests over HTTP, also that which says goodbye

	ended chan struct{} // closed when the connection is over
	err   error         // why, unless this program ended it; only once ended is closed

	calls calls
	asks  *asks
}

// dialer makes the connections of a server.
type dialer struct {
	entry   *Entry
	options *Options
	log     *logFile
	asks    func(c *connection) *asks // what answers the questions of the server
	changed func(c *connection)       // called when the server says that its lists are others

	testOnlyDiscoverPatience time.Duration // in place of discoverPatience
}

// dial starts the server, or reaches it, and agrees on the protocol. known is the version that
// worked last, "" for none. The error wraps ErrSignIn if the user has to sign in.
func (d *dialer) dial(ctx context.Context, known string) (c *connection, err error) {
	env, headers, err := d.values(ctx)
	if err != nil {
		return nil, err
	}
	for n, version := range d.versions(known) {
		attempt, failed := d.attempt(ctx, version, env, headers)
		if failed == nil {
			return attempt, nil
		}
		if n == 0 {
			err = failed // the other era is a guess: what it says is not what is wrong
		}
		if ctx.Err() != nil || errors.Is(failed, ErrSignIn) || !refused(failed) {
			break
		}
	}
	return nil, err
}

// versions are the versions of the protocol to begin with, in the order in which they are tried.
func (d *dialer) versions(known string) []string {
	switch {
	case d.options.Play != nil:
		return []string{older}
	case d.entry.Protocol != "":
		return []string{d.entry.Protocol}
	case known >= newer, known == "" && d.entry.IsHTTP():
		return []string{newer, older}
	}
	return []string{older, newer}
}

// refused reports whether a server that failed to begin may do so in the other era: it said
// no, or hung up. A program that could not be started says nothing.
func refused(err error) bool {
	var wire *jsonrpc.Error
	var no *notStartedError
	return errors.As(err, &wire) || !errors.As(err, &no)
}

// notStartedError is a server that there is not.
type notStartedError struct{ err error }

func (e *notStartedError) Error() string { return e.err.Error() }
func (e *notStartedError) Unwrap() error { return e.err }

// values are the variables and headers of the entry, with those that are known only now.
func (d *dialer) values(ctx context.Context) (env, headers map[string]string, err error) {
	env, headers = maps.Clone(d.entry.Env), maps.Clone(d.entry.Headers)
	if d.entry.Secrets == nil {
		return env, headers, nil
	}
	lateEnv, lateHeaders, err := d.entry.Secrets(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, of := range []struct {
		all  *map[string]string
		late map[string]string
	}{{&env, lateEnv}, {&headers, lateHeaders}} {
		if *of.all == nil {
			*of.all = map[string]string{}
		}
		maps.Copy(*of.all, of.late)
	}
	return env, headers, nil
}

// attempt is dial with one version of the protocol to begin with.
func (d *dialer) attempt(ctx context.Context, version string, env, headers map[string]string) (*connection, error) {
	c := &connection{name: d.entry.Name, ended: make(chan struct{})}
	c.closing, c.close = context.WithCancel(context.Background())
	c.ctx, c.stop = context.WithCancel(c.closing)
	var wire context.Context
	wire, c.cut = context.WithCancel(context.Background())
	transport, err := d.transport(wire, c, env, headers)
	if err != nil {
		c.close()
		c.cut()
		return nil, &notStartedError{err}
	}
	asked, cancel := context.WithCancel(ctx)
	defer cancel() // the SDK reads bodies to their end, which one that is streamed may not have
	c.session, err = d.client(c).Connect(asked, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	go c.await()
	return c, nil
}

// transport starts the process of the server, or prepares the requests to it.
func (d *dialer) transport(wire context.Context, c *connection, env, headers map[string]string) (t sdk.Transport, err error) {
	if d.options.Play != nil {
		return d.options.Play(d.entry)
	}
	if !d.entry.IsHTTP() {
		if d.entry.Check != nil {
			if err := d.entry.Check(); err != nil {
				return nil, err
			}
		}
		c.process, t, err = startServer(d.entry, environ(d.options.Environ(), env), d.options.Cwd, d.options, d.log)
		return t, err
	}
	if c.carrier, err = newCarrier(wire, d.options.HTTP, d.entry.URL, headers); err != nil {
		return nil, err
	}
	var signs auth.OAuthHandler
	if d.options.Authorize != nil {
		if signs, err = d.options.Authorize(*d.entry); err != nil {
			return nil, err
		}
	}
	return &sdk.StreamableClientTransport{Endpoint: c.carrier.endpoint(), HTTPClient: c.carrier.client(), OAuthHandler: signs, MaxEventSize: maxEvent}, nil
}

// client returns what speaks to one server. There is one for each, since what the SDK calls a
// client has the handlers.
func (d *dialer) client(c *connection) *sdk.Client {
	asks := d.asks(c)
	c.asks = asks
	changed := func() { d.changed(c) }
	may := newAllowance(maxLogBurst, maxLogRate) // of a server over HTTP; the log of a process is sifted before
	client := sdk.NewClient(&sdk.Implementation{Name: "pi", Version: cmp.Or(d.options.Version, "dev")}, &sdk.ClientOptions{
		Logger: slog.New(slog.DiscardHandler),
		Capabilities: &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{},
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return asks.answer(ctx, r.Params), nil
		},
		ElicitationCompleteHandler: func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			asks.complete(r.Params.ElicitationID)
		},
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { changed() },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { changed() },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { changed() },
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) {
			data, _ := encode(r.Params.Data) // it was JSON
			if may.take(float64(len(data))) {
				d.log.row(c.name, fmt.Sprintf("log: %s: %s", r.Params.Level, data[:min(len(data), maxLogRow)]))
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { c.calls.progress(r.Params) },
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true}, // see [connection.call]
	})
	client.AddRoots(&sdk.Root{URI: fileURL(d.options.Cwd), Name: filepath.Base(d.options.Cwd)})
	client.AddSendingMiddleware(survives)
	client.AddReceivingMiddleware(survives)
	if d.entry.IsHTTP() {
		client.AddSendingMiddleware(d.impatient)
	}
	return client
}

// survives keeps a message from ending this program that the SDK does not expect, as one in which
// null stands in the place of an object.
func survives(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if crash := recover(); crash != nil {
				result, err = nil, fmt.Errorf("%s: what the server says cannot be read", method)
			}
		}()
		asked, isAsked := r.GetParams().(*sdk.ElicitParams)
		done, isDone := r.GetParams().(*sdk.ElicitationCompleteParams)
		if isAsked && asked == nil || isDone && done == nil { // the SDK would crash, and keep a lock
			return nil, fmt.Errorf("%s: params are missing", method)
		}
		return next(ctx, method, r)
	}
}

// impatient bounds the time of the first word of the newer era, behind which the SDK says that
// of the older.
func (d *dialer) impatient(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == "server/discover" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, cmp.Or(d.testOnlyDiscoverPatience, discoverPatience))
			defer cancel()
		}
		return next(ctx, method, r)
	}
}

// fileURL is a path as an address.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// failed ends what did not begin, and returns why, with what the server said of it.
func (c *connection) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	c.end()
	return c.explain(err)
}

// explain says in an error what the server itself says of it.
func (c *connection) explain(err error) error {
	switch {
	case errors.Is(err, ErrSignIn):
		return err
	case c.carrier != nil:
		if how := c.carrier.refused.Load(); how != nil {
			return c.carrier.explain(*how, err)
		}
		return err
	case c.process == nil:
		return err
	}
	text := c.process.fate()
	rows := c.process.stderr.all()
	rows = rows[max(0, len(rows)-shownRows):]
	if len(rows) > 0 {
		text = strings.TrimPrefix(text+"; it wrote: "+strings.Join(rows, " / "), "; ")
	}
	if text == "" {
		return err
	}
	return &deathError{text, err}
}

// shownRows is how much of what a server wrote before it failed is part of the error.
const shownRows = 5

// deathError is a failure with what the server has to say of it.
type deathError struct {
	text string
	err  error
}

func (e *deathError) Error() string {
	if isHangup(e.err) {
		return e.text
	}
	return fmt.Sprintf("%v; %s", e.err, e.text)
}

func (e *deathError) Unwrap() error { return e.err }

// isHangup reports whether an error says only that the connection is over.
func isHangup(err error) bool {
	return errors.Is(err, errEnded) || errors.Is(err, child.ErrEnded) || errors.Is(err, sdk.ErrConnectionClosed) || strings.HasSuffix(err.Error(), "EOF")
}

// explain says what a 401 means.
func (c *carrier) explain(how string, err error) error {
	for name := range c.headers {
		if strings.EqualFold(name, "Authorization") {
			return fmt.Errorf("it refuses the Authorization header of its entry (401): %w", err)
		}
	}
	if strings.HasPrefix(strings.ToLower(how), "bearer") || how == "" {
		return ErrSignIn
	}
	return fmt.Errorf("it wants a header that the entry has not (401, %s): %w", strings.Fields(how)[0], err)
}

// await waits for the end of the connection.
func (c *connection) await() {
	err := c.session.Wait()
	if c.process != nil {
		c.process.end() // it may have closed its output and live on
	}
	if c.closing.Err() == nil { // else this program ended it
		c.err = plain(c.explain(cmp.Or(err, errEnded)))
	}
	c.stop()
	c.cut()
	close(c.ended)
}

// errEnded is the end of a connection of which the server said nothing.
var errEnded = errors.New("it ended the connection")

// end ends the connection and the server, and returns when that is done.
func (c *connection) end() {
	c.close()
	var over sync.WaitGroup
	if c.process != nil {
		over.Go(c.process.end)
	}
	if c.session != nil {
		late := time.AfterFunc(endsByItself, c.cut) // a server that is told goodbye may not listen
		defer late.Stop()
		over.Go(func() { _ = c.session.Close() })
	}
	over.Wait()
	c.cut()
}

// isOver reports whether the connection has ended.
func (c *connection) isOver() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}
