package luahooks

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

// hookProvider is one pi.provider.
type hookProvider struct {
	settings llm.ProviderSettings
	stream   *luaProvider // settings.Stream, if there is one
}

func (p hookProvider) id() string { return p.settings.Name }

// apiProvider is pi.provider(name, {base_url?, api?, api_key?, headers?, compat?, models?,
// stream?}): it adds a provider, or changes one. With stream a script is the
// model.
func (in *instance) apiProvider(L *lua.LState) int {
	p := llm.ProviderSettings{Name: L.CheckString(1), Hook: in.hook.Name}
	var models, compat *lua.LTable
	var stream *lua.LFunction
	luavm.Unpack(L, 2, "provider", luavm.Opt("base_url", &p.BaseURL), luavm.Opt("api", &p.API), luavm.Opt("api_key", &p.APIKey),
		luavm.Opt("headers", &p.Headers), luavm.Opt("compat", &compat), luavm.Opt("models", &models), luavm.Opt("stream", &stream))
	if p.Name == "" || strings.ContainsAny(p.Name, "/ \t\n") {
		luavm.RaiseArg(L, 1, "provider", "%q is no name of a provider: one word without /", p.Name)
	}
	in.checkWireAPI(L, p.API)
	var script *luaProvider
	if stream != nil {
		script = &luaProvider{in, p.Name, stream}
		p.API, p.Stream = "lua", script
	}
	if stream == nil && (p.API == "" || p.BaseURL == "") && !in.chain.hasProvider(p.Name) {
		luavm.Raise(L, "provider: it needs api and base_url, or a stream function")
	}
	if variable, ok := strings.CutPrefix(p.APIKey, "$"); ok {
		p.APIKey = "env:" + variable
	}
	p.Compat = in.switches(L, p.API, compat)
	p.BaseURL = strings.TrimRight(p.BaseURL, "/")
	p.Models = in.models(L, models)
	in.register(hookProvider{p, script})
	return 0
}

// switches reads those of a wire API.
func (in *instance) switches(L *lua.LState, api string, t *lua.LTable) (switches map[string]any) {
	if t == nil {
		return nil
	}
	raw, err := luavm.EncodeJSON(L, t, luavm.JSON{})
	if err == nil {
		err = json.Unmarshal(raw, &switches)
	}
	if check := in.chain.opts.CheckSwitches; err == nil && check != nil {
		err = check(api, switches)
	}
	if err != nil {
		luavm.Raise(L, "provider: compat: %v", err)
	}
	return switches
}

// checkWireAPI raises for an api that no client speaks.
func (in *instance) checkWireAPI(L *lua.LState, api string) {
	if in.chain.opts.Models == nil {
		return
	}
	apis := in.chain.opts.Models.APIs()
	if api == "" || len(apis) == 0 || slices.Contains(apis, api) {
		return
	}
	near := ""
	if n := suggest.Nearest(api, apis); n != "" {
		near = fmt.Sprintf(" (did you mean %q?)", n)
	}
	luavm.Raise(L, "provider: unknown api %q%s; there are %s", api, near, strings.Join(apis, ", "))
}

// register notes a provider of the hook; while it is in the chain, at once.
func (in *instance) register(p hookProvider) {
	in.registered.Providers.put(p)
	if in.registered.Handlers.isInForce() {
		in.chain.applyProviders()
	}
}

// removeProvider is pi.remove_provider(name); it reports whether the hook had
// registered it.
func (in *instance) removeProvider(name string) bool {
	had := in.registered.Providers.remove(name)
	if had && in.registered.Handlers.isInForce() {
		in.chain.applyProviders()
	}
	return had
}
