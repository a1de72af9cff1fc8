package luahooks

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luahooks/api"
)

// modes are the modes of all hooks. Of two hooks with a mode of the same name the first in
// the chain keeps the name, so that no later one, such as one of a project, can put a gate
// that lets more pass in the place of the person's own.
type modes struct {
	roster   *roster
	audience *audience // nil: no mode is ever on
}

// on returns the name of the mode that is on, and the hook that has it; "" if none is on, and
// nil if no hook has it.
func (m modes) on() (name string, h *hook, mode *api.Mode) {
	if m.audience != nil {
		if host := m.audience.hostNow(); host != nil {
			name = host.Modes().Current()
		}
	}
	if name == "" {
		return "", nil, nil
	}
	for _, h := range m.roster.list() {
		if mode, ok := h.registered().Modes.Find(name); ok {
			return name, h, mode
		}
	}
	return name, nil, nil
}

// ModeNames lists the modes that hooks have.
func (c *Chain) ModeNames() (names []string) {
	for _, h := range c.roster.list() {
		for _, mode := range h.registered().Modes.All() {
			names = append(names, mode.Name)
		}
	}
	return names
}

// hasGate reports whether the mode that is on has a gate, or may have had one because no hook
// has it now.
func (m modes) hasGate() bool {
	name, _, mode := m.on()
	return len(mode.Gate()) > 0 || name != "" && mode == nil
}

// closedFor says why a call does not run if no hook has the mode that is on, whose gate is
// lost with it; "" if a hook has it, or the tool only looks. The other tools are not active
// then either, but a call may have found its tool just before.
func (m modes) closedFor(e *agent.ToolCall) string {
	name, h, _ := m.on()
	if name == "" || h != nil || slices.Contains(lookingNames(), e.Name) && e.Annotations.ReadOnly {
		return ""
	}
	return fmt.Sprintf("the session is in the mode %q, which no hook has here, so only %s work; a person has to choose another mode, or turn it off with /mode off", name, looking)
}

// offered lists the modes of all hooks, with their tools among all that there are. warnings
// are to be told to the person, once each, by their names.
func (m modes) offered(tools []api.OfferedTool, mayHave func(name string) bool) (all []agent.Mode, warnings map[string]string) {
	owner, warnings := map[string]*hook{}, map[string]string{}
	for _, h := range m.roster.list() {
		for _, mode := range h.registered().Modes.All() {
			if first := owner[mode.Name]; first != nil {
				warnings["mode "+mode.Name+" "+h.Path] = fmt.Sprintf("the mode %s is in hook %s and in hook %s; the one of %s counts", mode.Name, first.File(), h.File(), first.File())
				continue
			}
			owner[mode.Name] = h
			x := agent.Mode{Name: mode.Name, Description: mode.Description, By: h.Name, Section: mode.Section, Thinking: mode.Thinking}
			if mode.Tools != nil {
				x.Tools = named(tools, mode.Tools, mayHave)
				if hint := misspelt(tools, mode.Tools); hint != "" {
					warnings["tools of mode "+mode.Name+" "+h.Path] = "the mode " + mode.Name + " of hook " + h.File() + " names " + hint
				}
			}
			all = append(all, x)
		}
	}
	return all, warnings
}

// named returns those of tools that are named and that the model may have, in their order.
func named(tools []api.OfferedTool, names []string, mayHave func(name string) bool) []agent.Tool {
	found := []agent.Tool{}
	for _, t := range tools {
		if name := t.Spec().Name; slices.Contains(names, name) && mayHave(name) {
			found = append(found, t.Tool)
		}
	}
	return found
}

// misspelt says which of names is none of a tool but like one; "" if none is. A name that is
// like no other may be that of a tool that comes later.
func misspelt(tools []api.OfferedTool, names []string) string {
	var known []string
	for _, t := range tools {
		known = append(known, t.Spec().Name)
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue // to look what is alike takes longer than all else that is done with a mode
		}
		if hint := suggest.Hint(name, known); hint != "" {
			return fmt.Sprintf("the tool %q, which there is not%s", name, hint)
		}
	}
	return ""
}

// lookingTools are those that stay active where nobody has the mode that is on: the
// program's own that change nothing, and what a hook has put in their place if it says that
// it only reads.
func lookingTools(tools []api.OfferedTool, mayHave func(name string) bool) []agent.Tool {
	return slices.DeleteFunc(named(tools, lookingNames(), mayHave), func(t agent.Tool) bool {
		return !agent.AnnotationsOf(t).ReadOnly
	})
}

// lookingNames are the program's own tools that change nothing.
func lookingNames() []string { return []string{"read", "grep", "find", "ls"} }

// offer gives the host the modes and tools in force, and returns what is to be told.
func (b *toolbox) offer(host api.Host) (warnings map[string]string) {
	tools := b.All()
	all, warnings := modes{b.roster, b.audience}.offered(tools, b.allows)
	host.Modes().Offer(context.Background(), all, lookingTools(tools, b.allows))
	return warnings
}
