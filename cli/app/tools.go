package app

import (
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/tool"
	"pi/internal/suggest"
)

// onlyTools returns the names of the only tools that the command line allows; nil if it
// allows all.
func (o Options) onlyTools() []string {
	switch {
	case o.NoTools:
		return []string{}
	case o.Tools != nil:
		return slices.Clip(o.Tools)
	}
	return nil
}

// tools returns the tools of the program: those that the model gets, in the order of the
// settings or the command line, and the others, which hooks may activate. They share one
// state, such as which files were read.
func (p *Place) tools(o tool.Options) (active, others []agent.Tool) {
	names := p.Config.Tools.Active
	if only := p.onlyTools(); only != nil {
		names = only
	}
	// What they start is known, and what decides about hooks is not theirs to write.
	o.Started = p.Guard.NoteGroup
	o.Protect = []string{p.Guard.Store().Path(), p.Guard.Store().Dir()}
	byName := map[string]agent.Tool{}
	for _, t := range tool.All(o) {
		byName[t.Spec().Name] = t
		if !slices.Contains(names, t.Spec().Name) {
			others = append(others, t)
		}
	}
	for _, name := range names {
		if t := byName[name]; t != nil && !slices.Contains(active, t) {
			active = append(active, t)
		}
	}
	return active, others
}

// checkTools returns a usage error for a name in --tools that is no known tool, and leaves
// a warning for one in the settings.
func (p *Place) checkTools(known []string, later *messages) error {
	if unknown := unknownTool(p.Tools, known); unknown != "" {
		return UsageError{Err: fmt.Errorf("--tools: %s", unknown)}
	}
	if unknown := unknownTool(p.Config.Tools.Active, known); unknown != "" {
		later.warn("[tools] active: " + unknown)
	}
	return nil
}

// unknownTool returns a sentence about the first of names that no tool has; "" if all are
// known.
func unknownTool(names, known []string) string {
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		if hint := suggest.Hint(name, known); hint != "" {
			return fmt.Sprintf("there is no tool %q%s", name, hint)
		}
		return fmt.Sprintf("there is no tool %q; tools are %s", name, strings.Join(known, ", "))
	}
	return ""
}
