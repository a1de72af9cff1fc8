package hooktest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"pi/agent/llm"
	"pi/session/message"
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

// take notes a request and returns its step; ok is false if there is none.
func (s *script) take(r *sentRequest) (next step, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.taken == len(s.steps) {
		return step{}, false
	}
	next = s.steps[s.taken]
	s.taken++
	return next, true
}

// Stream answers r with the next step.
func (s *script) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		var next step
		var failed error
		sending := wire{func(ctx context.Context, sent *sentRequest) (status int) {
			if next, failed = s.next(ctx, sent); failed != nil {
				return 0
			}
			return next.httpStatus()
		}}
		if err := sending.send(ctx, r); err != nil {
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
	next, ok := s.take(r)
	if !ok {
		err := s.exhausted(r.Request)
		s.lacking(err.Error())
		return step{}, err
	}
	if next.function != nil {
		return s.answer(ctx, next, r)
	}
	return next, nil
}

// exhausted describes a request that has no step.
func (s *script) exhausted(r *llm.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := "nothing"
	if n := len(r.Messages); n > 0 {
		last = string(r.Messages[n-1].Role) + ": " + firstLine(r.Messages[n-1].Text())
	}
	return fmt.Errorf("request %d of %s has no step: the script of t.model has %d; the request ends with %s", len(s.requests), r.Model.Ref(), len(s.steps), last)
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
