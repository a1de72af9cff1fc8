package luahooks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"pi/agent"
	"pi/luahooks/api"
)

// toolbox is the tools of the program and of hooks, as the agent gets them. It is a
// [api.Toolbox].
type toolbox struct {
	program  []agent.Tool           // the program's own; hooks may replace them by name
	inactive []agent.Tool           // those of them that the model does not get unless a hook chooses them
	mayHave  func(name string) bool // whether the model may have one at all; nil: it may have any
	roster   *roster
	audience *audience

	applies sync.Mutex // held while the host gets the tools
	mu      sync.Mutex // guards chosen
	// chosen is what hooks chose with pi.set_active_tools, by name; it outlives reloads.
	// Tools that were not there then are as they would be without a choice.
	chosen map[string]bool
}

// IsOwn is that of [api.Toolbox].
func (b *toolbox) IsOwn(name string) bool {
	return slices.ContainsFunc(slices.Concat(b.program, b.inactive), func(t agent.Tool) bool { return t.Spec().Name == name })
}

// All lists the program's tools, those of hooks in their place where the name is the
// same, and the others behind them.
func (b *toolbox) All() []api.OfferedTool { return b.list(func(*hook, *api.Tool, agent.Tool) {}) }

// list is All; replaced is called for each tool of a hook that is in the place of another.
func (b *toolbox) list(replaced func(h *hook, t *api.Tool, before agent.Tool)) []api.OfferedTool {
	var all []api.OfferedTool
	for _, t := range b.program {
		all = append(all, api.OfferedTool{Tool: t, Active: true})
	}
	for _, t := range b.inactive {
		all = append(all, api.OfferedTool{Tool: t})
	}
	for _, h := range b.roster.list() {
		for _, t := range h.registered().Tools.All() {
			i := slices.IndexFunc(all, func(have api.OfferedTool) bool { return have.Spec().Name == t.Spec().Name })
			if i < 0 {
				all = append(all, api.OfferedTool{Tool: t, Active: true})
				continue
			}
			replaced(h, t, all[i].Tool)
			all[i] = api.OfferedTool{Tool: t, Active: true}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range all {
		name := all[i].Spec().Name
		if chosen, ok := b.chosen[name]; ok {
			all[i].Active = chosen
		}
		all[i].Active = all[i].Active && b.allows(name)
	}
	return all
}

// allows reports whether the model may have a tool of that name at all.
func (b *toolbox) allows(name string) bool { return b.mayHave == nil || b.mayHave(name) }

// Below is that of [api.Toolbox]. Tools of one hook do not stand in for each other.
func (b *toolbox) Below(name, path string) (below agent.Tool) {
	for _, t := range slices.Concat(b.program, b.inactive) {
		if t.Spec().Name == name {
			below = t
		}
	}
	for _, h := range b.roster.list() {
		if h.Path == path {
			break
		}
		if t, ok := h.registered().Tools.Find(name); ok {
			below = t
		}
	}
	return below
}

// Choose is that of [api.Toolbox].
func (b *toolbox) Choose(names []string, by string) {
	chosen := map[string]bool{}
	for _, t := range b.All() {
		name := t.Spec().Name
		chosen[name] = slices.Contains(names, name)
	}
	b.mu.Lock()
	b.chosen = chosen
	b.mu.Unlock()
	b.Apply(by)
}

// Apply gives the host the tools and modes in force. by is the hook that changed them, "" if
// they only are those that there are.
func (b *toolbox) Apply(by string) {
	host := b.audience.hostNow()
	if host == nil {
		return
	}
	b.applies.Lock()
	var warnings []func()
	var tools []agent.Tool
	for _, t := range b.list(func(h *hook, t *api.Tool, before agent.Tool) {
		warnings = append(warnings, func() {
			text := fmt.Sprintf("hook %s replaces the tool %s", h.Name, t.Spec().Name)
			if other, ok := before.(*api.Tool); ok {
				text += " of hook " + other.Source()
			}
			b.audience.notifyOnce(context.Background(), "tool "+t.Spec().Name+" "+h.Path, agent.LevelWarning, text)
		})
	}) {
		if t.Active {
			tools = append(tools, t.Tool)
		}
	}
	host.SetTools(tools, by)
	ofModes := b.offerModes(host)
	b.applies.Unlock()
	for _, what := range slices.Sorted(maps.Keys(ofModes)) {
		b.audience.notifyOnce(context.Background(), what, agent.LevelWarning, ofModes[what])
	}
	for _, warn := range warnings {
		warn()
	}
}

// ToolNames lists all tools that there are, the program's own and those of hooks.
func (l *loader) ToolNames() []string {
	var names []string
	for _, t := range l.tools.All() {
		names = append(names, t.Spec().Name)
	}
	return names
}
