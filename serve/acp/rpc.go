package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/jsonlines"
	"pi/internal/printable"
	"pi/session/rawjson"
)

// The codes of JSON-RPC's errors, and those that the protocol adds.
const (
	codeParse         = -32700
	codeInvalid       = -32600 // no request, or one that is not possible now
	codeUnknownMethod = -32601
	codeParams        = -32602
	codeBug           = -32603 // of the program: some clients keep its message to themselves
	codeCancelled     = -32800
	codeNoKey         = -32000 // the client can offer to sign in
	codeNoSession     = -32002
	codeFailed        = -32010 // what was asked for failed, and the message says why
)

// rpcError is the error of a request. Its message is one line, which the client shows.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`

	noKey bool // it is one of a key that is missing
}

func (e *rpcError) Error() string { return e.Message }

// mostError is how many characters the message of an error has at most.
const mostError = 2000

// newError returns an error with the text in one line that is not empty.
func newError(code int, format string, args ...any) *rpcError {
	text := printable.Cut(printable.Line(fmt.Sprintf(format, args...)), mostError)
	if text == "" {
		text = "failed without a word"
	}
	return &rpcError{Code: code, Message: text}
}

// incoming is a line of the client.
type incoming struct {
	id     json.RawMessage // as it was written; nil for a notification
	method string          // "" for a reply
	params json.RawMessage // nil if there are none
	result json.RawMessage // of a reply
	err    *rpcError       // of a reply
}

// parseLine reads a line. The error says why it is neither request nor reply.
func parseLine(line []byte) (*incoming, *rpcError) {
	if !rawjson.Valid(line) {
		return nil, newError(codeParse, "the line is not JSON")
	}
	all, err := parseFields(line)
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")):
		return nil, newError(codeInvalid, "batches are not supported; send one object per line")
	case err != nil:
		return nil, newError(codeInvalid, "the line is not a JSON object")
	}
	if version, ok := all.text("jsonrpc"); !ok || version != "2.0" {
		return nil, newError(codeInvalid, `"jsonrpc" must be "2.0"`)
	}
	m := &incoming{id: all["id"], params: all["params"], result: all["result"]}
	if m.id != nil && !isID(m.id) {
		return nil, newError(codeInvalid, `"id" must be a number, a string or null`)
	}
	if all.has("method") {
		if m.method, _ = all.text("method"); m.method == "" {
			return nil, newError(codeInvalid, `"method" must be a string that is not empty`)
		}
		return m, nil
	}
	return m, m.readReply(all)
}

// readReply reads what is left of a reply.
func (m *incoming) readReply(all fields) *rpcError {
	if !all.has("result") && !all.has("error") {
		return newError(codeInvalid, `"method" is missing`)
	}
	if all.isGiven("error") {
		m.err = newError(codeFailed, "the client refused without a word")
		if e, err := parseFields(all["error"]); err == nil {
			if text, ok := e.text("message"); ok && strings.TrimSpace(text) != "" {
				m.err.Message = printable.Line(text)
			}
		}
	}
	return nil
}

// isID reports whether a JSON text may be the id of a request.
func isID(text json.RawMessage) bool {
	return text[0] == '"' || text[0] == '-' || text[0] >= '0' && text[0] <= '9' || string(text) == "null"
}

// request, reply, failure and notification are lines that are written.
type (
	request struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	reply struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}
	failure struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *rpcError       `json:"error"`
	}
	notification struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
)

// connection writes lines, and pairs our requests with their replies. All methods may be
// called by any goroutine. A line that cannot be written is dropped: the end of the client
// is noticed elsewhere.
type connection struct {
	out *jsonlines.Writer

	takesBack atomic.Bool // the client knows requests that are taken back
	signsIn   atomic.Bool // it was told how to sign in

	over chan struct{} // closed when no reply will be read any more

	mu      sync.Mutex // guards what follows
	last    int64      // the id of the last request of ours
	waiting map[int64]chan *incoming
}

// answer writes the answer to a request: err, or result.
func (c *connection) answer(id json.RawMessage, result any, err error) {
	if err == nil {
		_ = c.out.Write(reply{"2.0", id, result})
		return
	}
	failed, ok := errors.AsType[*rpcError](err)
	if !ok {
		failed = failedWith(err)
	}
	if failed.noKey && c.signsIn.Load() {
		failed = newError(codeNoKey, "%s", failed.Message)
	}
	_ = c.out.Write(failure{"2.0", id, failed})
}

// notify writes a notification.
func (c *connection) notify(method string, params any) {
	_ = c.out.Write(notification{"2.0", method, params})
}

// errDisconnected is the failure of a request that nobody answers any more.
var errDisconnected = errors.New("the client is gone")

