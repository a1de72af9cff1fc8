package api

import (
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// modelSettings reads the list of models: ids, or tables that describe them. Of no list it
// is nil.
func modelSettings(L *lua.LState, list *lua.LTable) []llm.ModelSettings {
	if list == nil {
		return nil
	}
	luavm.Materialise(L, list)
	n, err := luavm.ListLen(list)
	if err != nil {
		luavm.Raise(L, "provider: models: %v", err)
	}
	models := make([]llm.ModelSettings, 0, n)
	for i := 1; i <= n; i++ {
		switch v := list.RawGetInt(i).(type) {
		case lua.LString:
			models = append(models, llm.ModelSettings{ID: string(v)})
		case *lua.LTable:
			models = append(models, readModel(L, v))
		default:
			luavm.Raise(L, "provider: model %d must be an id or a table, not a %s", i, v.Type())
		}
		if models[i-1].ID == "" {
			luavm.Raise(L, "provider: model %d has an empty id", i)
		}
	}
	return models
}

func readModel(L *lua.LState, t *lua.LTable) llm.ModelSettings {
	var o llm.ModelSettings
	var cost *lua.LTable
	luavm.UnpackTable(L, t, "provider", luavm.Opt("id", &o.ID).Required(), luavm.Opt("name", &o.Name),
		luavm.Opt("context_window", &o.ContextWindow), luavm.Opt("max_tokens", &o.MaxTokens), luavm.Opt("reasoning", &o.Reasoning),
		luavm.Opt("levels", &o.Levels), luavm.Opt("input", &o.Input), luavm.Opt("cost", &cost))
	known := llm.ThinkingLevels()
	for _, level := range o.Levels {
		if !slices.Contains(known, level) {
			luavm.Raise(L, "provider: unknown thinking level %q%s; levels are %s", level, suggest.Hint(level, known), strings.Join(known, ", "))
		}
	}
	if o.Input != nil && len(o.Input) == 0 {
		o.Input = []string{"text"}
	}
	if cost != nil {
		o.Cost = readPrice(L, cost)
	}
	return o
}

// readPrice reads a price.
func readPrice(L *lua.LState, t *lua.LTable) *llm.Price {
	var input, output, read, write *float64
	luavm.UnpackTable(L, t, "provider: cost", luavm.Opt("input", &input), luavm.Opt("output", &output),
		luavm.Opt("cache_read", &read), luavm.Opt("cache_write", &write))
	for _, given := range []*float64{input, output, read, write} {
		if given != nil && !(*given >= 0) {
			luavm.Raise(L, "provider: cost: a price is never below zero; one that is left out is not known")
		}
	}
	return llm.NewPrice(input, output, read, write)
}
