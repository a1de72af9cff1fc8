package api

import (
	"cmp"
	"context"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/child"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// asking asks models outside of the conversation.
type asking struct {
	models
	jobs     *jobs
	function string // complete or stream, for messages
}

// complete is pi.llm.complete(model, {system?, messages, tools?}, {api_key?,
// max_tokens?, signal?, thinking?}) → message, or nil and a message: one model
// call. model nil is the current one. With the option on_delta it is pi.llm.stream.
func (a asking) complete(L *lua.LState) int {
	host := a.mustHost(L, a.function)
	c := agent.Completion{By: a.hook}
	until, onDelta := a.completion(L, &c)
	if v := L.Get(1); v != lua.LNil {
		model, level, err := modelArgument(L, 1, a.function, v, host)
		if err != nil {
			return pushResult(L, nil, err)
		}
		c.Model, c.Thinking = model, cmp.Or(c.Thinking, level)
	}
	var answer *message.Message
	err := a.wait(L, a.function, func(ctx context.Context) (err error) {
		ctx, cancel := until.within(ctx)
		defer cancel()
		if onDelta != nil {
			c.Update = a.passDeltas(ctx, onDelta)
		}
		answer, err = host.Complete(ctx, c)
		return err
	})
	if err != nil {
		mustNested(L, a.function, err)
		return pushResult(L, nil, err)
	}
	return pushResult(L, a.records.Message(answer), nil)
}

// completion reads the second and third argument of complete into c: the request and its
// options. It returns the signal that ends the call early and on_delta, which both may be
// nil, and raises for misuse.
func (a asking) completion(L *lua.LState, c *agent.Completion) (*signal, *lua.LFunction) {
	var messages, tools *lua.LTable
	var until lua.LValue
	var onDelta *lua.LFunction
	options := []luavm.Option{luavm.Opt("api_key", &c.APIKey), luavm.Opt("max_tokens", &c.MaxTokens),
		luavm.Opt("signal", &until), luavm.Opt("thinking", &c.Thinking)}
	if a.function == "stream" {
		options = append(options, luavm.Opt("on_delta", &onDelta).Required())
	}
	luavm.Unpack(L, 2, a.function, luavm.Opt("system", &c.System), luavm.Opt("messages", &messages).Required(), luavm.Opt("tools", &tools))
	luavm.Unpack(L, 3, a.function, options...)
	items, err := a.records.ItemsFrom(L, messages, nil)
	switch {
	case err != nil:
		luavm.Raise(L, "%s: %v", a.function, err)
	case len(items) == 0:
		luavm.Raise(L, "%s: messages is empty", a.function)
	case c.Thinking != "" && !llm.ValidThinking(c.Thinking):
		luavm.Raise(L, "%s: unknown thinking level %q%s", a.function, c.Thinking, suggest.Hint(c.Thinking, llm.ThinkingLevels()))
	}
	c.Messages = items
	if tools != nil {
		c.Tools = a.toolSpecs(L, tools)
	}
	return signalOption(L, a.function, until), onDelta
}

// passDeltas gives the pieces of an answer to on_delta({type, index, text}), in jobs inside of
// the one that waits for the answer.
func (a asking) passDeltas(ctx context.Context, fn *lua.LFunction) func(llm.Delta, int) error {
	return func(d llm.Delta, position int) error {
		answer, err := a.jobs.nested(ctx, "on_delta", fn, func(L *lua.LState) []lua.LValue {
			t := luavm.NewRecord(L, 3)
			luavm.Set(t, "type", lua.LString(record.DeltaType(d.Kind)))
			luavm.Set(t, "index", lua.LNumber(position))
			luavm.Set(t, "text", lua.LString(d.Text))
			return []lua.LValue{t}
		})
		if err == nil && answer == child.Enough {
			err = agent.ErrEnough
		}
		return err
	}
}

// toolSpecs reads a list of {name, description, parameters?}.
func (m models) toolSpecs(L *lua.LState, list *lua.LTable) []llm.ToolSpec {
	n, err := luavm.ListLen(L, list)
	must(L, "complete: tools", err)
	var specs []llm.ToolSpec
	var size luavm.Size
	for i := 1; i <= n; i++ {
		t, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			luavm.Raise(L, "complete: tools[%d] must be a table, not a %s", i, list.RawGetInt(i).Type())
		}
		var spec llm.ToolSpec
		var parameters *lua.LTable
		luavm.UnpackTable(L, t, "complete: tools", luavm.Opt("name", &spec.Name).Required(),
			luavm.Opt("description", &spec.Description).Required(), luavm.Opt("parameters", &parameters))
		spec.Parameters = m.schema(L, "complete", parameters)
		must(L, "complete: tools", size.Add(len(spec.Name)+len(spec.Description)+len(spec.Parameters)))
		specs = append(specs, spec)
	}
	return specs
}
