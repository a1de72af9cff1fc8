package acptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a Client waits for something before the test fails.
const patience = time.Minute

// Client is the other end of an agent, for tests. It holds each line against the schema and
// keeps them all. All methods may be called by any goroutine; those that wait fail the test
// when nothing comes.
type Client struct {
	t     testing.TB
	in    io.WriteCloser
	check *Checker

	mu      sync.Mutex // guards what follows
	changed *sync.Cond
	lines   []Line
	handle  map[string]func(Line) (any, *Error)
	last    int
	ended   bool // the agent's output is at its end
	paused  bool
}

// Line is a line of the agent.
type Line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string          `json:"sessionId"`
		Update    Update          `json:"update"`
		ToolCall  Update          `json:"toolCall"`
		Options   []Option        `json:"options"`
		Message   string          `json:"message"`
		Path      string          `json:"path"`
		Content   json.RawMessage `json:"content"`
		RequestID json.RawMessage `json:"requestId"`
		Schema    json.RawMessage `json:"requestedSchema"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
	Raw    []byte          `json:"-"`
}

// Option is what a permission can be answered with.
type Option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Error is the error of a request.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// Update is the content of a session/update, or the call of a permission. Which fields mean
// something depends on Kind.
type Update struct {
	Kind      string          `json:"sessionUpdate"`
	MessageID string          `json:"messageId"`
	Content   json.RawMessage `json:"content"` // a block, or a list of them
	CallID    string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Name      string          `json:"name"`
	Tool      string          `json:"kind"`
	Status    string          `json:"status"`
	RawInput  json.RawMessage `json:"rawInput"`
	Locations []struct {
		Path string `json:"path"`
		Line int    `json:"line"`
	} `json:"locations"`
	Commands []struct {
		Name string `json:"name"`
	} `json:"availableCommands"`
	Entries       json.RawMessage `json:"entries"`
	ModeID        string          `json:"currentModeId"`
	ConfigOptions json.RawMessage `json:"configOptions"`
	Severity      string          `json:"severity"`
	Used          int             `json:"used"`
	Size          int             `json:"size"`
}

// Text returns the text of a chunk, or the texts of a call joined.
func (u Update) Text() string {
	var block struct{ Text string }
	if json.Unmarshal(u.Content, &block) == nil {
		return block.Text
	}
	var list []struct {
		Type    string
		Content struct{ Text string }
	}
	_ = json.Unmarshal(u.Content, &list) // it is neither
	var texts []string
	for _, each := range list {
		if each.Type == "content" {
			texts = append(texts, each.Content.Text)
		}
	}
	return strings.Join(texts, "")
}

// Dial returns a client that writes to in and reads what the agent writes from out, until
// that ends.
func Dial(t testing.TB, in io.WriteCloser, out io.Reader) *Client {
	c := &Client{t: t, in: in, check: New(), handle: map[string]func(Line) (any, *Error){}}
	c.changed = sync.NewCond(&c.mu)
	go c.read(bufio.NewReaderSize(out, 1<<20))
	return c
}

func (c *Client) read(out *bufio.Reader) {
	for {
		c.mu.Lock()
		for c.paused {
			c.changed.Wait()
		}
		c.mu.Unlock()
		raw, err := out.ReadBytes('\n')
		if err != nil {
			c.mu.Lock()
			c.ended = true
			c.changed.Broadcast()
			c.mu.Unlock()
			return
		}
		c.got(raw[:len(raw)-1])
	}
}

// got takes a line of the agent.
func (c *Client) got(raw []byte) {
	if err := c.check.Check(raw); err != nil {
		c.t.Errorf("not by the schema: %v\n%.2000s", err, raw)
	}
	if len(raw) > 16<<20 {
		c.t.Errorf("a line has %d bytes", len(raw))
	}
	line := Line{Raw: raw}
	if err := json.Unmarshal(raw, &line); err != nil {
		c.t.Errorf("read %.500s: %v", raw, err)
	}
	c.mu.Lock()
	c.lines = append(c.lines, line)
	work := c.handle[line.Method]
	c.changed.Broadcast()
	c.mu.Unlock()
	if line.Method == "" || line.ID == nil {
		return
	}
	if work == nil {
		c.Answer(line, nil, &Error{-32601, "the client has no " + line.Method})
		return
	}
	go func() {
		result, err := work(line)
		if result != nil || err != nil {
			c.Answer(line, result, err)
		}
	}()
}

// Pause makes the client read nothing until it is called with false.
func (c *Client) Pause(paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = paused
	c.changed.Broadcast()
}

// Handle makes work answer the requests of a method; nil, nil answers nothing.
func (c *Client) Handle(method string, work func(Line) (any, *Error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handle[method] = work
}

// Answer answers a request of the agent.
func (c *Client) Answer(to Line, result any, failed *Error) {
	answer := map[string]any{"jsonrpc": "2.0", "id": to.ID, "result": result}
	if failed != nil {
		answer = map[string]any{"jsonrpc": "2.0", "id": to.ID, "error": failed}
	}
	c.write(answer)
}

func (c *Client) write(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		c.t.Errorf("encode %v: %v", v, err)
	}
	c.Send(string(text))
}

// Send writes a line as it is. An error of writing is none: the agent may have ended.
func (c *Client) Send(line string) {
	c.check.Sent([]byte(line))
	_, _ = io.WriteString(c.in, line+"\n")
}

// Close ends the agent's input.
func (c *Client) Close() { _ = c.in.Close() }

// Start sends a request and returns its id.
func (c *Client) Start(method string, params any) (id int) {
	c.mu.Lock()
	c.last++
	id = c.last
	c.mu.Unlock()
	c.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) {
	c.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// Await waits for the answer to a request.
func (c *Client) Await(id int) (json.RawMessage, *Error) {
	c.t.Helper()
	line := c.Wait(fmt.Sprintf("the answer to request %d", id), func(l Line) bool {
		return l.Method == "" && string(l.ID) == fmt.Sprint(id)
	})
	return line.Result, line.Error
}

// Request sends a request and waits for its answer.
func (c *Client) Request(method string, params any) (json.RawMessage, *Error) {
	c.t.Helper()
	return c.Await(c.Start(method, params))
}

// Must is Request for one that must not fail, whose result is decoded into result.
func (c *Client) Must(method string, params, result any) {
	c.t.Helper()
	raw, failed := c.Request(method, params)
	if failed != nil {
		c.t.Fatalf("%s: %v", method, failed)
	}
	if result != nil {
		if err := json.Unmarshal(raw, result); err != nil {
			c.t.Fatalf("%s: %v", method, err)
		}
	}
}

// Initialize says what the client can do.
func (c *Client) Initialize(capabilities any) {
	c.t.Helper()
	c.Must("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": capabilities}, nil)
}

// New begins a session in a directory and returns its id.
func (c *Client) New(cwd string) string {
	c.t.Helper()
	var opened struct{ SessionID string }
	c.Must("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}, &opened)
	return opened.SessionID
}

// StartPrompt sends a prompt of one text.
func (c *Client) StartPrompt(session, text string) (id int) {
	return c.Start("session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}})
}

// Prompt sends a prompt of one text and returns why it ended, or with what error.
func (c *Client) Prompt(session, text string) string {
	c.t.Helper()
	return c.Ending(c.StartPrompt(session, text))
}

// Ending returns why the prompt with an id ended, or with what error.
func (c *Client) Ending(id int) string {
	c.t.Helper()
	raw, failed := c.Await(id)
	if failed != nil {
		return failed.Error()
	}
	var ended struct{ StopReason string }
	if err := json.Unmarshal(raw, &ended); err != nil {
		c.t.Fatal(err)
	}
	return ended.StopReason
}

// Wait waits for the first line that is, and returns it.
func (c *Client) Wait(what string, is func(Line) bool) Line {
	c.t.Helper()
	late := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
		c.changed.Broadcast()
	})
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for seen := 0; ; c.changed.Wait() {
		for ; seen < len(c.lines); seen++ {
			if is(c.lines[seen]) {
				return c.lines[seen]
			}
		}
		if c.ended {
			c.t.Fatalf("the agent did not write %s", what)
		}
	}
}

// WaitUpdate waits for the first update that is.
func (c *Client) WaitUpdate(what string, is func(Update) bool) Update {
	c.t.Helper()
	return c.Wait(what, func(l Line) bool { return l.Method == "session/update" && is(l.Params.Update) }).Params.Update
}

// Lines returns the lines that the agent has written so far.
func (c *Client) Lines() []Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.lines)
}

// Forget drops the lines that came so far.
func (c *Client) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = nil
}

// Updates returns the updates of a session so far; "" means all sessions.
func (c *Client) Updates(session string) (all []Update) {
	for _, l := range c.Lines() {
		if l.Method == "session/update" && (session == "" || l.Params.SessionID == session) {
			all = append(all, l.Params.Update)
		}
	}
	return all
}

// Texts returns the texts of all chunks of a kind so far, joined.
func (c *Client) Texts(session, kind string) string {
	var b strings.Builder
	for _, u := range c.Updates(session) {
		if u.Kind == kind {
			b.WriteString(u.Text())
		}
	}
	return b.String()
}

// WaitEnd waits until the agent's output is at its end.
func (c *Client) WaitEnd() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.ended {
		c.changed.Wait()
	}
}
