package luahooks

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"sync"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// hookProviders puts the providers of hooks into the program's list of models. Each
// is made on top of what is below it: that of a hook before it in the chain, or the
// program's own, which comes back when the hook goes. It may be used from any
// goroutine.
type hookProviders struct {
	roster   *roster
	audience *audience
	models   *llm.Models // nil: there are none
	overlay  func(*llm.ProviderSpec, llm.ProviderSettings) llm.ProviderSpec

	mu      sync.Mutex                  // held while providers are handed over; guards what follows
	ours    map[string]llm.ProviderSpec // those that hooks made
	covered map[string]llm.ProviderSpec // the program's own below them
}

// apply registers wanted, in order, in place of the providers from before, and gives
// back the names that hooks no longer have. mu is held.
func (r *hookProviders) apply(wanted []api.Provider) {
	if r.models == nil || r.overlay == nil {
		return
	}
	made := map[string]llm.ProviderSpec{}
	var order []string
	for _, w := range wanted {
		name := w.Settings.Name
		below, ok := made[name]
		if !ok {
			below, ok = r.own(name)
			order = append(order, name)
		}
		if ok {
			made[name] = r.overlay(&below, w.Settings)
		} else {
			made[name] = r.overlay(nil, w.Settings)
		}
	}
	for _, name := range order {
		r.models.Register(made[name])
	}
	for name := range r.ours {
		if _, again := made[name]; again {
			continue
		}
		if was, ok := r.covered[name]; ok {
			r.models.Register(was)
			delete(r.covered, name)
		} else {
			r.models.Unregister(name)
		}
	}
	r.ours = made
}

// ProviderSettings are what hooks say of providers of models, in the order of the chain. The
// last of a name is on top of the others.
func (r *roster) ProviderSettings() (settings []llm.ProviderSettings) {
	for _, h := range r.list() {
		for _, p := range h.registered().Providers.All() {
			settings = append(settings, p.Settings)
		}
	}
	return settings
}

// own returns the provider that the program has under a name without hooks, or false. It
// remembers it in covered, for when the hooks that cover it are gone.
func (r *hookProviders) own(name string) (llm.ProviderSpec, bool) {
	if _, ok := r.ours[name]; ok {
		was, ok := r.covered[name]
		return was, ok
	}
	was, ok := r.models.Lookup(name)
	if ok {
		if r.covered == nil {
			r.covered = map[string]llm.ProviderSpec{}
		}
		r.covered[name] = was
	}
	return was, ok
}

// refresh registers the providers of all hooks in their order. If the session's model
// is another one then under the same name, the session gets that; nobody is told,
// because nobody chose, and one that somebody chooses meanwhile stays. If it is gone
// with its hook the session keeps it, and the user is told to choose another.
func (r *hookProviders) refresh() {
	_, before := r.sessionModel()
	var wanted []api.Provider
	r.mu.Lock()
	for _, h := range r.roster.list() {
		wanted = append(wanted, h.registered().Providers.All()...)
	}
	r.apply(wanted)
	r.mu.Unlock()
	switch was, now := r.sessionModel(); {
	case was != nil && now == nil && before != nil:
		r.audience.notify(context.Background(), agent.LevelWarning, fmt.Sprintf("the model %s is gone with the hook that had it; /model chooses another", before.Ref()))
	case now != nil && !reflect.DeepEqual(now, was):
		r.audience.hostNow().Replace(was, now)
	}
}

// sessionModel returns the session's model, and what is registered under its name now.
// Each is nil if there is none.
func (r *hookProviders) sessionModel() (model, registered *llm.Model) {
	host := r.audience.hostNow()
	if host == nil || host.Models() == nil {
		return nil, nil
	}
	if model = host.Model(); model != nil {
		registered = host.Models().Find(model.Provider, model.ID)
	}
	return model, registered
}

// Builtin returns a provider whose script is inside the program. It is run like
// any hook, in a VM of its own, but not before the first request, so that it
// costs nothing to those who use another model. It is called before the chain is
// used.
func (l *loader) Builtin(name string, code []byte) llm.Provider {
	b := &builtin{loader: l, name: name, code: code}
	l.builtins = append(l.builtins, b)
	return b
}

type builtin struct {
	loader *loader
	name   string
	code   []byte

	mu sync.Mutex // guards in
	in *instance
}

func (b *builtin) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	stream, err := b.load(ctx)
	if err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	return stream.Stream(ctx, r)
}

// load returns the script's provider, from a fresh VM if there is none that
// lives.
func (b *builtin) load(ctx context.Context) (llm.Provider, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.in == nil || b.in.vm.Dead() {
		h := &hook{Source: trust.Source{Name: b.name, Path: b.name + ".lua", Scope: trust.ScopeBuiltin}}
		in, err := b.loader.run(ctx, h, b.code, nil)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", b.name, err)
		}
		b.in = in
	}
	for _, p := range b.in.script.Registered.Providers.All() {
		if model, ok := p.Script(); ok {
			return model, nil
		}
	}
	return nil, fmt.Errorf("load %s: it registers no model", b.name)
}

func (b *builtin) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.in != nil {
		b.in.vm.Close()
		b.in.end()
	}
}
