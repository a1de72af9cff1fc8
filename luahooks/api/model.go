package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/child"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// models are the functions that find and ask models.
type models struct{ *bridge }

func (m models) part() part {
	return part{"find_model": m.find, "available_models": m.available, "models": m.all, "resolve_api_key": m.resolveKey, "set_model": m.set, "set_thinking_level": m.setThinking}
}

// find is ctx.find_model(provider, id) → model, or nil and a message.
func (m models) find(L *lua.LState, provider, id string) (lua.LValue, error) {
	model, err := exactModel(m.mustHost(L, "find_model"), provider, id)
	return m.records.Model(model), err
}

// exactModel returns the model of a provider and id, or an error that says why it cannot be
// used. The session's own model is always found, even if its provider does not list it: the
// user chose it and sees whether it works.
func exactModel(host Host, provider, id string) (*llm.Model, error) {
	m, now := host.Models().Find(provider, id), host.Model()
	if m != nil && now != nil && now.Ref() == m.Ref() {
		return m, nil
	}
	if why := host.Models().NotThere(provider, id); why != "" || m == nil {
		return nil, fmt.Errorf("no model %s/%s: %s", provider, id, cmp.Or(why, "it cannot be opened"))
	}
	return m, nil
}

// available is ctx.available_models(): those that can be asked.
func (m models) available(L *lua.LState) *lua.LTable {
	return m.list(L, m.mustHost(L, "available_models").Models().Available())
}

// all is ctx.models(): those that are registered, with or without a key.
func (m models) all(L *lua.LState) *lua.LTable {
	return m.list(L, m.mustHost(L, "models").Models().All())
}

func (m models) list(L *lua.LState, all []*llm.Model) *lua.LTable {
	list := luavm.NewList(L, len(all), func(i int) lua.LValue { return m.records.Model(all[i]) })
	luavm.MarkList(list)
	return list
}

// set is ctx.set_model(provider, id), ctx.set_model(ref) or ctx.set_model(model) → true, or
// nil and a message.
func (m models) set(L *lua.LState, which lua.LValue, id *string) error {
	host := m.mustHost(L, "set_model")
	var model *llm.Model
	var level string
	var err error
	if id == nil {
		model, level, err = modelArgument(L, 1, "set_model", which, host)
	} else {
		model, err = exactModel(host, L.CheckString(1), *id)
	}
	if err != nil {
		return err
	}
	if missing := host.Models().KeyMissing(model.Provider); missing != "" {
		return errors.New(missing)
	}
	return m.choose(L, "set_model", func(ctx context.Context) error { return host.Select(ctx, model, level, "set") })
}

// maxChoices is how deep handlers may answer the event of a choice with another choice.
const maxChoices = 8

type choiceDepthKey struct{}

// choose waits until a model or a level is chosen, and the hooks were told of it.
func (m models) choose(L *lua.LState, function string, choose func(ctx context.Context) error) error {
	depth, _ := m.vm.Context().Value(choiceDepthKey{}).(int)
	if depth >= maxChoices {
		luavm.Raise(L, "%s: this is the %dth choice in a row that hooks answer with another one; they would never end", function, maxChoices+1)
	}
	return m.wait(L, function, func(ctx context.Context) error {
		return choose(context.WithValue(ctx, choiceDepthKey{}, depth+1))
	})
}

// setThinking is ctx.set_thinking_level(level) → true, or nil and a message.
func (m models) setThinking(L *lua.LState, level string) error {
	host := m.mustHost(L, "set_thinking_level")
	return m.choose(L, "set_thinking_level", func(ctx context.Context) error { return host.SetThinking(ctx, level) })
}

