package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pi/agent"
	"pi/internal/printable"
)

// Call calls a tool, and starts its server if that does not run. The arguments are checked
// first. The error is one of this program or of the protocol; that the tool failed is part of
// its result.
func (s *Servers) Call(ctx context.Context, server, tool string, arguments json.RawMessage, o CallOptions) (*Result, error) {
	one, err := s.findShared(server)
	if err != nil {
		return nil, err
	}
	return one.call(ctx, tool, "", arguments, o)
}

// errChanged says that a tool became another between the decision about its call and the call.
var errChanged = errors.New("its definition is another than when this call was decided about; describe it, and call it again")

// call is [Servers.Call]. hash, if it is not empty, is the definition that the call was decided
// about.
func (s *server) call(ctx context.Context, tool, hash string, arguments json.RawMessage, o CallOptions) (*Result, error) {
	c, done, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	t, err := s.find(tool)
	if err != nil {
		return nil, err
	}
	if hash != "" && hash != t.Hash {
		return nil, fmt.Errorf("%s/%s: %w", s.entry.Name, tool, errChanged)
	}
	if err := s.mayCall(ctx, t); err != nil {
		return nil, err
	}
	checker, err := s.checker(t)
	if err != nil {
		return nil, fmt.Errorf("%s/%s cannot be called: %w", s.entry.Name, tool, err)
	}
	if arguments, err = checker.Check(orEmpty(arguments)); err != nil {
		return nil, err
	}
	var result *sdk.CallToolResult
	notes, err := s.request(ctx, c, o, func(ctx context.Context, c *connection, r round) (reply, sdk.InputRequestMap, string, error) {
		if err := s.checkSame(t); err != nil { // the user may have been asked for long
			return nil, nil, "", err
		}
		params := &sdk.CallToolParams{Name: tool, Arguments: arguments, InputResponses: r.answers, RequestState: r.state}
		params.SetProgressToken(r.token)
		var err error
		if result, err = c.session.CallTool(ctx, params); err != nil {
			return nil, nil, "", err
		}
		return result, result.InputRequests, result.RequestState, nil
	})
	w := &writer{details: details{Server: s.entry.Name, Tool: tool}}
	if err != nil {
		return &Result{Tool: failure(s.named(err), notes)}, s.named(err)
	}
	return w.result(result, notes), nil
}

// request makes a request by a connection of the server. One that was not let in because the user is
// signed in for too little is made once more if they sign in for it then and there: that is no second
// call.
func (s *server) request(ctx context.Context, c *connection, o CallOptions, send sender) (notes []string, err error) {
	if notes, err = c.request(ctx, s.entry, o, send); err == nil || !s.signsIn(ctx, err) {
		return notes, err
	}
	c, done, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return c.request(ctx, s.entry, o, send)
}

// signsIn reports whether the user signed in for what a request lacks.
func (s *server) signsIn(ctx context.Context, refused error) bool {
	lacks, ok := errors.AsType[interface { // of [Options.Authorize]
		error
		Missing() []string
	}](refused)
	if !ok || len(lacks.Missing()) == 0 || s.set.o.SignIn == nil {
		return false
	}
	defer agent.AwaitUser(ctx)()
	return s.set.o.SignIn(ctx, *s.entry, lacks.Missing())
}

// orEmpty are arguments, of which there may be none.
func orEmpty(arguments json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(arguments)) == 0 {
		return json.RawMessage(`{}`)
	}
	return arguments
}

// mayCall returns an error if a tool has changed and the user wants to be asked about that.
func (s *server) mayCall(ctx context.Context, t *Tool) error {
	if s.set.o.OnChange == "" || s.set.o.OnChange == TellChange || !s.definitions().hasChanged(t) {
		return nil
	}
	why := "its definition is another than when it was listed first"
	if s.definitions().First[t.Tool] == unknownHash {
		why = "how it was listed first is lost"
	}
	refused := fmt.Errorf("%s/%s is not called: %s; the user has to look at it: /mcp %s, and /mcp refresh %s accepts it", s.entry.Name, t.Tool, why, s.entry.Name, s.entry.Name)
	if s.set.o.OnChange == BlockChange || s.set.o.Approve == nil {
		return refused
	}
	ok, err := s.set.o.Approve(ctx, s.changeOf(t))
	switch {
	case err != nil:
		return err
	case !ok:
		return refused
	}
	if err := s.checkSame(t); err != nil { // while the user thought about it
		return err
	}
	return s.accept(t.Tool)
}

// checkSame returns an error if a tool has become another, or is gone.
func (s *server) checkSame(t *Tool) error {
	if now := s.definitions().tool(t.Tool); now == nil || now.Hash != t.Hash {
		return fmt.Errorf("%s/%s: %w", s.entry.Name, t.Tool, errChanged)
	}
	return nil
}

