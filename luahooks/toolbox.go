package luahooks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"pi/agent"
	"pi/agent/mcp"
	"pi/internal/suggest"
	"pi/luahooks/api"
)

// toolbox is the tools of the program and of hooks, as the agent gets them. It is a
// [api.Toolbox].
type toolbox struct {
	program  []agent.Tool           // the program's own; hooks may replace them by name
	inactive []agent.Tool           // those of them that the model does not get unless a hook chooses them
	mayHave  func(name string) bool // whether the model may have one at all; nil: it may have any

	above *toolbox // of the agent that uses this one; nil: it is the user's own

	ofServers func() []agent.Tool // see [Options.ServerTools]
	modeOn    func() (name string, h *hook, mode *api.Mode)

	roster   *roster
	audience *audience
	changed  func() // lets children know that the tools are others

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
func (b *toolbox) All() []api.OfferedTool {
	var all []api.OfferedTool
	for _, t := range b.program {
		all = append(all, api.OfferedTool{Tool: t, Active: true})
	}
	for _, t := range b.inactive {
		all = append(all, api.OfferedTool{Tool: t})
	}
	all = append(all, b.serverTools()...)
	for _, h := range b.roster.list() {
		for _, t := range h.registered().Tools.All() {
			i := slices.IndexFunc(all, func(have api.OfferedTool) bool { return have.Spec().Name == t.Spec().Name })
			if i < 0 {
				all = append(all, api.OfferedTool{Tool: t, Active: t.StartsActive()})
			} else {
				all[i] = api.OfferedTool{Tool: t, Active: t.StartsActive()}
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range all {
		name := all[i].Spec().Name
		if chosen, ok := b.chosen[name]; ok || b.chosen != nil && isByServer(all[i].Tool) {
			all[i].Active = chosen // no server adds to what a hook chose
		}
		all[i].Active = all[i].Active && b.allows(name)
	}
	return withoutInactive(all)
}

// withoutInactive keeps those who call by a Forwarder from the names of tools of hooks that are not
// active: what stands in the place of a tool of a server is not gone around.
func withoutInactive(all []api.OfferedTool) []api.OfferedTool {
	inactive := map[string]bool{}
	for _, t := range all {
		_, isOfHook := t.Tool.(*api.Tool)
		if name := t.Spec().Name; isOfHook && !t.Active && isOfServer(name) {
			inactive[name] = true
		}
	}
	for i, t := range all {
		if f, ok := t.Tool.(agent.Forwarder); ok && len(inactive) > 0 {
			all[i].Tool = f.Within(func(name string) bool { return !inactive[name] })
		}
	}
	return all
}

// serverTools are the tools by which the model comes to those of servers, as far as it may.
func (b *toolbox) serverTools() (all []api.OfferedTool) {
	if b.ofServers == nil {
		return nil
	}
	for _, t := range b.ofServers() {
		if f, ok := t.(agent.Forwarder); ok && (b.mayHave != nil || b.above != nil) {
			t = f.Within(b.allows)
		}
		all = append(all, api.OfferedTool{Tool: t, Active: true})
	}
	return all
}

// allows reports whether the model may have a tool of that name at all: never one that the agent
// above does not have.
func (b *toolbox) allows(name string) bool {
	return (b.mayHave == nil || b.mayHave(name)) && (b.above == nil || b.above.has(name))
}

// has reports whether the model has a tool of that name at present, or can call it through another
// one.
func (b *toolbox) has(name string) bool {
	host := b.audience.hostNow()
	return host != nil && slices.ContainsFunc(host.Tools(), func(t agent.Tool) bool {
		if t.Spec().Name == name {
			return true
		}
		f, stands := t.(agent.Forwarder)
		if stands {
			_, stands = f.Wrap(name, nil)
		}
		return stands
	})
}

// MayCall is that of [api.Toolbox].
func (b *toolbox) MayCall(name string) error {
	if b.above != nil && !b.above.has(name) {
		return fmt.Errorf("the tool %s may not be called here: the agent that uses this one does not have it", name)
	}
	if !b.allows(name) {
		return fmt.Errorf("the tool %s may not be called here: the command line allows other tools", name)
	}
	on, _, mode := b.modeOn()
	if on == "" || mode != nil && (mode.Tools == nil || isNamed(mode.Tools, name)) {
		return nil
	}
	return fmt.Errorf("the tool %s may not be called in the mode %s, which does not name it", name, on)
}

// Below is that of [api.Toolbox]. Tools of one hook do not stand in for each other. What is below the
// name of a tool of a server is found by a Forwarder.
func (b *toolbox) Below(name, path string) (below agent.Tool) {
	for _, t := range slices.Concat(b.program, b.inactive) {
		if t.Spec().Name == name {
			below = t
		}
	}
	for _, t := range b.serverTools() {
		if _, stands := t.Tool.(agent.Forwarder); stands && below == nil && isOfServer(name) {
			below = t.Tool
		}
		if t.Spec().Name == name {
			below = t.Tool
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
	var tools []agent.Tool
	for _, t := range b.All() {
		if t.Active {
			tools = append(tools, t.Tool)
		}
	}
	host.SetTools(tools, by)
	ofModes := b.offerModes(host)
	b.applies.Unlock()
	b.changed()
	if b.above != nil { // where the user is told
		return
	}
	for _, what := range slices.Sorted(maps.Keys(ofModes)) {
		b.audience.notifyOnce(context.Background(), what, agent.LevelWarning, ofModes[what])
	}
	for _, h := range b.roster.list() {
		for _, t := range h.registered().Tools.All() {
			name := t.Spec().Name
			below := b.Below(name, h.Path)
			if below == nil || below.Spec().Name != name { // whether a server has it is not known
				continue
			}
			text := fmt.Sprintf("hook %s replaces the tool %s", h.Name, name)
			if other, ok := below.(*api.Tool); ok {
				text += " of hook " + other.Source()
			}
			b.audience.notifyOnce(context.Background(), "tool "+name+" "+h.Path, agent.LevelWarning, text)
		}
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

// ModeNames lists the modes that hooks have.
func (r *roster) ModeNames() (names []string) {
	for _, h := range r.list() {
		for _, mode := range h.registered().Modes.All() {
			names = append(names, mode.Name)
		}
	}
	return names
}

// offerModes gives the host the modes of all hooks, with their tools among those that there
// are, and returns what is to be told to the user, once each, by the names of the warnings.
func (b *toolbox) offerModes(host api.Host) (warnings map[string]string) {
	tools := b.All()
	var all []agent.Mode
	owner, warnings := map[string]*hook{}, map[string]string{}
	for _, h := range b.roster.list() {
		for _, mode := range h.registered().Modes.All() {
			if first := owner[mode.Name]; first != nil {
				warnings["mode "+mode.Name+" "+h.Path] = fmt.Sprintf("the mode %s is in hook %s and in hook %s; the one of %s counts", mode.Name, first.File(), h.File(), first.File())
				continue
			}
			owner[mode.Name] = h
			x := agent.Mode{Name: mode.Name, Description: mode.Description, By: h.Name, Section: mode.Section, Thinking: mode.Thinking}
			if mode.Tools != nil {
				x.Tools = b.allowed(tools, mode.Tools)
				if hint := misspelt(tools, mode.Tools); hint != "" {
					warnings["tools of mode "+mode.Name+" "+h.Path] = "the mode " + mode.Name + " of hook " + h.File() + " names " + hint
				}
			}
			all = append(all, x)
		}
	}
	// Where nobody has the mode that is on, the program's own tools that change nothing stay
	// active, and what a hook has put in their place if it says that it only reads.
	looking := slices.DeleteFunc(b.allowed(tools, lookingNames()), func(t agent.Tool) bool { return !agent.AnnotationsOf(t).ReadOnly })
	host.Modes().Offer(context.Background(), all, looking)
	return warnings
}

// allowed returns those of tools that are named and that the model may have, in their order.
// The names of tools of servers may be patterns. A tool that stands for others is there while
// one of those may be, and then for the named ones alone.
func (b *toolbox) allowed(tools []api.OfferedTool, names []string) []agent.Tool {
	found := []agent.Tool{}
	for _, t := range tools {
		name := t.Spec().Name
		f, stands := t.Tool.(agent.Forwarder)
		switch {
		case !b.allows(name):
		case stands && (isNamed(names, name) || slices.ContainsFunc(names, isOfServer)):
			found = append(found, f.Within(func(name string) bool { return isNamed(names, name) }))
		case isNamed(names, name):
			found = append(found, t.Tool)
		}
	}
	return found
}

// isNamed reports whether a tool is one of names, of which those of tools of servers may be
// patterns.
func isNamed(names []string, tool string) bool {
	if mcp.IsAnyOf(tool) {
		return slices.ContainsFunc(names, func(n string) bool { return n == mcp.ToolName || mcp.Reaches(n, tool) })
	}
	return slices.ContainsFunc(names, func(n string) bool { return n == tool || isOfServer(n) && mcp.Match(n, tool) })
}

// isByServer reports whether a tool is one of a server, or the one by which the model comes to those.
func isByServer(tool agent.Tool) bool {
	_, is := tool.(agent.ServerTool)
	_, stands := tool.(agent.Forwarder)
	return is || stands
}

// isOfServer reports whether a name, or a pattern, is one of tools of servers.
func isOfServer(name string) bool { return mcp.IsName(name) }

// misspelt says which of names is none of a tool but like one; "" if none is. A name that is
// like no other may be that of a tool that comes later.
func misspelt(tools []api.OfferedTool, names []string) string {
	var known []string
	for _, t := range tools {
		known = append(known, t.Spec().Name)
	}
	for _, name := range names {
		if slices.Contains(known, name) || isOfServer(name) { // which servers have what is not known
			continue // to look what is alike takes longer than all else that is done with a mode
		}
		if hint := suggest.Hint(name, known); hint != "" {
			return fmt.Sprintf("the tool %q, which there is not%s", name, hint)
		}
	}
	return ""
}
