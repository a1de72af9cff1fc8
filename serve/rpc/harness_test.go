package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is one scripted answer of a model; yield is false once nobody listens.
type reply func(ctx context.Context, yield func(llm.Delta, error) bool)

// scripted is a model that gives its replies one after the other, and says "ok" when it has no more.
type scripted struct {
	mu       sync.Mutex
	replies  []reply
	requests []*llm.Request
}

func (m *scripted) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		m.mu.Lock()
		n := len(m.requests)
		m.requests = append(m.requests, r)
		do := say("ok")
		if n < len(m.replies) {
			do = m.replies[n]
		}
		m.mu.Unlock()
		do(ctx, yield)
	}
}

func deltas(all ...llm.Delta) reply {
	return func(_ context.Context, yield func(llm.Delta, error) bool) {
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func stop(reason message.StopReason) llm.Delta {
	return llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: reason}}
}

func say(text string) reply {
	return deltas(llm.Delta{Kind: llm.DeltaText, Text: text}, stop(message.StopEnd))
}

// call is an answer that calls a tool.
func call(id, name string) reply {
	return deltas(llm.Delta{Kind: llm.DeltaToolCall, ID: id, Name: name}, llm.Delta{Kind: llm.DeltaToolCall, Text: "{}"}, stop(message.StopToolUse))
}

// hang streams a piece of text, tells that it has, and says nothing more until it is
// interrupted, or until more is closed.
func hang(begun chan<- struct{}, more <-chan struct{}) reply {
	return func(ctx context.Context, yield func(llm.Delta, error) bool) {
		if !yield(llm.Delta{Kind: llm.DeltaText, Text: "half"}, nil) {
			return
		}
		close(begun)
		select {
		case <-ctx.Done():
			yield(llm.Delta{}, ctx.Err())
		case <-more:
			deltas(llm.Delta{Kind: llm.DeltaText, Text: " done"}, stop(message.StopEnd))(ctx, yield)
		}
	}
}

// listener is a hook made of a function.
type listener struct {
	kind   agent.Kind
	handle func(context.Context, agent.Event) error
}

func (l listener) Wants(k agent.Kind) bool                         { return k == l.kind }
func (l listener) Handle(ctx context.Context, e agent.Event) error { return l.handle(ctx, e) }

// on is a hook for one type of event.
func on[E agent.Event](f func(context.Context, E) error) agent.Listener {
	var zero E
	return listener{zero.Kind(), func(ctx context.Context, e agent.Event) error { return f(ctx, e.(E)) }}
}

// client is a conversation with a Server: what it sends and what it reads.
type client struct {
	t        *testing.T
	server   *Server
	agent    *agent.Agent
	model    *scripted
	in       *io.PipeWriter
	lines    chan string // that the server has written; closed at the end
	seen     []string    // of those, what was read
	errs     *safeBuffer
	ended    chan error
	closing  sync.Once
	finished error
}

// safeBuffer is a buffer that goroutines share.
type safeBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// setup is what a test needs besides the defaults.
type setup struct {
	replies  []reply
	hooks    func(ui agent.UI, a func() *agent.Agent) []agent.Listener
	commands func(ui agent.UI, a func() *agent.Agent) []command.Command
	settings agent.Settings
	dir      string // of sessions; "" keeps none
	shell    agent.Shell
	models   []*llm.Model // besides p/m
	noKey    bool         // of p/m
	options  Options
	out      func(io.Writer) io.Writer
}

