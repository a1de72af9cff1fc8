package main

import (
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/tool"
	"pi/internal/suggest"
)

// onlyTools are the names of the tools that the command line leaves, nil for all
// there are.
func (a *app) onlyTools() []string {
	switch {
	case a.noTools:
		return []string{}
	case a.options.tools != nil:
		return slices.Clip(a.options.tools)
	}
	return nil
}

// tools are the program's own: those that the model gets, in their order, and the
// others, which hooks may choose. All are of one set, for they mind what the others
// do to a file.
func (a *app) tools() (active, others []agent.Tool) {
	names := a.cfg.Tools.Active
	if only := a.onlyTools(); only != nil {
		names = only
	}
	byName := map[string]agent.Tool{}
	for _, t := range tool.All(a.modelToolOptions()) {
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

// checkTools refuses names on the command line that no tool has, of the program or
// a hook, and warns of those in the settings.
func (a *app) checkTools() error {
	known := a.chain.ToolNames()
	if unknown := unknownTool(a.options.tools, known); unknown != "" {
		return usageError{fmt.Errorf("--tools: %s", unknown)}
	}
	if unknown := unknownTool(a.cfg.Tools.Active, known); unknown != "" {
		a.warnings = append(a.warnings, "[tools] active: "+unknown)
	}
	return nil
}

// unknownTool says which of names no tool has, "" for none.
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