// changeOf is the last change of a tool, as far as it is known.
func (s *server) changeOf(t *Tool) Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range slices.Backward(s.changes) {
		if c.Tool == t.Tool {
			return c
		}
	}
	return Change{Server: t.Server, Tool: t.Tool, After: t}
}

// accept takes the definition of a tool, or of all with "", for the one that was listed first. That
// this counts for this session alone is an error only for who asked for more, by a refresh.
func (s *server) accept(tool string) error {
	s.mu.Lock()
	if s.defs == nil {
		s.mu.Unlock()
		return nil
	}
	next := *s.defs
	next.First = map[string]string{}
	for name, hash := range s.defs.First {
		next.First[name] = hash
	}
	for i := range next.Tools {
		if t := &next.Tools[i]; tool == "" || t.Tool == tool {
			next.First[t.Tool] = t.Hash
		}
	}
	s.defs = &next
	s.mu.Unlock()
	err := s.set.cache.keep(s.hash, &next)
	if err != nil {
		s.set.log.row(s.entry.Name, err.Error())
	}
	if err == nil || tool != "" || s.set.o.OnChange == "" || s.set.o.OnChange == TellChange {
		return nil
	}
	return s.named(fmt.Errorf("its tools are accepted in this session only: %w", err))
}

// Describe returns the definition of a tool. A server of which something is cached is not
// started by that.
func (s *Servers) Describe(ctx context.Context, server, tool string) (*Tool, error) {
	one, err := s.findShared(server)
	if err != nil {
		return nil, err
	}
	return one.describe(ctx, tool)
}

// describe is [Servers.Describe].
func (s *server) describe(ctx context.Context, tool string) (*Tool, error) {
	if err := s.know(ctx); err != nil {
		return nil, err
	}
	return s.find(tool)
}

// know starts a server of which nothing is known, and which can be started.
func (s *server) know(ctx context.Context) error {
	s.mu.Lock()
	err := s.cannot()
	s.mu.Unlock()
	if err != nil {
		return s.named(err)
	}
	if s.definitions() != nil {
		return nil
	}
	_, done, err := s.use(ctx)
	if err == nil {
		done()
	}
	return err
}

// Definitions are all tools, resources and prompts of a server, those that are off included. It
// is started if it does not run.
func (s *Servers) Definitions(ctx context.Context, server string) ([]Tool, []Resource, []Prompt, error) {
	one, err := s.find(server)
	if err != nil {
		return nil, nil, nil, err
	}
	_, done, err := one.use(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer done()
	defs := one.definitions()
	return defs.Tools, defs.Resources, defs.Prompts, nil
}

// Read reads a resource of a server, which is started if it does not run.
func (s *Servers) Read(ctx context.Context, server, uri string) (*Result, error) {
	one, err := s.findShared(server)
	if err != nil {
		return nil, err
	}
	return one.read(ctx, uri)
}

// read is [Servers.Read].
func (s *server) read(ctx context.Context, uri string) (*Result, error) {
	if err := s.isOff(); err != nil {
		return nil, err
	}
	c, done, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var read *sdk.ReadResourceResult
	notes, err := s.request(ctx, c, CallOptions{}, func(ctx context.Context, c *connection, r round) (reply, sdk.InputRequestMap, string, error) {
		params := &sdk.ReadResourceParams{URI: uri, InputResponses: r.answers, RequestState: r.state}
		params.SetProgressToken(r.token)
		var err error
		if read, err = c.session.ReadResource(ctx, params); err != nil {
			return nil, nil, "", err
		}
		return read, read.InputRequests, read.RequestState, nil
	})
	if err != nil {
		return nil, s.named(err)
	}
	w := &writer{details: details{Server: s.entry.Name}}
	for _, r := range read.Contents {
		if r != nil {
			w.resource(r)
		}
	}
	return w.finish(notes), nil
}

// isOff is an error if nothing of the server is offered.
func (s *server) isOff() error {
	if s.entry.Exposure == Off {
		return fmt.Errorf("server %s is off: neither its tools nor its resources or prompts are offered", s.entry.Name)
	}
	return nil
}

// Prompts are the prompts of all servers, as far as they are known.
func (s *Servers) Prompts() (all []Prompt) {
	for _, one := range s.servers() {
		if row, known := s.cache.row(one.hash); known && row.Prompts > 0 && one.isOffered() {
			if defs := one.definitions(); defs != nil {
				all = append(all, defs.Prompts...)
			}
		}
	}
	return all
}

// isOffered reports whether a server can be used by the model.
func (s *server) isOffered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cannot() == nil && !s.entry.Private && (s.as().mayBe(Search) || s.as().mayBe(Direct))
}

// Prompt returns the messages of a prompt of a server, which is started if it does not run. Their
// texts are cleaned.
func (s *Servers) Prompt(ctx context.Context, server, name string, arguments map[string]string) ([]Message, error) {
	one, err := s.findShared(server)
	if err != nil {
		return nil, err
	}
	return one.prompt(ctx, name, arguments)
}

