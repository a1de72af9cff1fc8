package luahooks

import (
	"maps"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// modelOptions are what a hook says of one model. What it does not say is as it
// was before, if the model is known.
type modelOptions struct {
	id, name          string
	window, maxTokens *int
	reasoning         *bool
	levels, input     []string
	cost              *llm.Price
}

// models reads the list of models: ids, or tables that describe them.
func (in *instance) models(L *lua.LState, list *lua.LTable) []modelOptions {
	if list == nil {
		return nil
	}
	luavm.Materialise(L, list)
	n, err := record.ListLen(list)
	if err != nil {
		luavm.Raise(L, "provider: models: %v", err)
	}
	var models []modelOptions
	for i := 1; i <= n; i++ {
		switch v := list.RawGetInt(i).(type) {
		case lua.LString:
			models = append(models, modelOptions{id: string(v)})
		case *lua.LTable:
			models = append(models, readModel(L, v))
		default:
			luavm.Raise(L, "provider: model %d must be an id or a table, not a %s", i, v.Type())
		}
		if models[i-1].id == "" {
			luavm.Raise(L, "provider: model %d has an empty id", i)
		}
	}
	return models
}

func readModel(L *lua.LState, t *lua.LTable) modelOptions {
	var o modelOptions
	var cost *lua.LTable
	luavm.UnpackTable(L, t, "provider", luavm.Opt("id", &o.id).Required(), luavm.Opt("name", &o.name),
		luavm.Opt("context_window", &o.window), luavm.Opt("max_tokens", &o.maxTokens), luavm.Opt("reasoning", &o.reasoning),
		luavm.Opt("levels", &o.levels), luavm.Opt("input", &o.input), luavm.Opt("cost", &cost))
	o.levels = orderedLevels(L, o.levels)
	if cost != nil {
		o.cost = readPrice(L, cost)
	}
	return o
}

// orderedLevels are the thinking levels of a model, lowest first.
func orderedLevels(L *lua.LState, levels []string) []string {
	known := llm.ThinkingLevels()
	for _, level := range levels {
		if !slices.Contains(known, level) {
			luavm.Raise(L, "provider: unknown thinking level %q%s; levels are %s", level, suggest.Hint(level, known), strings.Join(known, ", "))
		}
	}
	ordered := slices.DeleteFunc(known, func(level string) bool { return !slices.Contains(levels, level) })
	if len(ordered) == 0 {
		return nil
	}
	return ordered
}

// readPrice reads a price. What is left out is not known; but what comes from the
// cache or goes there costs what other input does, unless it says otherwise.
func readPrice(L *lua.LState, t *lua.LTable) *llm.Price {
	const unknown = -1
	var input, output, read, write *float64
	luavm.UnpackTable(L, t, "provider: cost", luavm.Opt("input", &input), luavm.Opt("output", &output),
		luavm.Opt("cache_read", &read), luavm.Opt("cache_write", &write))
	for _, given := range []*float64{input, output, read, write} {
		if given != nil && !(*given >= 0) {
			luavm.Raise(L, "provider: cost: a price is never below zero; one that is left out is not known")
		}
	}
	p := llm.Price{Input: unknown, Output: unknown}
	set(&p.Input, input)
	set(&p.Output, output)
	p.CacheRead, p.CacheWrite = p.Input, p.Input
	set(&p.CacheRead, read)
	set(&p.CacheWrite, write)
	return &p
}

// on returns the model that a hook describes on the ground of what is known.
func (o modelOptions) on(known llm.Model) *llm.Model {
	m := known
	m.ID = o.id
	if o.name != "" || m.Name == "" {
		m.Name = o.name
	}
	if m.Name == "" {
		m.Name = o.id
	}
	set(&m.ContextWindow, o.window)
	set(&m.MaxTokens, o.maxTokens)
	if o.levels != nil {
		m.Levels, m.Reasoning = o.levels, !slices.Equal(o.levels, []string{"off"})
	}
	set(&m.Reasoning, o.reasoning)
	if o.input != nil {
		m.Input = o.input
	}
	if len(m.Input) == 0 {
		m.Input = []string{"text"}
	}
	if o.cost != nil {
		m.Cost = o.cost
	}
	return &m
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// ground is what is known of a model before a hook says something of it: the
// model itself, or at least how its provider is reached.
func ground(below *llm.ProviderSpec, listed []*llm.Model, id string) llm.Model {
	if i := slices.IndexFunc(listed, func(m *llm.Model) bool { return m.ID == id }); i >= 0 {
		return *listed[i]
	}
	if below.Open != nil {
		if m := below.Open(id); m != nil {
			return *m
		}
	}
	if len(listed) == 0 {
		return llm.Model{}
	}
	like := listed[0]
	return llm.Model{API: like.API, BaseURL: like.BaseURL, Headers: maps.Clone(like.Headers), Compat: maps.Clone(like.Compat), NeedsKey: like.NeedsKey}
}
