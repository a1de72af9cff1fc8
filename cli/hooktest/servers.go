package hooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	lua "github.com/yuin/gopher-lua"

	"pi/agent/mcp"
)

// playedServers are the MCP servers of a case. Each start of one is a server of the SDK at the
// other end of a pipe in this process; from there on up it is one like others. Any goroutine may
// use them.
type playedServers struct {
	// result is what a tool that is a function gives. It is called while the case waits.
	result func(ctx context.Context, tool *playedTool, c serverCall) *sdk.CallToolResult
	// broken is told of a question that cannot be asked.
	broken func(text string)

	lives sync.WaitGroup

	mu    sync.Mutex // guards what follows
	list  []*playedServer
	calls []*serverCall
}

// playedServer is one of them.
type playedServer struct {
	all  *playedServers
	name string

	mu     sync.Mutex // guards script
	script serverScript
}

// serverScript is what t.mcp says of a server. It is not changed once made.
type serverScript struct {
	entry      mcp.Entry
	configured bool // it is a server of the session from the start
	tools      []*playedTool
	questions  map[string][]*sdk.ElicitParams // by tool
	diesAfter  int                            // calls of one life; negative: it does not die
}

// playedTool is a tool of a server, with what a call of it gives.
type playedTool struct {
	listed   *sdk.Tool
	result   *sdk.CallToolResult
	function *lua.LFunction // in place of result; nil: there is none
}

// serverCall is a call that reached a server.
type serverCall struct {
	server, tool string
	input        json.RawMessage
	answers      []*sdk.ElicitResult // to what the server asked before it gave the result
}

// find returns the server of a name; nil if none is played.
func (s *playedServers) find(name string) *playedServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.list {
		if p.name == name {
			return p
		}
	}
	return nil
}

// add adds a server.
func (s *playedServers) add(script serverScript) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, &playedServer{all: s, name: script.entry.Name, script: script})
}

// names are those of the servers.
func (s *playedServers) names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.list {
		names = append(names, p.name)
	}
	return names
}

// entries are the servers that a session has from its start.
func (s *playedServers) entries() (entries []mcp.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.list {
		if script := p.now(); script.configured {
			entries = append(entries, script.entry)
		}
	}
	return entries
}

// called returns the calls of a server so far; of all, if name is "".
func (s *playedServers) called(name string) (calls []serverCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if name == "" || c.server == name {
			calls = append(calls, *c)
		}
	}
	return calls
}

// note remembers a call, or what is known of it now.
func (s *playedServers) note(c *serverCall, change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	if !slices.Contains(s.calls, c) {
		s.calls = append(s.calls, c)
	}
}

// play starts the server of an entry. It is the [mcp.Player] of the case.
func (s *playedServers) play(e *mcp.Entry) (sdk.Transport, error) {
	p := s.find(e.Name)
	if p == nil {
		return nil, fmt.Errorf("a test starts no server; t.mcp{ name = %q, … } plays it", e.Name)
	}
	return p.start()
}

func (p *playedServer) now() serverScript {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.script
}

// become makes another server of it, as an update does.
func (p *playedServer) become(script serverScript) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = script
}

// life is a server from its start to its end.
type life struct {
	server *playedServer
	ctx    context.Context // ends with it
	die    func()

	mu    sync.Mutex // guards taken
	taken int        // calls
}

// start begins a life, and returns what its client speaks through.
func (p *playedServer) start() (sdk.Transport, error) {
	near, far := net.Pipe()
	ctx, gone := context.WithCancel(context.Background()) // its client ends it
	l := &life{server: p, ctx: ctx, die: func() { _ = near.Close() }}
	server := sdk.NewServer(&sdk.Implementation{Name: p.name, Version: "1"}, &sdk.ServerOptions{
		Logger: slog.New(slog.DiscardHandler), Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}}})
	server.AddReceivingMiddleware(l.serve)
	session, err := server.Connect(ctx, &sdk.IOTransport{Reader: listening{near, gone}, Writer: near}, nil)
	if err != nil {
		gone()
		return nil, err
	}
	p.all.lives.Go(func() {
		defer gone()
		_ = session.Wait()
	})
	return &sdk.IOTransport{Reader: far, Writer: far}, nil
}

// listening is what a server reads, which calls gone when nobody is at the other end: the SDK waits
// for calls that are on their way, and those may wait for the user.
type listening struct {
	io.ReadCloser
	gone func()
}

func (r listening) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if err != nil {
		r.gone()
	}
	return n, err
}

// serve answers about tools; the rest the SDK does.
func (l *life) serve(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		switch r := r.(type) {
		case *sdk.ListToolsRequest:
			listed := &sdk.ListToolsResult{Tools: []*sdk.Tool{}}
			for _, t := range l.server.now().tools {
				listed.Tools = append(listed.Tools, t.listed)
			}
			return listed, nil
		case *sdk.CallToolRequest:
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(l.ctx, cancel)()
			return l.call(ctx, r)
		}
		return next(ctx, method, r)
	}
}

// call answers a call, or dies of it.
func (l *life) call(ctx context.Context, r *sdk.CallToolRequest) (sdk.Result, error) {
	script, all := l.server.now(), l.server.all
	c := &serverCall{server: l.server.name, tool: r.Params.Name}
	all.note(c, func() { c.input = r.Params.Arguments })
	if l.isLast(script.diesAfter) {
		l.die()
		return nil, errors.New("the server dies")
	}
	tool := script.tool(c.tool)
	if tool == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", c.tool)}
	}
	for _, question := range script.questions[c.tool] {
		answer, err := r.Session.Elicit(ctx, question)
		if err != nil {
			if ctx.Err() == nil {
				all.broken(fmt.Sprintf("t.mcp: elicit.%s of %s: %v", c.tool, c.server, err))
			}
			return nil, err
		}
		all.note(c, func() { c.answers = append(c.answers, answer) })
	}
	if tool.function == nil {
		result := *tool.result
		return &result, nil
	}
	return all.result(ctx, tool, *c), nil
}

// isLast counts a call, and reports whether the server dies of it.
func (l *life) isLast(after int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken++
	return after >= 0 && l.taken > after
}

// tool returns the tool of a name, or nil.
func (s *serverScript) tool(name string) *playedTool {
	for _, t := range s.tools {
		if t.listed.Name == name {
			return t
		}
	}
	return nil
}
