package api

import (
	"cmp"
	"context"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// complete is pi.llm.complete(model, {system?, messages, tools?}, {api_key?,
// max_tokens?, signal?, thinking?}) → message, or nil and a message: one model
// call outside of the conversation. model nil is the current one.
func (m models) complete(L *lua.LState) int {
	host := m.mustHost(L, "complete")
	c := agent.Completion{By: m.hook}
	until := m.completion(L, &c)
	if v := L.Get(1); v != lua.LNil {
		model, level, err := modelArgument(L, 1, "complete", v, host)
		if err != nil {
			return pushResult(L, nil, err)
		}
		c.Model, c.Thinking = model, cmp.Or(c.Thinking, level)
	}
	var answer *message.Message
	err := m.wait(L, "complete", func(ctx context.Context) (err error) {
		ctx, cancel := until.within(ctx)
		defer cancel()
		answer, err = host.Complete(ctx, c)
		return err
	})
	if err != nil {
		return pushResult(L, nil, err)
	}
	return pushResult(L, m.records.Message(answer), nil)
}

// completion reads the second and third argument of complete into c: the request and its
// options. It returns the signal that ends the call early, which may be nil, and raises for
// misuse.
func (m models) completion(L *lua.LState, c *agent.Completion) *signal {
	var messages, tools *lua.LTable
	var until lua.LValue
	luavm.Unpack(L, 2, "complete", luavm.Opt("system", &c.System), luavm.Opt("messages", &messages).Required(), luavm.Opt("tools", &tools))
	luavm.Unpack(L, 3, "complete", luavm.Opt("api_key", &c.APIKey), luavm.Opt("max_tokens", &c.MaxTokens),
		luavm.Opt("signal", &until), luavm.Opt("thinking", &c.Thinking))
	items, err := m.records.ItemsFrom(L, messages, nil)
	switch {
	case err != nil:
		luavm.Raise(L, "complete: %v", err)
	case len(items) == 0:
		luavm.Raise(L, "complete: messages is empty")
	case c.Thinking != "" && !llm.ValidThinking(c.Thinking):
		luavm.Raise(L, "complete: unknown thinking level %q%s", c.Thinking, suggest.Hint(c.Thinking, llm.ThinkingLevels()))
	}
	c.Messages = items
	if tools != nil {
		c.Tools = m.toolSpecs(L, tools)
	}
	return signalOption(L, "complete", until)
}

// toolSpecs reads a list of {name, description, parameters?}.
func (m models) toolSpecs(L *lua.LState, list *lua.LTable) []llm.ToolSpec {
	luavm.Materialise(L, list)
	n, err := luavm.ListLen(list)
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