// prompt is [Servers.Prompt].
func (s *server) prompt(ctx context.Context, name string, arguments map[string]string) ([]Message, error) {
	if err := s.isOff(); err != nil {
		return nil, err
	}
	c, done, err := s.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var got *sdk.GetPromptResult
	_, err = s.request(ctx, c, CallOptions{}, func(ctx context.Context, c *connection, r round) (reply, sdk.InputRequestMap, string, error) {
		params := &sdk.GetPromptParams{Name: name, Arguments: arguments, InputResponses: r.answers, RequestState: r.state}
		params.SetProgressToken(r.token)
		var err error
		if got, err = c.session.GetPrompt(ctx, params); err != nil {
			return nil, nil, "", err
		}
		return got, got.InputRequests, got.RequestState, nil
	})
	if err != nil {
		return nil, s.named(err)
	}
	var messages []Message
	for _, m := range got.Messages {
		if m == nil {
			continue
		}
		hidden := cleanContent(m.Content)
		w := &writer{details: details{Server: s.entry.Name}}
		w.add(m.Content)
		messages = append(messages, Message{Role: string(m.Role), Content: w.finish(nil).Tool.Content, Hidden: hidden})
	}
	return messages, nil
}

// cleanContent takes out of the text of a content what nobody sees, and counts that.
func cleanContent(content sdk.Content) (hidden int) {
	switch c := content.(type) {
	case *sdk.TextContent:
		c.Text, hidden = clean(c.Text, len(c.Text))
	case *sdk.EmbeddedResource:
		if c.Resource != nil {
			c.Resource.Text, hidden = clean(c.Resource.Text, len(c.Resource.Text))
		}
	}
	return hidden
}

// searchWithin is how long a search waits for servers of which nothing is known.
const searchWithin = 10 * time.Second

// Await starts the servers of which nothing is known and that wanted picks, side by side, and
// waits for them for 10 s at most. It returns those that did not answer, each with why.
func (s *Servers) Await(ctx context.Context, wanted func(e *Entry) bool) (silent []Silent) {
	return s.await(ctx, func(one *server) bool { return wanted(one.as()) })
}

// Silent is a server that did not answer.
type Silent struct {
	Server string
	Err    error // why; it names the server
}

// await is Await for those servers that wanted picks.
func (s *Servers) await(ctx context.Context, wanted func(one *server) bool) (silent []Silent) {
	ctx, cancel := context.WithTimeoutCause(ctx, searchWithin, fmt.Errorf("no answer within %s", searchWithin))
	defer cancel()
	var mu sync.Mutex
	var starts sync.WaitGroup
	for _, one := range s.servers() {
		if !one.isOffered() || !wanted(one) {
			continue
		}
		starts.Go(func() {
			if err := one.know(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				silent = append(silent, Silent{one.entry.Name, err})
			}
		})
	}
	starts.Wait()
	slices.SortFunc(silent, func(a, b Silent) int { return strings.Compare(a.Server, b.Server) })
	return silent
}

// Search finds tools and resources by words. Servers of which nothing is known are started
// first. allows, which may be nil, says which tools count, by their names, and which servers, see
// [AnyOf].
func (s *Servers) Search(ctx context.Context, words string, allows func(name string) bool) Found {
	found := Found{}
	counts := func(one *server) bool { return allows == nil || allows(AnyOf(one.entry.Name)) }
	for _, silent := range s.await(ctx, func(one *server) bool {
		return counts(one) && one.as().mayBe(Search) && one.searchable() == nil
	}) {
		found.Silent = append(found.Silent, silent.Err.Error())
	}
	q := newQuery(words)
	var hits []scored
	for _, one := range s.servers() {
		if one.isOffered() && counts(one) {
			hits = append(hits, one.searchable().find(q, one.as(), allows)...)
		}
	}
	slices.SortFunc(hits, scored.compare)
	for _, h := range hits[:min(len(hits), shownHits)] {
		found.Hits = append(found.Hits, h.Hit)
	}
	found.More = len(hits) - len(found.Hits)
	return found
}

// shownHits is how many a search shows.
const shownHits = 20

// describeText is a definition as the model reads it.
func describeText(t *Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s", t.Server, t.Tool)
	if t.Title != "" {
		fmt.Fprintf(&b, " (%s)", printable.Line(t.Title))
	}
	if t.Exposure == Direct {
		fmt.Fprintf(&b, "\nAlso the tool %s.", t.Name)
	}
	if t.Description != "" {
		b.WriteString("\n\n" + t.Description)
	}
	fmt.Fprintf(&b, "\n\nArguments, as JSON Schema:\n%s", t.Schema)
	if t.Hidden > 0 {
		fmt.Fprintf(&b, "\n\n[%s taken out]", printable.Count(t.Hidden, "hidden character"))
	}
	return b.String()
}
