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
	changed       func()                                          // a provider is in force, or gone
}

func (p *providers) part() part {
	return part{"provider": p.provider, "remove_provider": p.remove}
}

// provider is pi.provider(name, {base_url?, api?, api_key?, headers?, compat?, models?,
// stream?}): it adds a provider, or changes one. With stream a script is the
// model.
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

// switches reads those of a wire API.
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
	if err != nil {
		luavm.Raise(L, "provider: compat: %v", err)
	}
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
