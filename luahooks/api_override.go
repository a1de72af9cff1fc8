package luahooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// hookProvider is one pi.provider: what it says of a provider. What it does not
// say is as it was before, if the provider is known.
type hookProvider struct {
	name    string
	baseURL string
	api     string
	key     func(context.Context) (string, error) // nil: not given
	hasKey  func() bool
	keySpec string // as ResolveKey takes it
	keyHint func() string
	headers map[string]string
	compat  map[string]any
	listed  bool // models were given
	models  []modelOptions
	stream  *luaProvider
	server  func(Server) llm.ProviderSpec
}

// Server is how a provider is reached that a hook adds.
type Server struct {
	Name, API, BaseURL string
	APIKey             string // as the settings have it; "" for none
	Headers            map[string]string
	Compat             map[string]any
}

// apiProvider is pi.provider(name, {base_url?, api?, api_key?, headers?, compat?, models?,
// stream?}): it adds a provider, or changes one. With stream a script is the
// model.
func (in *instance) apiProvider(L *lua.LState) int {
	p := hookProvider{name: L.CheckString(1), server: in.chain.opts.Server}
	var key string
	var models, compat *lua.LTable
	var stream *lua.LFunction
	luavm.Unpack(L, 2, "provider", luavm.Opt("base_url", &p.baseURL), luavm.Opt("api", &p.api), luavm.Opt("api_key", &key),
		luavm.Opt("headers", &p.headers), luavm.Opt("compat", &compat), luavm.Opt("models", &models), luavm.Opt("stream", &stream))
	if p.name == "" || strings.ContainsAny(p.name, "/ \t\n") {
		luavm.RaiseArg(L, 1, "provider", "%q is no name of a provider: one word without /", p.name)
	}
	in.checkWireAPI(L, p.api)
	if stream != nil {
		p.api, p.stream = "lua", &luaProvider{in, p.name, stream}
	}
	if p.stream == nil && (p.api == "" || p.baseURL == "") && !in.chain.hasProvider(p.name) {
		luavm.Raise(L, "provider: it needs api and base_url, or a stream function")
	}
	if key != "" {
		in.readKey(&p, key)
	}
	p.compat = in.switches(L, p.api, compat)
	p.baseURL = strings.TrimRight(p.baseURL, "/")
	p.listed, p.models = models != nil, in.models(L, models)
	in.register(p)
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

// readKey understands api_key: literal, $NAME for a variable of the environment,
// or what the configuration takes besides. No message ever has a key in it.
func (in *instance) readKey(p *hookProvider, spec string) {
	if name, ok := strings.CutPrefix(spec, "$"); ok {
		spec = "env:" + name
	}
	variable, fromEnv := strings.CutPrefix(spec, "env:")
	p.hasKey = func() bool { return !fromEnv || os.Getenv(strings.TrimSpace(variable)) != "" }
	p.keySpec = spec
	hint := "check api_key in hook " + in.hook.Name
	if fromEnv && !strings.Contains(variable, "-") { // a key may stand there by mistake
		hint = "export " + strings.TrimSpace(variable) + ", or change api_key in hook " + in.hook.Name
	}
	p.keyHint = func() string { return hint }
	resolve, name := in.chain.opts.ResolveKey, p.name
	if resolve == nil {
		resolve = func(context.Context, string) (string, error) { return spec, nil }
	}
	p.key = func(ctx context.Context) (string, error) {
		key, err := resolve(ctx, spec)
		if err != nil {
			return "", &llm.ProviderError{Provider: name, Message: err.Error(), Err: err, NextStep: hint}
		}
		return key, nil
	}
}

// over makes the provider out of what is below it; nil: nothing.
func (p hookProvider) over(below *llm.ProviderSpec) llm.ProviderSpec {
	if below == nil {
		below = p.added()
	}
	spec := *below
	spec.Name = p.name
	if p.key != nil {
		spec.Key, spec.HasKey, spec.KeyHint = p.key, p.hasKey, p.keyHint
	}
	if p.stream != nil { // a script needs no connection, and no key unless it says so
		spec.Stream, spec.Key, spec.HasKey, spec.KeyHint, spec.Discover = p.stream, p.key, p.hasKey, p.keyHint, nil
	}
	if below.Models != nil {
		spec.Models = sync.OnceValue(func() []*llm.Model { return p.changedAll(below.Models()) })
	}
	if below.Open != nil {
		spec.Open = func(id string) *llm.Model {
			if m := below.Open(id); m != nil {
				return p.changed(m)
			}
			return nil
		}
	}
	if p.baseURL != "" && p.stream == nil { // which below does not ask
		below = p.discoverable(below)
		spec.Discover, spec.Partial = below.Discover, true
	}
	if spec.Discover != nil {
		spec.Discover = func(ctx context.Context) ([]*llm.Model, error) {
			found, err := below.Discover(ctx)
			return p.changedAll(found), err
		}
	}
	if p.listed {
		p.list(below, &spec)
	}
	return spec
}

// added is what is known of a provider that only the hook has.
func (p hookProvider) added() *llm.ProviderSpec {
	if p.server == nil || p.stream != nil {
		return &llm.ProviderSpec{Open: func(id string) *llm.Model { return &llm.Model{ID: id, Name: id, Input: []string{"text"}} }}
	}
	spec := p.server(Server{Name: p.name, API: p.api, BaseURL: p.baseURL, APIKey: p.keySpec, Headers: p.headers, Compat: p.compat})
	spec.Key, spec.HasKey, spec.KeyHint = nil, nil, nil // the hook says it
	return &spec
}

// discoverable is below as it is asked for its models at the hook's address, if
// the hook says what is spoken there.
func (p hookProvider) discoverable(below *llm.ProviderSpec) *llm.ProviderSpec {
	moved := *below
	moved.Discover = nil
	if p.api != "" {
		moved.Discover = p.added().Discover
	}
	return &moved
}

// list gives the provider the models that the hook lists, and no others. What is
// known of them is looked up when somebody asks for the list.
func (p hookProvider) list(below, spec *llm.ProviderSpec) {
	spec.Open, spec.Discover, spec.Partial = nil, nil, false
	spec.Models = sync.OnceValue(func() []*llm.Model {
		var listed []*llm.Model
		if below.Models != nil {
			listed = below.Models()
		}
		var models []*llm.Model
		for _, o := range p.models {
			models = append(models, p.changed(o.on(ground(below, listed, o.id))))
		}
		return models
	})
	if !slices.ContainsFunc(p.models, func(o modelOptions) bool { return o.id == spec.Default }) {
		spec.Default = ""
	}
	if spec.Default == "" && len(p.models) > 0 {
		spec.Default = p.models[0].id
	}
}

func (p hookProvider) changedAll(models []*llm.Model) []*llm.Model {
	changed := make([]*llm.Model, len(models))
	for i, m := range models {
		changed[i] = p.changed(m)
	}
	return changed
}

// changed is a model of the provider as the hook wants it reached.
func (p hookProvider) changed(m *llm.Model) *llm.Model {
	c := *m
	c.Provider = p.name
	c.API, c.BaseURL = cmp.Or(p.api, c.API), cmp.Or(p.baseURL, c.BaseURL)
	c.Headers, c.Compat = layered(c.Headers, p.headers), layered(c.Compat, p.compat)
	c.NeedsKey = c.NeedsKey && p.stream == nil || p.key != nil
	return &c
}

// layered is a map with what another one says besides or instead.
func layered[V any](below, above map[string]V) map[string]V {
	if len(above) == 0 {
		return below
	}
	both := map[string]V{}
	maps.Copy(both, below)
	maps.Copy(both, above)
	return both
}

func (p hookProvider) id() string { return p.name }

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
