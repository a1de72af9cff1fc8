package hooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"

	"pi/agent/llm"
	"pi/agent/provider/openai"
	"pi/agent/provider/wire"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// script is the model of a case: it answers each request with the next step. It answers for
// every model that a hook asks.
type script struct {
	// answer makes the answer of a step that is a function. It is called while the case
	// waits.
	answer func(ctx context.Context, s step, r *sentRequest) (step, error)
	// lacking is told of a request for which there is no step.
	lacking func(text string)

	mu       sync.Mutex // guards what follows
	steps    []step
	taken    int
	requests []*sentRequest
	calls    int // ids given to tool calls
}

// add appends steps.
func (s *script) add(steps ...step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// seen returns the requests so far.
func (s *script) seen() []*sentRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[:len(s.requests):len(s.requests)]
}

// Stream answers r with the next step.
func (s *script) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		var next step
		var failed error
		err := send(ctx, r, func(ctx context.Context, sent *sentRequest) (status int) {
			next, failed = s.next(ctx, sent)
			switch {
			case failed != nil: // there is no answer
				return 0
			case next.err == "":
				return http.StatusOK
			}
			return next.status // 0 where the request fails without an answer
		})
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if failed != nil {
			yield(llm.Delta{}, &llm.ProviderError{Provider: "test", Message: failed.Error(), Err: failed})
			return
		}
		s.play(next, r, yield)
	}
}

// next is the step that answers a request. The error says that there is none, or why it
// cannot be made.
func (s *script) next(ctx context.Context, r *sentRequest) (step, error) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	number, steps := len(s.requests), s.steps[s.taken:]
	s.taken = min(s.taken+1, len(s.steps))
	has := len(s.steps)
	s.mu.Unlock()
	if len(steps) == 0 {
		last := "nothing"
		if n := len(r.Messages); n > 0 {
			last = string(r.Messages[n-1].Role) + ": " + firstLine(r.Messages[n-1].Text())
		}
		err := fmt.Errorf("request %d of %s has no step: the script of t.model has %d; the request ends with %s", number, r.Model.Ref(), has, last)
		s.lacking(err.Error())
		return step{}, err
	}
	if steps[0].function != nil {
		return s.answer(ctx, steps[0], r)
	}
	return steps[0], nil
}

// firstLine is the beginning of a text, for a message.
func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(line); len(r) > 80 {
		line, more = string(r[:80]), true
	}
	if more {
		line += "…"
	}
	return line
}

// play streams a step: thinking, text, calls, in pieces as a model sends them.
func (s *script) play(p step, r *llm.Request, yield func(llm.Delta, error) bool) {
	index, open := 0, true
	send := func(d llm.Delta) {
		if open {
			d.Index = index
			open = yield(d, nil)
		}
	}
	for _, part := range []struct {
		kind llm.DeltaKind
		text string
	}{{llm.DeltaThinking, p.thinking}, {llm.DeltaText, p.text}} {
		for _, piece := range pieces(part.text) {
			send(llm.Delta{Kind: part.kind, Text: piece})
		}
		index++
	}
	for _, c := range p.calls {
		send(llm.Delta{Kind: llm.DeltaToolCall, ID: s.callID(c.id), Name: c.tool, Text: string(c.input)})
		index++
	}
	if !open {
		return
	}
	if p.err != "" {
		yield(llm.Delta{}, p.failure())
		return
	}
	stop := message.StopEnd
	if len(p.calls) > 0 {
		stop = message.StopToolUse
	}
	if p.stop != "" {
		stop = message.StopReason(p.stop)
	}
	send(llm.Delta{Kind: llm.DeltaUsage, Usage: p.usage.orEstimate(r, p)})
	send(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: stop}})
}

