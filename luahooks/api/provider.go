package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Provider is one pi.provider.
type Provider struct {
	Settings llm.ProviderSettings
	script   *scriptModel // Settings.Stream, if there is one
}

func (p Provider) id() string { return p.Settings.Name }

// Script returns the model that a script is, if the provider is one.
func (p Provider) Script() (model llm.Provider, ok bool) { return p.script, p.script != nil }

// providers are the providers of models that a hook registers.
type providers struct {
	*bridge
	jobs          *jobs
	registered    *Registered
	known         *llm.Models                                     // nil: nobody has any
	checkSwitches func(api string, switches map[string]any) error // nil: all are right
	changed       func()                                          // is called when a provider comes into force, or goes
}

func (p *providers) part() part {
	return part{"provider": p.provider, "remove_provider": p.remove}
}

// provider is pi.provider(name, {base_url?, api?, api_key?, headers?, compat?, models?,
// stream?}): it adds a provider, or changes one that is known under the name. With stream
// a function of the hook answers in place of a server. Misuse raises.
func (p *providers) provider(L *lua.LState) int {
	n := Provider{Settings: llm.ProviderSettings{Name: L.CheckString(1), Hook: p.hook}}
	o := &n.Settings
	var models, compat *lua.LTable
	var stream *lua.LFunction
	luavm.Unpack(L, 2, "provider", luavm.Opt("base_url", &o.BaseURL), luavm.Opt("api", &o.API), luavm.Opt("api_key", &o.APIKey),
		luavm.Opt("headers", &o.Headers), luavm.Opt("compat", &compat), luavm.Opt("models", &models), luavm.Opt("stream", &stream))
	if o.Name == "" || strings.ContainsAny(o.Name, "/ \t\n") {
		luavm.RaiseArg(L, 1, "provider", "%q is no name of a provider: one word without /", o.Name)
	}
	p.mustSpeak(L, o.API)
	if stream != nil {
		n.script = &scriptModel{p, o.Name, stream}
		o.API, o.Stream = "lua", n.script
	}
	if stream == nil && (o.API == "" || o.BaseURL == "") {
		known := false
		if p.known != nil {
			_, known = p.known.Lookup(o.Name)
		}
		if !known {
			luavm.Raise(L, "provider: it needs api and base_url, or a stream function")
		}
	}
	if variable, ok := strings.CutPrefix(o.APIKey, "$"); ok {
		o.APIKey = "env:" + variable
	}
	o.Compat = p.switches(L, o.API, compat)
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	o.Models = modelSettings(L, models)
	p.registered.Providers.put(n)
	if p.registered.Handlers.isInForce() {
		p.changed()
	}
	return 0
}

// remove is pi.remove_provider(name); it reports whether the hook had registered it.
func (p *providers) remove(name string) bool {
	had := p.registered.Providers.remove(name)
	if had && p.registered.Handlers.isInForce() {
		p.changed()
	}
	return had
}

// switches reads compat, the settings of the wire API that the provider speaks, and raises
// for one that the API does not have.
func (p *providers) switches(L *lua.LState, api string, t *lua.LTable) (switches map[string]any) {
	if t == nil {
		return nil
	}
	raw, err := luavm.EncodeJSON(L, t, luavm.JSON{})
	if err == nil {
		err = json.Unmarshal(raw, &switches)
	}
	if err == nil && p.checkSwitches != nil {
		err = p.checkSwitches(api, switches)
	}
	must(L, "provider: compat", err)
	return switches
}

// mustSpeak raises for an api that no client speaks.
func (p *providers) mustSpeak(L *lua.LState, api string) {
	if p.known == nil {
		return
	}
	apis := p.known.APIs()
	if api == "" || len(apis) == 0 || slices.Contains(apis, api) {
		return
	}
	near := ""
	if n := suggest.Nearest(api, apis); n != "" {
		near = fmt.Sprintf(" (did you mean %q?)", n)
	}
	luavm.Raise(L, "provider: unknown api %q%s; there are %s", api, near, strings.Join(apis, ", "))
}

// modelSettings reads the list of models: ids, or tables that describe them. It returns nil
// without a list, and raises for an element that is neither.
func modelSettings(L *lua.LState, list *lua.LTable) []llm.ModelSettings {
	if list == nil {
		return nil
	}
	n, err := luavm.ListLen(L, list)
	must(L, "provider: models", err)
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

// readModel reads a model that a hook describes: {id, name?, context_window?, …}. It raises
// for an unknown key or thinking level. An empty list of inputs stands for text.
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

// readPrice reads {input?, output?, cache_read?, cache_write?, above?}, dollars for a million
// tokens; what is left out is not known. above is a list of the same with tokens.
func readPrice(L *lua.LState, t *lua.LTable) *llm.Price {
	var given givenPrices
	var above *lua.LTable
	luavm.UnpackTable(L, t, "provider: cost", luavm.Opt("input", &given.input), luavm.Opt("output", &given.output),
		luavm.Opt("cache_read", &given.read), luavm.Opt("cache_write", &given.write), luavm.Opt("above", &above))
	price := given.price(L)
	if above == nil {
		return price
	}
	n, err := luavm.ListLen(L, above)
	must(L, "provider: cost: above", err)
	if n == 0 {
		luavm.Raise(L, "provider: cost: above must be a list of tables with tokens and prices, as in { { tokens = 200000, input = 2 } }")
	}
	var steps []llm.Step
	for i := 1; i <= n; i++ {
		one, ok := above.RawGetInt(i).(*lua.LTable)
		if !ok {
			luavm.Raise(L, "provider: cost: above %d must be a table with tokens and prices", i)
		}
		steps = append(steps, readStep(L, one))
	}
	priced, err := price.WithSteps(steps)
	must(L, "provider: cost", err)
	return priced
}

// readStep reads {tokens, input?, output?, cache_read?, cache_write?}.
func readStep(L *lua.LState, t *lua.LTable) llm.Step {
	var given givenPrices
	var tokens int
	luavm.UnpackTable(L, t, "provider: cost: above", luavm.Opt("tokens", &tokens).Required(), luavm.Opt("input", &given.input),
		luavm.Opt("output", &given.output), luavm.Opt("cache_read", &given.read), luavm.Opt("cache_write", &given.write))
	return llm.Step{Tokens: tokens, Price: *given.price(L)}
}

// givenPrices are those of a table, nil where it has none.
type givenPrices struct{ input, output, read, write *float64 }

// price raises an error for one below zero.
func (g givenPrices) price(L *lua.LState) *llm.Price {
	for _, given := range []*float64{g.input, g.output, g.read, g.write} {
		if given != nil && !(*given >= 0) {
			luavm.Raise(L, "provider: cost: a price is never below zero; one that is left out is not known")
		}
	}
	return llm.NewPrice(g.input, g.output, g.read, g.write)
}
