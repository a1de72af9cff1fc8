package slowmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// Turn is one request and the answer to it, which is sent piece by piece. What is sent
// after the program gave up, or after the end, is lost. The methods may be called by one
// goroutine at a time.
type Turn struct {
	Request Request

	abandoned chan struct{}
	done      chan struct{}

	mu    sync.Mutex
	w     http.ResponseWriter
	ended bool
	calls int
	used  [2]int // tokens: of the prompt, of the answer
	cut   bool
}

func newTurn(w http.ResponseWriter, asked Request) *Turn {
	return &Turn{Request: asked, w: w, abandoned: make(chan struct{}), done: make(chan struct{}), used: [2]int{len(asked.Body) / 4, 0}}
}

// serve waits for the end of the answer, or until the program gives up.
func (t *Turn) serve(ctx context.Context) {
	select {
	case <-t.done:
	case <-ctx.Done():
		t.mu.Lock()
		t.ended = true
		t.mu.Unlock()
		close(t.abandoned)
	}
	if t.cut {
		panic(http.ErrAbortHandler)
	}
}

// Abandoned is closed when the program has given up before the end.
func (t *Turn) Abandoned() <-chan struct{} { return t.abandoned }

// Use sets what the answer counts: tokens of the prompt, and of the answer.
func (t *Turn) Use(prompt, answer int) { t.used = [2]int{prompt, answer} }

// write sends a part of the answer at once.
func (t *Turn) write(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(t.w, text)
	t.w.(http.Flusher).Flush()
}

func (t *Turn) delta(fields string) {
	t.write(`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}` + "\n\n")
}

// Start sends the head of the answer and nothing of what it says.
func (t *Turn) Start() { t.delta(`"role":"assistant"`) }

// Ping sends a sign of life.
func (t *Turn) Ping() { t.write(": ping\n\n") }

// Text sends a piece of text.
func (t *Turn) Text(text string) {
	t.used[1]++
	t.delta(`"content":` + quoted(text))
}

// Think sends a piece of thinking.
func (t *Turn) Think(text string) {
	t.used[1]++
	t.delta(`"reasoning_content":` + quoted(text))
}

// Begin begins a call of a tool.
func (t *Turn) Begin(id, tool string) {
	t.delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]`, t.calls, quoted(id), quoted(tool)))
	t.calls++
}

// Arguments sends a piece of the arguments of the call that was begun last.
func (t *Turn) Arguments(text string) {
	t.used[1]++
	t.delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, t.calls-1, quoted(text)))
}

// Call sends a whole call. The arguments are the fields of an object, names and values
// in turn.
func (t *Turn) Call(id, tool string, arguments ...any) {
	fields := make([]string, 0, len(arguments)/2)
	for i := 0; i+1 < len(arguments); i += 2 {
		fields = append(fields, quoted(arguments[i])+":"+quoted(arguments[i+1]))
	}
	t.Begin(id, tool)
	t.Arguments("{" + strings.Join(fields, ",") + "}")
}

// End ends the answer, in order.
func (t *Turn) End() {
	reason := "stop"
	if t.calls > 0 {
		reason = "tool_calls"
	}
	t.write(`data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n" +
		fmt.Sprintf(`data: {"id":"c","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, t.used[0], t.used[1], t.used[0]+t.used[1]) +
		"\n\ndata: [DONE]\n\n")
	t.close()
}

// Fail refuses the request with a status and a reason, instead of anything else.
func (t *Turn) Fail(status int, reason string) {
	t.mu.Lock()
	if !t.ended {
		t.w.Header().Set("Content-Type", "application/json")
		t.w.WriteHeader(status)
		fmt.Fprintf(t.w, `{"error":{"message":%s}}`, quoted(reason))
	}
	t.mu.Unlock()
	t.close()
}

// Cut breaks the connection in the middle of the answer.
func (t *Turn) Cut() {
	t.cut = true
	t.close()
}

func (t *Turn) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.ended = true
		close(t.done)
	}
}

// Answer sends a text word by word and ends the answer.
func (t *Turn) Answer(text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		t.Text(word)
	}
	t.End()
}

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // whoever plays gave a value that is no JSON
	}
	return string(b)
}
