package api

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// scriptModel is a model that a script is.
type scriptModel struct {
	home   *providers
	name   string
	stream *lua.LFunction
}

// Stream runs the script in a job of its own and yields what it emits. An error of the
// script comes last. It does not return before the script has ended.
func (p *scriptModel) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		deltas := make(chan llm.Delta, 64)
		ended := make(chan error, 1)
		go func() { ended <- p.run(ctx, r, deltas) }()
		if err, stopped := relay(deltas, ended, yield); stopped {
			cancel()
			<-ended
		} else if err != nil {
			yield(llm.Delta{}, &llm.ProviderError{Provider: p.name, Message: err.Error(), Err: err})
		}
	}
}

// relay yields deltas until the script has ended, and returns its error; or until the
// consumer wants no more while the script still runs, which is stopped.
func relay(deltas <-chan llm.Delta, ended <-chan error, yield func(llm.Delta, error) bool) (err error, stopped bool) {
	for {
		select {
		case d := <-deltas:
			if !yield(d, nil) {
				return nil, true
			}
		case err := <-ended:
			for len(deltas) > 0 {
				if !yield(<-deltas, nil) {
					return nil, false
				}
			}
			return err, false
		}
	}
}

// run runs the script, or if its VM was replaced before it began, the one of the same name
// in the newer version of the hook. The hook is told of an error, the person is not.
func (p *scriptModel) run(ctx context.Context, r *llm.Request, deltas chan<- llm.Delta) error {
	p, err := latest(ctx, p, func(p *scriptModel) error { return p.call(ctx, r, deltas) })
	if err != nil {
		p.owner().Failed(ctx, "stream "+p.name, nil, err, NobodyElse)
	}
	return err
}

func (p *scriptModel) owner() Owner { return p.home.jobs.owner }

func (p *scriptModel) successor(now *Registered) (*scriptModel, bool) {
	next, _ := now.Providers.Find(p.name)
	return next.script, next.script != nil
}

// call runs the script once and sends what it emits to deltas while it runs. A script that
// ends without a stop gets one.
func (p *scriptModel) call(ctx context.Context, r *llm.Request, deltas chan<- llm.Delta) error {
	e := &emitter{bridge: p.home.bridge, deltas: deltas, gone: ctx.Done(), price: r.Model.Cost}
	return p.home.jobs.run(ctx, "stream "+p.name, func(L *lua.LState) error {
		defer func() { e.isOver = true }()
		callLua(L, p.stream, p.home.requestTable(L, r), p.home.vm.GFunc("emit", e.emit))
		if !e.stopped {
			e.send(L, llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: e.defaultStop()}})
		}
		return nil
	})
}

// requestTable is the first argument of a script.
func (p *providers) requestTable(L *lua.LState, r *llm.Request) *lua.LTable {
	t := luavm.NewRecord(L, 6)
	luavm.Set(t, "model", p.records.Model(r.Model))
	luavm.Set(t, "system", lua.LString(r.System))
	luavm.Set(t, "messages", p.records.Messages(L, record.ItemsOf(r.Messages)))
	luavm.Set(t, "thinking_level", lua.LString(r.Thinking))
	luavm.SetText(t, "session_id", r.SessionID)
	luavm.Set(t, "tools", luavm.NewList(L, len(r.Tools), func(i int) lua.LValue {
		s := r.Tools[i]
		tool := luavm.NewRecord(L, 3)
		luavm.Set(tool, "name", lua.LString(s.Name))
		luavm.Set(tool, "description", lua.LString(s.Description))
		luavm.Set(tool, "parameters", p.records.JSON(s.Parameters))
		return tool
	}))
	return t
}

// emitter turns emit{…} into deltas. Text and thinking that follow each other
// are one block; each call is one of its own.
type emitter struct {
	*bridge
	deltas chan<- llm.Delta
	gone   <-chan struct{} // nobody reads any more
	price  *llm.Price      // of the model

	// Only while the VM is held.
	index   int
	last    llm.DeltaKind
	calls   int
	stopped bool // the script has emitted a stop
	isOver  bool // the script has ended
}

