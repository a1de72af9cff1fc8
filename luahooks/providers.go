package luahooks

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/api"
)

// hookProviders puts the providers of hooks into the program's list of models. Each
// is made on top of what is below it: that of a hook before it in the chain, or the
// program's own, which comes back when the hook goes. It may be used from any
// goroutine.
type hookProviders struct {
	roster   *roster
	audience *audience
	models   *llm.Models // nil: nobody keeps models
	overlay  func(*llm.ProviderSpec, llm.ProviderSettings) llm.ProviderSpec

	mu      sync.Mutex // held while providers are handed over; guards what follows
	ours    map[string]bool
	covered map[string]llm.ProviderSpec
}

// apply puts wanted in force, in order, in place of what was before. mu is held.
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
	now := map[string]bool{}
	for _, name := range order {
		now[name] = true
		r.models.Register(made[name])
	}
	r.restore(now)
	r.ours = now
}

// own returns the provider that the program has without hooks, and remembers it.
func (r *hookProviders) own(name string) (llm.ProviderSpec, bool) {
	if r.ours[name] {
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

// restore gives back the names that hooks no longer have.
func (r *hookProviders) restore(now map[string]bool) {
	for name := range r.ours {
		if now[name] {
			continue
		}
		if was, ok := r.covered[name]; ok {
			r.models.Register(was)
			delete(r.covered, name)
		} else {
			r.models.Unregister(name)
		}
	}
}

// refresh registers the providers of all hooks in their order, and lets the session
// go on with its model as it is now.
func (r *hookProviders) refresh() {
	before := r.currentModel()
	var wanted []api.Provider
	r.mu.Lock()
	for _, h := range r.roster.list() {
		wanted = append(wanted, h.registered().Providers.All()...)
	}
	r.apply(wanted)
	r.mu.Unlock()
	r.refreshModel(before)
}

// currentModel is the session's model as it is registered now; nil: it is not, or
// there is no session yet.
func (r *hookProviders) currentModel() *llm.Model {
	host := r.audience.hostNow()
	if host == nil || host.Model() == nil || host.Models() == nil {
		return nil
	}
	return host.Models().Find(host.Model().Provider, host.Model().ID)
}

// refreshModel replaces the session's model if it is another one now under the same
// name; nobody is told, because nobody chose. One that somebody chooses meanwhile
// stays. One that is gone stays too, and the person is told to choose another.
func (r *hookProviders) refreshModel(before *llm.Model) {
	host := r.audience.hostNow()
	if host == nil || host.Model() == nil || host.Models() == nil {
		return
	}
	was := host.Model()
	now := host.Models().Find(was.Provider, was.ID)
	switch {
	case before != nil && now == nil:
		r.audience.notify(context.Background(), agent.LevelWarning, fmt.Sprintf("the model %s is gone with the hook that had it; /model chooses another", before.Ref()))
	case now != nil && !reflect.DeepEqual(now, was):
		host.Replace(was, now)
	}
}
