package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
)

// client is what the client said of itself.
type client struct {
	notices    bool // it shows notices
	compaction bool // it shows compactions
	forms      bool // it shows forms
	pages      bool // it opens pages where the user is asked
	reads      bool // its files can be read
	writes     bool // and written
}

// task is a request that is worked on.
type task struct {
	id        json.RawMessage
	cancel    context.CancelFunc
	cancelled atomic.Bool // by the client
}

// handler works on a request: result or error is the answer. ctx ends when the client
// cancels the request.
type handler func(ctx context.Context) (result any, err error)

// request works on a request. What has to keep the order of the lines is done before it
// returns, and the rest by a goroutine.
func (v *Server) request(m *incoming) {
	f, err := m.fields()
	if err != nil {
		v.conn.answer(m.id, nil, err)
		return
	}
	work, err := v.handler(m.method, f)
	if err != nil {
		v.conn.answer(m.id, nil, err)
		return
	}
	if work == nil { // answered at once
		if m.method == "authenticate" {
			v.conn.answer(m.id, empty{}, nil)
			return
		}
		result, err := v.initialize(f)
		v.conn.answer(m.id, result, err)
		return
	}
	ctx, t := v.begin(m.id)
	if t == nil {
		v.conn.answer(m.id, nil, errEnding)
		return
	}
	go func() {
		defer v.finish(t)
		err := v.guarded(func() { v.perform(ctx, t, work) })
		if err != nil {
			v.conn.answer(t.id, nil, err)
		}
	}()
}

// errEnding is the failure of a request that came while the program ends.
var errEnding = errors.New("the program ends")

// perform answers a request with what work comes to.
func (v *Server) perform(ctx context.Context, t *task, work handler) {
	result, err := work(ctx)
	if more, ok := errors.AsType[*answered](err); ok {
		more.finish(func(result any) { v.conn.answer(t.id, result, nil) })
		return
	}
	if err != nil && t.cancelled.Load() {
		err = newError(codeCancelled, "cancelled")
	}
	v.conn.answer(t.id, result, err)
}

// begin notes a request that the client can cancel; the task is nil if the server ends.
func (v *Server) begin(id json.RawMessage) (context.Context, *task) {
	ctx, cancel := context.WithCancel(v.ctx)
	t := &task{id: bytes.Clone(id), cancel: cancel} // the line that id is a part of may be large
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.draining {
		cancel()
		return nil, nil
	}
	v.requests.Add(1)
	v.tasks[t] = struct{}{}
	return ctx, t
}

func (v *Server) finish(t *task) {
	t.cancel()
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.tasks, t)
	v.requests.Done()
}

// handler returns what works on a method; nil for what is done at once. The error is that
// of a method that is not there, or not now.
func (v *Server) handler(method string, f fields) (work handler, err error) {
	if method == "initialize" || method == "authenticate" {
		return nil, nil
	}
	begin, known := map[string]func(fields) (handler, error){
		"session/new":               v.beginNew,
		"session/load":              func(f fields) (handler, error) { return v.beginOpen(f, true) },
		"session/resume":            func(f fields) (handler, error) { return v.beginOpen(f, false) },
		"session/list":              v.beginList,
		"session/close":             v.beginClose,
		"session/delete":            v.beginDelete,
		"session/prompt":            v.beginPrompt,
		"session/set_mode":          v.beginSetMode,
		"session/set_config_option": v.beginSetOption,
	}[method]
	switch {
	case !known:
		return nil, newError(codeUnknownMethod, "there is no method %q", method)
	case v.capable() == nil:
		return nil, newError(codeInvalid, "%s comes after initialize", method)
	}
	return begin(f)
}

// capable returns what the client can do; nil before it has said so.
func (v *Server) capable() *client {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.client
}

// initialize takes what the client says of itself, and says what is offered here.
func (v *Server) initialize(f fields) (any, error) {
	switch version := f["protocolVersion"]; {
	case !f.isGiven("protocolVersion"):
		return nil, newError(codeParams, `"protocolVersion" is missing; it must be a number`)
	case bytes.IndexByte([]byte("-0123456789"), version[0]) < 0:
		return nil, newError(codeParams, `"protocolVersion" must be a number`)
	}
	can := f.object("clientCapabilities")
	fs, session := can.object("fs"), can.object("session")
	if can.object("_meta").isGiven(cancelMethod) {
		v.conn.takesBack.Store(true)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.client = &client{
		notices: session.object("notices") != nil, compaction: session.object("compaction") != nil,
		forms: can.object("elicitation").object("form") != nil, pages: can.object("elicitation").object("url") != nil,
		reads: fs.flag("readTextFile"), writes: fs.flag("writeTextFile"),
	}
	methods := []signIn{}
	if can.object("auth").flag("terminal") && len(v.SignIn) > 0 {
		methods = append(methods, signIn{"terminal", "login", "Sign in to a provider", "Signs in to a provider in a terminal, or asks for its key and tries it, and keeps what comes of it.", v.SignIn})
	}
	v.conn.signsIn.Store(len(methods) > 0)
	return initialized{
		ProtocolVersion: 1,
		AgentCapabilities: agentCapabilities{LoadSession: true,
			PromptCapabilities: promptCapabilities{Image: true, EmbeddedContext: true}, MCPCapabilities: mcpCapabilities{HTTP: true}},
		AuthMethods: methods,
		AgentInfo:   implementation{Name: "pi", Title: "pi", Version: v.Version},
	}, nil
}

// notice works on a notification. Unknown ones are ignored, and so are those that make no
// sense: nobody waits for an answer.
func (v *Server) notice(m *incoming) {
	f, err := m.fields()
	if err != nil {
		return
	}
	switch m.method {
	case "session/cancel":
		id, _ := f.text("sessionId")
		if s := v.find(id); s != nil {
			s.cancel()
		}
	case cancelMethod:
		v.conn.takesBack.Store(true) // who says it knows it
		v.cancelRequest(f["requestId"])
	}
}

// cancelMethod takes a request back. The protocol has no capability for it: a client
// announces it in _meta of its capabilities, or by using it.
const cancelMethod = "$/cancel_request"

// cancelRequest cancels the requests with an id.
func (v *Server) cancelRequest(id json.RawMessage) {
	if id == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for t := range v.tasks {
		if bytes.Equal(t.id, id) {
			t.cancelled.Store(true)
			t.cancel()
		}
	}
}

// find returns the session with an id, be it open or about to be; nil if there is none.
func (v *Server) find(id string) *session {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sessions[id]
}

// need is find for a request, whose field sessionId names the session.
func (v *Server) need(f fields) (*session, error) {
	id, err := f.needText("sessionId")
	if err != nil {
		return nil, err
	}
	if s := v.find(id); s != nil {
		return s, nil
	}
	return nil, noSession(id)
}

// noSession is the error for an id that no open session has.
func noSession(id string) error {
	return newError(codeNoSession, "there is no session %q open here; session/load or session/resume opens one", strings.ToValidUTF8(cut(id, 80), ""))
}