// emit is what the script calls: {type = "text"|"thinking"|"tool_call"|"usage"|
// "stop", …}.
func (e *emitter) emit(L *lua.LState) int {
	if e.isOver {
		luavm.Raise(L, "emit: the answer has ended")
	}
	var kind, text, signature, id, name, reason, failure string
	var arguments lua.LValue
	var input, output, cacheRead, cacheWrite int
	var retryable bool
	luavm.Unpack(L, 1, "emit", luavm.Opt("type", &kind).Required(), luavm.Opt("text", &text), luavm.Opt("thinking_signature", &signature), luavm.Opt("id", &id),
		luavm.Opt("name", &name), luavm.Opt("arguments", &arguments), luavm.Opt("reason", &reason), luavm.Opt("message", &failure),
		luavm.Opt("input", &input), luavm.Opt("output", &output), luavm.Opt("cache_read", &cacheRead), luavm.Opt("cache_write", &cacheWrite), luavm.Opt("retryable", &retryable))
	switch kind {
	case "text":
		e.send(L, e.block(llm.DeltaText, text))
	case "thinking":
		d := e.block(llm.DeltaThinking, text)
		e.send(L, d)
		if signature != "" { // it ends the block
			e.last = llm.DeltaSignature
			e.send(L, llm.Delta{Kind: llm.DeltaSignature, Index: d.Index, Text: signature})
		}
	case "tool_call":
		e.send(L, e.call(L, id, name, arguments))
	case "usage":
		e.send(L, llm.Delta{Kind: llm.DeltaUsage, Usage: e.price.Of(message.Usage{Input: input, Output: output, CacheRead: cacheRead,
			CacheWrite: cacheWrite})})
	case "stop":
		e.send(L, e.stop(L, llm.Stop{Reason: message.StopReason(reason), Raw: reason, Message: failure, Retryable: retryable}))
	default:
		luavm.Raise(L, "emit: unknown type %q; types are text, thinking, tool_call, usage and stop", kind)
	}
	return 0
}

// block makes a delta of text or thinking.
func (e *emitter) block(kind llm.DeltaKind, text string) llm.Delta {
	if kind != e.last {
		e.index++
		e.last = kind
	}
	return llm.Delta{Kind: kind, Index: e.index, Text: text}
}

// call makes a delta of a whole tool call.
func (e *emitter) call(L *lua.LState, id, name string, arguments lua.LValue) llm.Delta {
	if name == "" {
		luavm.Raise(L, "emit: a tool_call needs a name")
	}
	e.index++
	e.calls++
	e.last = llm.DeltaToolCall
	if id == "" {
		id = fmt.Sprintf("call_%d", e.calls)
	}
	raw := json.RawMessage(`{}`)
	if arguments != nil && arguments != lua.LNil {
		var err error
		raw, err = e.records.InputFrom(name, arguments)
		must(L, "emit", err)
	}
	return llm.Delta{Kind: llm.DeltaToolCall, Index: e.index, ID: id, Name: name, Text: string(raw)}
}

// stop returns the delta that ends an answer, and raises for a reason that is none. A stop
// without a reason gets that of defaultStop.
func (e *emitter) stop(L *lua.LState, stop llm.Stop) llm.Delta {
	switch stop.Reason {
	case message.StopEnd, message.StopLength, message.StopToolUse, message.StopError:
	case "":
		stop.Reason = e.defaultStop()
	default:
		luavm.Raise(L, "emit: unknown stop reason %q; reasons are stop, length, toolUse and error", stop.Raw)
	}
	if stop.Retryable && stop.Reason != message.StopError {
		luavm.Raise(L, "emit: only a stop with the reason error is retryable")
	}
	e.stopped = true
	return llm.Delta{Kind: llm.DeltaStop, Stop: stop}
}

// defaultStop is the reason of an answer whose script gives none.
func (e *emitter) defaultStop() message.StopReason {
	if e.calls > 0 {
		return message.StopToolUse
	}
	return message.StopEnd
}

// send hands a delta to relay. While that is behind, other jobs may use the VM. A delta that
// nobody reads any more is dropped.
func (e *emitter) send(L *lua.LState, d llm.Delta) {
	select {
	case e.deltas <- d:
		return
	default:
	}
	_ = e.wait(L, "emit", func(ctx context.Context) error {
		select {
		case e.deltas <- d:
		case <-e.gone:
		case <-ctx.Done():
		}
		return nil
	})
}
