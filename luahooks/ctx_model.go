package luahooks

import (
	"cmp"
	"context"
	"fmt"

	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// findModel is ctx.find_model(provider, id) → model, or nil and a message.
func (in *instance) findModel(L *lua.LState, provider, id string) (lua.LValue, error) {
	m, err := find(in.mustHost(L, "find_model"), provider, id)
	return in.records.Model(m), err
}

// find is the model of an exact provider and id, as its provider lists it or a
// person named it.
func find(host Host, provider, id string) (*llm.Model, error) {
	m := host.Models().Find(provider, id)
	if m != nil && isCurrent(host, m) {
		return m, nil
	}
	if why := host.Models().NotThere(provider, id); why != "" || m == nil {
		return nil, fmt.Errorf("no model %s/%s: %s", provider, id, cmp.Or(why, "it cannot be opened"))
	}
	return m, nil
}

// isCurrent reports whether m is the model that is asked now. A person may have named
// it though nobody lists it: they see what comes of it.
func isCurrent(host Host, m *llm.Model) bool {
	now := host.Model()
	return now != nil && now.Ref() == m.Ref()
}

// match is the model that a name means.
func match(host Host, name string) (m *llm.Model, level string, err error) {
	if m, level, err = host.Models().Match(name); err != nil {
		return nil, "", err
	}
	m, err = find(host, m.Provider, m.ID)
	return m, level, err
}

// availableModels is ctx.available_models(): those that can be asked.
func (in *instance) availableModels(L *lua.LState) *lua.LTable {
	models := in.mustHost(L, "available_models").Models().Available()
	list := luavm.NewList(L, len(models), func(i int) lua.LValue { return in.records.Model(models[i]) })
	luavm.MarkList(list)
	return list
}

// resolveKey is ctx.resolve_api_key(model) → key, or nil and a message.
func (in *instance) resolveKey(L *lua.LState) int {
	host := in.mustHost(L, "resolve_api_key")
	m, _, err := in.modelArgument(L, 1, "resolve_api_key", L.Get(1), host)
	if err != nil {
		return pushResult(L, nil, err)
	}
	var key string
	err = in.wait(L, "resolve_api_key", false, func(ctx context.Context) (err error) {
		key, err = host.Models().Key(ctx, m)
		return err
	})
	if err == nil && key == "" {
		err = fmt.Errorf("there is no key for %s", m.Ref())
	}
	return pushResult(L, lua.LString(key), err)
}

// modelArgument finds the model that an argument means: a value such as
// ctx.model, a table with provider and id, or "provider/id", which may have a
// level. Anything else is misuse.
func (in *instance) modelArgument(L *lua.LState, n int, function string, v lua.LValue, host Host) (m *llm.Model, level string, err error) {
	switch v := v.(type) {
	case *lua.LUserData:
		if info, ok := v.Value.(record.ModelInfo); ok {
			m, err = find(host, info.Provider, info.ID)
			return m, "", err
		}
	case *lua.LTable:
		luavm.Materialise(L, v)
		provider, isProvider := v.RawGetString("provider").(lua.LString)
		id, isID := v.RawGetString("id").(lua.LString)
		if isProvider && isID {
			m, err = find(host, string(provider), string(id))
			return m, "", err
		}
	case lua.LString:
		return match(host, string(v))
	}
	luavm.RaiseArg(L, n, function, `model expected (such as ctx.model or "provider/id"), got %s`, v.Type())
	return nil, "", nil
}