// call sends a request and waits for its reply. The error is that of the client, an
// *[rpcError]; that of ctx, whose end also tells a client that knows it that nobody waits any
// more; or errDisconnected.
func (c *connection) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	id, replied := c.expect()
	if replied == nil {
		return nil, errDisconnected
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
	}()
	if err := c.out.Write(request{"2.0", id, method, params}); err != nil {
		return nil, errDisconnected
	}
	select {
	case m, ok := <-replied:
		switch {
		case !ok:
			return nil, errDisconnected
		case m.err != nil:
			return nil, m.err
		}
		return m.result, nil
	case <-ctx.Done():
		if c.takesBack.Load() {
			c.notify(cancelMethod, map[string]any{"requestId": id})
		}
		return nil, ctx.Err()
	}
}

// expect returns the id of a further request, and where its reply comes; nil if there will
// be none.
func (c *connection) expect() (int64, chan *incoming) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.over:
		return 0, nil
	default:
	}
	c.last++
	replied := make(chan *incoming, 1)
	c.waiting[c.last] = replied
	return c.last, replied
}

// deliver hands a reply to who waits for it. One that nobody waits for is ignored.
func (c *connection) deliver(m *incoming) {
	id, err := strconv.ParseInt(string(m.id), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if replied := c.waiting[id]; replied != nil {
		delete(c.waiting, id)
		replied <- m
	}
}

// closeReplies ends the waiting for replies, now and later. It is called once.
func (c *connection) closeReplies() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.over)
	for id, replied := range c.waiting {
		delete(c.waiting, id)
		close(replied)
	}
}

// failedWith makes the error of a request of what went wrong, with the next step if one is
// known.
func failedWith(err error) *rpcError {
	text := err.Error()
	if hint := command.HintOf(err); hint != "" {
		text += "; " + strings.ReplaceAll(hint, "\n", "; ")
	}
	failed := newError(codeFailed, "%s", text)
	var missing interface{ NoKey() bool }
	_, isMissing := errors.AsType[*agent.NoKeyError](err)
	failed.noKey = isMissing || errors.As(err, &missing) && missing.NoKey()
	return failed
}

// fields are the members of a JSON object, by their exact names.
type fields map[string]json.RawMessage

// parseFields reads an object out of valid JSON. The values are views of text. Of a member
// that comes twice the last one counts.
func parseFields(text json.RawMessage) (fields, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return nil, errors.New("no object")
	}
	all := fields{}
	for name, value := range rawjson.Fields(text) {
		all[string(name)] = value
	}
	return all, nil
}

// fields reads the parameters of a request.
func (m *incoming) fields() (fields, error) {
	if m.params == nil || string(m.params) == "null" {
		return fields{}, nil
	}
	all, err := parseFields(m.params)
	if err != nil {
		return nil, newError(codeParams, `"params" must be an object`)
	}
	return all, nil
}

// has reports whether there is a member of this name, be it null.
func (f fields) has(name string) bool { return f[name] != nil }

// isGiven reports whether there is a member of this name that is not null.
func (f fields) isGiven(name string) bool { return f[name] != nil && string(f[name]) != "null" }

// text returns a member that is a string.
func (f fields) text(name string) (text string, ok bool) {
	if !rawjson.IsString(f[name]) {
		return "", false
	}
	return rawjson.Unquote(f[name]), true
}

// needText is text for a member that has to be there.
func (f fields) needText(name string) (string, error) {
	text, ok := f.text(name)
	switch {
	case !f.isGiven(name):
		return "", newError(codeParams, "%q is missing; it must be a string", name)
	case !ok:
		return "", newError(codeParams, "%q must be a string", name)
	}
	return text, nil
}

// mayText is text for a member that may be absent or null; "" then.
func (f fields) mayText(name string) (string, error) {
	if !f.isGiven(name) {
		return "", nil
	}
	return f.needText(name)
}

// flag reports whether a member is true.
func (f fields) flag(name string) bool { return string(f[name]) == "true" }

// object returns a member that is an object; nil if it is none.
func (f fields) object(name string) fields {
	all, err := parseFields(f[name])
	if err != nil {
		return nil
	}
	return all
}

// list returns the elements of a member that is an array; ok is false if it is none.
func (f fields) list(name string) (elements []json.RawMessage, ok bool) {
	raw := f[name]
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	for element := range rawjson.Elements(raw) {
		elements = append(elements, element)
	}
	return elements, true
}

// checkAbsolute checks a path of the client.
func checkAbsolute(name, path string) error {
	if !filepath.IsAbs(path) {
		return newError(codeParams, "%q must be an absolute path, not %q", name, path)
	}
	return nil
}