// start starts a Server in a new session.
func start(t *testing.T, o setup) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, model: &scripted{replies: o.replies}, in: inW, lines: make(chan string), errs: &safeBuffer{}, ended: make(chan error, 1)}
	var out io.Writer = outW
	if o.out != nil {
		out = o.out(outW)
	}
	c.server = New(inR, out, c.errs, o.options)
	model := &llm.Model{Provider: "p", ID: "m", API: "scripted", Name: "M", ContextWindow: 100_000, MaxTokens: 1000, NeedsKey: o.noKey}
	models := llm.NewModels(map[string]llm.Provider{"scripted": c.model})
	spec := llm.ProviderSpec{Name: "p", Models: llm.Listed(append([]*llm.Model{model}, o.models...)...)}
	if o.noKey {
		spec.Key = func(context.Context) (string, error) {
			return "", &llm.ProviderError{Provider: "p", Message: "no key", NextStep: "export P_KEY"}
		}
		spec.HasKey = func() bool { return false }
		spec.KeyHint = func() string { return "export P_KEY" }
	}
	models.Register(spec)
	options := session.Options{Dir: o.dir, Cwd: t.TempDir()}
	getAgent := func() *agent.Agent { return c.agent }
	var listeners []agent.Listener
	if o.hooks != nil {
		listeners = o.hooks(c.server.UI(), getAgent)
	}
	if o.shell == nil {
		o.shell = func(_ context.Context, line string, output func(string)) (agent.BashOutcome, error) {
			output(line + "\n")
			return agent.BashOutcome{Output: line + "\n", ExitCode: new(int)}, nil
		}
	}
	c.agent = agent.New(agent.Options{
		Session: session.New(options), Models: models, Model: model, Thinking: "off", Settings: o.settings, Cwd: options.Cwd, Shell: o.shell,
		Listeners: append(listeners, c.server),
		NewSession: func(parent string) (*session.Session, error) {
			next := options
			next.Parent = parent
			return session.New(next), nil
		},
		OpenSession: func(path string) (*session.Session, error) { return session.Open(path, options) },
		CopySession: func(s *session.Session, leaf string) (*session.Session, error) { return s.CopyPath(leaf, options) },
	})
	core := command.Core(command.Options{Agent: c.agent, UI: c.server.UI()})
	set := command.NewSet(core, func() []command.Command {
		if o.commands == nil {
			return nil
		}
		return o.commands(c.server.UI(), getAgent)
	})
	go c.readLines(outR)
	go func() {
		c.server.Begin(context.Background(), c.agent, set)
		c.agent.Start(context.Background())
		err := c.server.Run()
		_ = c.agent.Close(context.Background())
		last, cancel := context.WithTimeout(context.Background(), endLimit)
		defer cancel()
		_ = c.server.Close(last)
		_ = outW.Close()
		_ = inR.Close()
		c.ended <- err
	}()
	t.Cleanup(func() { _ = c.end() })
	return c
}

// readLines hands on what the server writes.
func (c *client) readLines(out io.Reader) {
	defer close(c.lines)
	in := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		c.lines <- strings.TrimSuffix(line, "\n")
	}
}

// send sends lines, all in one write.
func (c *client) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// next reads the next record.
func (c *client) next() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("the server has ended; it wrote\n%s", strings.Join(c.seen, "\n"))
		}
		c.seen = append(c.seen, line)
		return line
	case <-time.After(10 * time.Second):
		c.t.Fatalf("nothing came; the server wrote\n%s", strings.Join(c.seen, "\n"))
	}
	return ""
}

// until reads up to the first record that has all the parts, and returns that.
func (c *client) until(parts ...string) string {
	c.t.Helper()
	for {
		if line := c.next(); hasAll(line, parts) {
			return line
		}
	}
}

func hasAll(line string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(line, part) {
			return false
		}
	}
	return true
}

// answerTo sends a command and returns its answer.
func (c *client) answerTo(line string) string {
	c.t.Helper()
	c.send(line)
	var r struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.ID == "" {
		return c.until(`"type":"response"`)
	}
	return c.until(`"type":"response"`, `"id":"`+r.ID+`"`)
}

// answers reads up to the answers to all commands with these ids, in whatever order they come.
func (c *client) answers(ids ...string) map[string]string {
	c.t.Helper()
	all := map[string]string{}
	for len(all) < len(ids) {
		line := c.until(`"type":"response"`)
		var r struct{ ID string }
		decode(c.t, line, &r)
		if slices.Contains(ids, r.ID) {
			all[r.ID] = line
		}
	}
	return all
}

// types lists the types of the records that were read so far; answers and requests of hooks
// with what they are about.
func (c *client) types() string {
	var all []string
	for _, line := range c.seen {
		var r struct{ Type, Command, Method string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			c.t.Errorf("no JSON: %s", line)
		}
		word := r.Type
		if more := r.Command + r.Method; more != "" {
			word += ":" + more
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// end ends the input, reads the rest and returns what Run returned.
func (c *client) end() error {
	c.closing.Do(func() {
		_ = c.in.Close()
		for line := range c.lines {
			c.seen = append(c.seen, line)
		}
		c.finished = <-c.ended
	})
	return c.finished
}

// check compares a record with what it should be; "*" in want stands for anything.
func check(t *testing.T, got, want string) {
	t.Helper()
	rest := got
	parts := strings.Split(want, "*")
	for i, part := range parts {
		at := strings.Index(rest, part)
		if at < 0 || i == 0 && at != 0 {
			t.Errorf("got  %s\nwant %s", got, want)
			return
		}
		rest = rest[at+len(part):]
	}
	if last := parts[len(parts)-1]; last != "" && rest != "" {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// fmtPrompt is a prompt as a command.
func prompt(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"type":"prompt","message":%q}`, id, text)
}

// delta is a piece of an answer.
type delta = llm.Delta

// decode reads a record.
func decode(t *testing.T, line string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), into); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}