// resolveKey is ctx.resolve_api_key(model) → key, or nil and a message, also if the model
// needs none. A command that prints the key may have to run for it.
func (m models) resolveKey(L *lua.LState) int {
	host := m.mustHost(L, "resolve_api_key")
	model, _, err := modelArgument(L, 1, "resolve_api_key", L.Get(1), host)
	if err != nil {
		return pushResult(L, nil, err)
	}
	var key string
	err = m.wait(L, "resolve_api_key", func(ctx context.Context) (err error) {
		key, err = host.Models().Key(ctx, model)
		return err
	})
	if err == nil && key == "" {
		err = fmt.Errorf("there is no key for %s", model.Ref())
	}
	return pushResult(L, lua.LString(key), err)
}

// modelArgument finds the model that an argument means: a value such as
// ctx.model, a table with provider and id, or "provider/id", which may have a
// level. Anything else is misuse.
func modelArgument(L *lua.LState, n int, function string, v lua.LValue, host Host) (m *llm.Model, level string, err error) {
	switch v := v.(type) {
	case *lua.LUserData:
		if info, ok := v.Value.(record.ModelInfo); ok {
			m, err = exactModel(host, info.Provider, info.ID)
			return m, "", err
		}
	case *lua.LTable:
		luavm.Materialise(L, v)
		provider, isProvider := v.RawGetString("provider").(lua.LString)
		id, isID := v.RawGetString("id").(lua.LString)
		if isProvider && isID {
			m, err = exactModel(host, string(provider), string(id))
			return m, "", err
		}
	case lua.LString:
		if m, level, err = host.Models().Match(string(v)); err != nil {
			return nil, "", err
		}
		m, err = exactModel(host, m.Provider, m.ID)
		return m, level, err
	}
	luavm.RaiseArg(L, n, function, `model expected (such as ctx.model or "provider/id"), got %s`, v.Type())
	return nil, "", nil
}

// asking asks models outside of the conversation.
type asking struct {
	models
	function string // complete or stream, for messages
}

// complete is pi.llm.complete(model, {system?, messages, tools?}, {api_key?,
// max_tokens?, signal?, thinking?, timeout?}) → message, or nil and a message: one model
// call. model nil is the current one. With the option on_delta it is pi.llm.stream.
func (a asking) complete(L *lua.LState) int {
	host := a.mustHost(L, a.function)
	c := agent.Completion{By: a.Hook.Name}
	o := a.completion(L, &c)
	if v := L.Get(1); v != lua.LNil {
		model, level, err := modelArgument(L, 1, a.function, v, host)
		if err != nil {
			return pushResult(L, nil, err)
		}
		c.Model, c.Thinking = model, cmp.Or(c.Thinking, level)
	}
	var answer *message.Message
	err := a.wait(L, a.function, func(ctx context.Context) (err error) {
		ctx, cancel := o.until.within(ctx)
		defer cancel()
		ctx, isLate, end := a.within(ctx, o.timeout)
		defer end()
		if o.onDelta != nil {
			c.Update = a.passDeltas(ctx, o.onDelta)
		}
		answer, err = host.Complete(ctx, c)
		if isLate() {
			return errTimeout
		}
		return err
	})
	if err != nil {
		mustNested(L, a.function, err)
		return pushResult(L, nil, err)
	}
	return pushResult(L, a.records.Message(answer), nil)
}

// completionOptions are those of a call that are not the model's.
type completionOptions struct {
	until   *signal        // ends it early; may be nil
	timeout time.Duration  // negative: none
	onDelta *lua.LFunction // of stream
}

// completion reads the second and third argument of complete into c: the request and its
// options. It raises for misuse.
func (a asking) completion(L *lua.LState, c *agent.Completion) completionOptions {
	var messages, tools *lua.LTable
	var until lua.LValue
	var timeout *float64
	var o completionOptions
	options := []luavm.Option{luavm.Opt("api_key", &c.APIKey), luavm.Opt("max_tokens", &c.MaxTokens),
		luavm.Opt("signal", &until), luavm.Opt("thinking", &c.Thinking), luavm.Opt("timeout", &timeout)}
	if a.function == "stream" {
		options = append(options, luavm.Opt("on_delta", &o.onDelta).Required())
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
	o.until, o.timeout = signalOption(L, a.function, until), timeoutOption(L, a.function, timeout)
	return o
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
