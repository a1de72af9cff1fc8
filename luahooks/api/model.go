package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"

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
// person chose it and sees whether it works.
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
