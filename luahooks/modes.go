package luahooks

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luahooks/api"
)

// Of two hooks with a mode of the same name the first in the chain keeps the name, so that no
// later one, such as one of a project, can put a gate that lets more pass in the place of the
// person's own.

// modeOn returns the name of the mode that is on, and the hook that has it; "" if none is on,
// and nil if no hook has it.
func (d *dispatcher) modeOn() (name string, h *hook, mode *api.Mode) {
	if host := d.audience.hostNow(); host != nil {
		name = host.Modes().Current()
	}
	if name == "" {
		return "", nil, nil
	}
	for _, h := range d.roster.list() {
		if mode, ok := h.registered().Modes.Find(name); ok {
			return name, h, mode
		}
	}
	return name, nil, nil
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
// are, and returns what is to be told to the person, once each, by the names of the warnings.
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
func (b *toolbox) allowed(tools []api.OfferedTool, names []string) []agent.Tool {
	found := []agent.Tool{}
	for _, t := range tools {
		if name := t.Spec().Name; slices.Contains(names, name) && b.allows(name) {
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
