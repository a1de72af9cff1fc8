package luahooks

import "pi/agent"

// registry keeps the providers of hooks in the program's list of models: the
// last in the chain has the name, and what a hook covered comes back when the
// hook goes. The chain's inForce lock is held for all of it.
type registry struct {
	models *agent.Models // nil: nobody keeps models

	ours    map[string]bool
	covered map[string]agent.ProviderSpec
}

// apply puts wanted in force, in order, in place of what was before.
func (r *registry) apply(wanted []agent.ProviderSpec) {
	if r.models == nil {
		return
	}
	now := map[string]bool{}
	for _, spec := range wanted {
		if was, ok := r.models.Lookup(spec.Name); ok && !r.ours[spec.Name] && !now[spec.Name] {
			r.cover(was)
		}
		now[spec.Name] = true
		r.models.Register(spec)
	}
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
	r.ours = now
}

func (r *registry) cover(spec agent.ProviderSpec) {
	if r.covered == nil {
		r.covered = map[string]agent.ProviderSpec{}
	}
	r.covered[spec.Name] = spec
}

// applyProviders registers the providers of all hooks in their order.
func (c *Chain) applyProviders() {
	c.inForce.Lock()
	defer c.inForce.Unlock()
	var wanted []agent.ProviderSpec
	for _, h := range c.list() {
		if in := h.current(); in != nil {
			in.mu.Lock()
			wanted = append(wanted, in.providers...)
			in.mu.Unlock()
		}
	}
	c.providers.apply(wanted)
}
