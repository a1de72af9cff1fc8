package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/agent/tool"
	"pi/internal/testing/acptest"
	sessions "pi/session"
	"pi/session/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// text, think, calling and stop are deltas of answers.
func text(s string) llm.Delta  { return llm.Delta{Kind: llm.DeltaText, Index: 1, Text: s} }
func think(s string) llm.Delta { return llm.Delta{Kind: llm.DeltaThinking, Text: s} }
func calling(id, name, args string) llm.Delta {
	return llm.Delta{Kind: llm.DeltaToolCall, Index: 2 + int(id[len(id)-1]), ID: id, Name: name, Text: args}
}
func stop(r message.StopReason) llm.Delta {
	return llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: r}}
}

// model answers by a function: what it yields for a request is the answer.
type model func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool)

func (m model) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) { m(ctx, r, yield) }
}

// answering returns a model that yields deltas by the last text of a request: those of the
// key that it begins with; after results of tools "done".
func answering(answers map[string][]llm.Delta) model {
	return func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
		last := r.Messages[len(r.Messages)-1]
		deltas := []llm.Delta{text("re: " + last.Text()), stop(message.StopEnd)}
		for key, those := range answers {
			if last.Role == message.RoleUser && strings.HasPrefix(last.Text(), key) {
				deltas = those
			}
		}
		if last.Role == message.RoleToolResult {
			deltas = []llm.Delta{text("done"), stop(message.StopEnd)}
		}
		for _, d := range deltas {
			if d.Kind == llm.DeltaPing { // the answer goes on for ever
				<-ctx.Done()
				yield(llm.Delta{}, ctx.Err())
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// host makes runs whose model is a function.
type host struct {
	root     string
	model    model
	edit     func(o *agent.Options)                 // of the agent's options; may be nil
	hooks    func(o SessionRequest) agent.Listener  // that come before the front end; may be nil
	more     func(a *agent.Agent) []command.Command // commands of hooks; may be nil
	ready    func(chosen bool) error
	opening  func(o SessionRequest) // is told of each session; may be nil
	answered func()                 // of the runs; may be nil
	fail     error                  // of Open
	ui       agent.UI               // of the session that was opened last

	mu     sync.Mutex
	agents []*agent.Agent
	closed int
}

func (h *host) Open(ctx context.Context, o SessionRequest) (*Run, error) {
	if h.fail != nil {
		return nil, h.fail
	}
	h.ui = o.UI
	if h.opening != nil {
		h.opening(o)
	}
	s := sessions.New(sessions.Options{Dir: h.root, Cwd: o.Cwd, LockDir: h.root, ID: o.ID})
	if o.Path != "" {
		var err error
		if s, err = sessions.Open(o.Path, sessions.Options{Dir: h.root, Cwd: o.Cwd, LockDir: h.root}); err != nil {
			return nil, err
		}
	}
	one := &llm.Model{Provider: "test", ID: "one", Name: "One", API: "test", Reasoning: true, ContextWindow: 1000, Input: []string{"text", "image"}}
	two := &llm.Model{Provider: "test", ID: "two", API: "test", ContextWindow: 2000}
	models := llm.NewModels(map[string]llm.Provider{"test": h.model})
	models.Register(llm.ProviderSpec{Name: "test", Models: llm.Listed(one, two)})
	options := agent.Options{Session: s, Models: models, Model: one, Thinking: "off", Cwd: o.Cwd,
		Tools: tool.All(tool.Options{Cwd: o.Cwd, Files: o.Files}),
		NewSession: func(string) (*sessions.Session, error) {
			return sessions.New(sessions.Options{Dir: h.root, Cwd: o.Cwd}), nil
		}}
	if h.edit != nil {
		h.edit(&options)
	}
	if h.hooks != nil {
		options.Listeners = append(options.Listeners, h.hooks(o))
	}
	options.Listeners = append(options.Listeners, o.Listener)
	a := agent.New(options)
	set := command.NewSet(command.Core(command.Options{Agent: a, UI: o.UI}), func() []command.Command {
		if h.more == nil {
			return nil
		}
		return h.more(a)
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.agents = append(h.agents, a)
	ready := h.ready
	if ready == nil {
		ready = func(bool) error { return nil }
	}
	return &Run{Agent: a, Commands: set, Ready: ready, Answered: h.answered, Close: func(ctx context.Context) error {
		h.mu.Lock()
		h.closed++
		h.mu.Unlock()
		return a.Close(ctx)
	}}, nil
}

func (h *host) Remove(path string) error { return os.Remove(path) }

// agent returns the agent of the nth session.
func (h *host) agent(n int) *agent.Agent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.agents[n]
}

// listening is a listener that is a function.
type listening func(ctx context.Context, e agent.Event) error

func (listening) Wants(agent.Kind) bool                             { return true }
func (l listening) Handle(ctx context.Context, e agent.Event) error { return l(ctx, e) }

// running is a server with its client.
type running struct {
	*acptest.Client
	host       *host
	server     *Server
	fromServer *io.PipeReader
	cwd        string
	done       chan error
}

// serve starts a server; it ends with the test, if not before.
func serve(t *testing.T, h *host, change ...func(*Options)) *running {
	t.Helper()
	return serveCtx(t.Context(), t, h, change...)
}

func serveCtx(ctx context.Context, t *testing.T, h *host, change ...func(*Options)) *running {
	t.Helper()
	if h.root == "" {
		h.root = t.TempDir()
	}
	if h.model == nil {
		h.model = answering(nil)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	r := &running{host: h, fromServer: fromServer, cwd: t.TempDir(), done: make(chan error, 1)}
	o := Options{In: in, Out: out, Version: "1.2.3", Opener: h, Root: h.root}
	for _, f := range change {
		f(&o)
	}
	r.server = New(o)
	go func() {
		err := r.server.Run(context.WithoutCancel(ctx))
		_ = out.Close()
		_ = in.Close()
		r.done <- err
	}()
	r.Client = acptest.Dial(t, toServer, fromServer)
	t.Cleanup(func() {
		r.Close()
		r.WaitEnd()
	})
	return r
}

// opened is serve with a client that has begun a session.
func openedIn(t *testing.T, h *host, capabilities any) (r *running, id string) {
	t.Helper()
	r = serve(t, h)
	r.Initialize(capabilities)
	return r, r.New(r.cwd)
}

type object = map[string]any

// ends waits for the end of the server and returns its error.
func (r *running) ends(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the server does not end")
		return nil
	}
}

// write writes a file below the directory of the sessions.
func (r *running) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(r.cwd, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// pngBytes is a small image.
func pngBytes(t *testing.T) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