// callID is the id of a tool call: its own, or the next of the case.
func (s *script) callID(own string) string {
	if own != "" {
		return own
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return fmt.Sprintf("call_%d", s.calls)
}

// pieces cuts a text behind its blanks, as it would be streamed.
func pieces(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// step is one answer of the scripted model.
type step struct {
	text, thinking string
	calls          []stepCall
	err            string // the request fails with this, behind what is said before
	status         int    // of HTTP, with err
	overflow       bool   // the error says that the context is too large
	stop           string // "": as the answer has calls or not
	usage          stepUsage
	function       *lua.LFunction // makes the step of the request; the rest is empty then
}

// stepCall is a tool call of a step.
type stepCall struct {
	id, tool string
	input    json.RawMessage
}

// stepUsage is what a step says of its tokens; nil: they are estimated.
type stepUsage struct{ input, output *int }

// orEstimate returns the usage of an answer to r, by the length of the texts where the step
// does not say.
func (u stepUsage) orEstimate(r *llm.Request, s step) *message.Usage {
	input, output := len(r.System)/4, (len(s.text)+len(s.thinking))/4+1
	for _, m := range r.Messages {
		input += len(m.Text())/4 + 1
	}
	if u.input != nil {
		input = *u.input
	}
	if u.output != nil {
		output = *u.output
	}
	return r.Model.Cost.Of(message.Usage{Input: input, Output: output})
}

// failure is the error of a step that fails. Statuses that may pass are tried again, as they
// are of a server.
func (s step) failure() error {
	e := &llm.ProviderError{Provider: "test", Message: s.err, Status: s.status, Err: errors.New(s.err)}
	e.Overflow = s.overflow
	e.Retryable = s.status == 408 || s.status == 429 || s.status >= 500
	return e
}

// readStep reads a step of t.model, or what a function of one returned.
func readStep(L *lua.LState, records *record.Converter, v lua.LValue, function string) step {
	switch v := v.(type) {
	case lua.LString:
		return step{text: string(v)}
	case *lua.LFunction:
		return step{function: v}
	case *lua.LTable:
		return readStepTable(L, records, v, function)
	}
	luavm.Raise(L, "%s: a step is a text, a table or a function, not a %s", function, v.Type())
	return step{}
}

func readStepTable(L *lua.LState, records *record.Converter, t *lua.LTable, function string) (s step) {
	var tool, id string
	var input lua.LValue = lua.LNil
	var calls *lua.LTable
	luavm.UnpackTable(L, t, function, luavm.Opt("text", &s.text), luavm.Opt("thinking", &s.thinking), luavm.Opt("tool", &tool),
		luavm.Opt("input", &input), luavm.Opt("id", &id), luavm.Opt("calls", &calls), luavm.Opt("error", &s.err), luavm.Opt("status", &s.status),
		luavm.Opt("overflow", &s.overflow), luavm.Opt("stop", &s.stop), luavm.Opt("input_tokens", &s.usage.input), luavm.Opt("output_tokens", &s.usage.output))
	if tool != "" {
		s.calls = append(s.calls, stepCall{id, tool, arguments(L, records, tool, input)})
	} else if input != lua.LNil {
		luavm.Raise(L, "%s: a step with input needs a tool", function)
	}
	if s.status != 0 && s.err == "" {
		luavm.Raise(L, "%s: a step with status needs an error", function)
	}
	if calls == nil {
		return s
	}
	luavm.Materialise(L, calls)
	for i := 1; i <= calls.Len(); i++ {
		one, ok := calls.RawGetInt(i).(*lua.LTable)
		if !ok {
			luavm.Raise(L, "%s: call %d must be a table such as { tool = \"bash\", input = { … } }, not a %s", function, i, calls.RawGetInt(i).Type())
		}
		var tool, id string
		var input lua.LValue = lua.LNil
		luavm.UnpackTable(L, one, function, luavm.Opt("tool", &tool).Required(), luavm.Opt("input", &input), luavm.Opt("id", &id))
		s.calls = append(s.calls, stepCall{id, tool, arguments(L, records, tool, input)})
	}
	return s
}

// arguments are the arguments of a tool call as a model sends them: a table, with the names
// that hooks see, or a text that need not be JSON.
func arguments(L *lua.LState, records *record.Converter, tool string, v lua.LValue) json.RawMessage {
	switch v := v.(type) {
	case lua.LString:
		return json.RawMessage(v)
	case *lua.LNilType:
		return json.RawMessage("{}")
	case *lua.LTable:
		luavm.Materialise(L, v)
		if first, _ := v.Next(lua.LNil); first == lua.LNil {
			return json.RawMessage("{}")
		}
	default:
		luavm.Raise(L, "the input of %s must be a table, not a %s", tool, v.Type())
	}
	raw, err := records.InputFrom(tool, v)
	if err != nil {
		luavm.Raise(L, "the input of %s: %v", tool, err)
	}
	return raw
}

// sentRequest is a request of a case: as the program made it, and as it went out.
type sentRequest struct {
	*llm.Request
	payload json.RawMessage // the body, as the handlers of before_provider_request left it
	header  http.Header
	url     string // where it was sent
}

// errNoAnswer stands for an answer that does not come.
var errNoAnswer = errors.New("no answer")

// send sends a request of a case to receive instead of a network. It is written in the form of its
// API, one for the scripted model as chat completions, so that handlers see body and headers
// and can change them. receive returns the status of the answer; 0: there is no answer. It is called in the
// goroutine of send. The error says why the request was not sent, such as that a handler left no payload.
func send(ctx context.Context, r *llm.Request, receive func(ctx context.Context, r *sentRequest) (status int)) error {
	out, model, sent := *r, *r.Model, false
	out.Model = &model
	client := &http.Client{Transport: roundTrip(func(h *http.Request) (*http.Response, error) {
		sent = true
		body, err := io.ReadAll(h.Body)
		if err != nil {
			return nil, err
		}
		status := receive(ctx, &sentRequest{r, body, h.Header, h.URL.String()})
		if status == 0 {
			return nil, errNoAnswer
		}
		header := http.Header{"Content-Type": {"text/event-stream"}}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: h}, nil
	})}
	for _, err := range apiOf(&model, client).Stream(ctx, &out) {
		if err != nil && !sent {
			return err
		}
	}
	return nil
}

// apiOf is what writes requests for a model.
func apiOf(m *llm.Model, client *http.Client) llm.Provider {
	api, ok := wire.Find(m.API)
	if !ok {
		m.BaseURL = "http://model.test/v1"
		return openai.New(client)
	}
	return api.New(client)
}

// roundTrip is a transport that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip is that of [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
