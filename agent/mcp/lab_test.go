package mcp

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"pi/internal/testing/mcptest"
	"pi/session/message"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

// entry is a server that this test binary is.
func entry(name, kind string) Entry {
	program, env := mcptest.Command(kind)
	return Entry{Name: name, Command: program, Env: env}
}

// lab is servers of a test, with what was told of them.
type lab struct {
	*Servers
	t *testing.T

	mu     sync.Mutex
	events []Event
}

func open(t *testing.T, o Options) *lab {
	t.Helper()
	l := &lab{t: t}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Cwd == "" {
		o.Cwd = t.TempDir()
	}
	if o.Notify == nil {
		o.Notify = func(e Event) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.events = append(l.events, e)
		}
	}
	l.Servers = Open(o)
	t.Cleanup(l.Close)
	return l
}

// one are servers of which there is one.
func one(t *testing.T, kind string) *lab {
	t.Helper()
	return open(t, Options{Entries: []Entry{entry("s", kind)}})
}

func (l *lab) states() (all []State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Change == nil {
			all = append(all, e.State)
		}
	}
	return all
}

func (l *lab) changes() (all []Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Change != nil {
			all = append(all, *e.Change)
		}
	}
	return all
}

// ask calls a tool of the server s and returns the text of its result, or of its error.
func (l *lab) ask(tool, arguments string) string {
	l.t.Helper()
	r, err := l.Call(l.within(), "s", tool, json.RawMessage(arguments), CallOptions{})
	if err != nil {
		return "error: " + err.Error()
	}
	return text(r.Tool.Content)
}

// within is a context that ends long before the test does.
func (l *lab) within() context.Context {
	ctx, cancel := context.WithTimeout(l.t.Context(), 8*time.Minute)
	l.t.Cleanup(cancel)
	return ctx
}

func text(blocks []message.Block) string {
	var all []string
	for _, b := range blocks {
		if b.Type == message.BlockText {
			all = append(all, b.Text)
		} else {
			all = append(all, "("+b.MimeType+")")
		}
	}
	return strings.Join(all, "\n")
}

// log is what mcp.log has.
func (l *lab) logged() string {
	b, _ := os.ReadFile(l.log.path)
	return string(b)
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-late.C:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// pageQuestion is a question to open a page.
func pageQuestion(url string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "url", Message: "Open it", URL: url}
}
