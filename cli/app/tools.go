package app

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/mcp"
	"pi/agent/tool"
	"pi/cli/mcplogin"
	"pi/internal/suggest"
)

// changes reports whether f only changes the default, with names behind + and -.
func (f ToolFlags) changes() bool {
	return len(f.Named) > 0 && !slices.ContainsFunc(f.Named, func(entry string) bool { return !isChange(entry) })
}

// isChange reports whether an entry of --tools adds to the default or takes from it.
func isChange(entry string) bool {
	return strings.HasPrefix(entry, "+") || strings.HasPrefix(entry, "-")
}

// Check returns a usage error if f cannot be understood.
func (f ToolFlags) Check() error {
	changes := 0
	for _, entry := range f.Named {
		if isChange(entry) {
			changes++
		}
	}
	if changes > 0 && changes < len(f.Named) {
		return UsageError{Err: fmt.Errorf("--tools %s: +NAME and -NAME change the default, and do not go together with names", strings.Join(f.Named, ","))}
	}
	for _, entry := range slices.Concat(f.Named, f.Excluded) {
		if _, err := path.Match(entry, ""); err != nil {
			return UsageError{Err: fmt.Errorf("tools: %q is no pattern", entry)}
		}
		if changes > 0 && isChange(entry) && strings.ContainsAny(entry, "*?[") {
			return UsageError{Err: fmt.Errorf("--tools %s: behind + and - stand names, no patterns", entry)}
		}
	}
	return nil
}

// fits reports whether a name is among entries, which are names and patterns.
func fits(name string, entries []string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool {
		ok, _ := path.Match(entry, name)
		return ok
	})
}

// removes reports whether f takes the tool with a name from the default: its last entry about
// it counts.
func (f ToolFlags) removes(name string) bool {
	removed := false
	for _, entry := range f.Named {
		if entry[1:] == name {
			removed = entry[0] == '-'
		}
	}
	return removed
}

// mayHave reports whether the model may have a tool at all, one of the program, of a hook or
// of a server. The tool by which it comes to those of servers it has while it may have one of
// them.
func (f ToolFlags) mayHave(name string) bool {
	switch {
	case f.None, fits(name, f.Excluded):
		return false
	case f.changes():
		return !f.removes(name)
	case f.Named == nil, fits(name, f.Named):
		return true
	case mcp.IsAnyOf(name):
		return fits(mcp.ToolName, f.Named) || slices.ContainsFunc(f.Named, func(entry string) bool { return mcp.Reaches(entry, name) })
	}
	return name == mcp.ToolName && slices.ContainsFunc(f.Named, mcp.IsName)
}

// active returns the names of the program's tools that the model gets, in their order. all
// are the program's, usual those of the settings.
func (f ToolFlags) active(all, usual []string) (names []string) {
	if f.NoBuiltIn {
		usual = nil
	}
	switch {
	case f.changes():
		names = slices.Clone(usual)
		for _, entry := range f.Named {
			if entry[0] == '+' && !slices.Contains(names, entry[1:]) {
				names = append(names, entry[1:])
			}
		}
	case f.Named != nil:
		for _, entry := range f.Named {
			for _, name := range all {
				if fits(name, []string{entry}) {
					names = append(names, name)
				}
			}
		}
	default:
		names = slices.Clone(usual)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !f.mayHave(name) })
}

// withGuard is starting, which may be nil, told to the guard as well.
func (p *Place) withGuard(starting func() func(group int)) func() func(group int) {
	if starting == nil {
		return p.Guard.Starting
	}
	return func() func(int) {
		note, tell := p.Guard.Starting(), starting()
		return func(group int) {
			note(group)
			tell(group)
		}
	}
}

// tools returns the tools of the program: those that the model gets, in the order of the
// settings or the command line, and the others, which hooks may activate. They share one
// state, such as which files were read.
func (p *Place) tools(o tool.Options) (active, others []agent.Tool) {
	// What they start is known, and what decides about hooks is not theirs to write.
	o.Starting = p.withGuard(o.Starting)
	o.Protect = []string{p.Guard.Store().Path(), p.Guard.Store().Dir()}
	o.Locks = p.Locks
	o.Secret = []string{filepath.Join(p.AgentDir, mcplogin.FileName)}
	byName := map[string]agent.Tool{}
	var all []string
	for _, t := range tool.All(o) {
		byName[t.Spec().Name] = t
		all = append(all, t.Spec().Name)
	}
	names := p.Tools.active(all, p.Config.Tools.Active)
	for _, name := range names {
		if t := byName[name]; t != nil && !slices.Contains(active, t) {
			active = append(active, t)
		}
	}
	for _, name := range all {
		if !p.Tools.NoBuiltIn && !slices.Contains(names, name) {
			others = append(others, byName[name])
		}
	}
	return active, others
}

// ProgramTools returns the tools of the program, for those who look at what they are and run
// none.
func (p *Place) ProgramTools() []agent.Tool {
	return tool.All(tool.Options{Cwd: p.Cwd, Locale: p.locale})
}

// checkTools returns a usage error for a name in --tools that is no known tool. It leaves a
// warning for one in the settings, and for a name or pattern that takes away nothing.
func (p *Place) checkTools(known []string, later *messages) error {
	var wanted, excluded []string
	for _, entry := range p.Tools.Named {
		switch {
		case strings.HasPrefix(entry, "-"):
			excluded = append(excluded, entry[1:])
		default:
			wanted = append(wanted, strings.TrimPrefix(entry, "+"))
		}
	}
	if unknown := unknownTool(wanted, known); unknown != "" {
		return UsageError{Err: fmt.Errorf("--tools: %s", unknown)}
	}
	if unknown := unknownTool(p.Config.Tools.Active, known); unknown != "" {
		later.warn("[tools] active: " + unknown)
	}
	for _, name := range append(excluded, p.Tools.Excluded...) {
		if unknown := unknownTool([]string{name}, known); unknown != "" {
			later.warn("nothing is excluded: " + unknown)
		}
	}
	return nil
}

// unknownTool returns a sentence about the first of names, which may be patterns, that no
// tool has; "" if all are known, or are those of servers.
func unknownTool(names, known []string) string {
	for _, name := range names {
		if name == mcp.ToolName || mcp.IsName(name) {
			continue // what servers have is known later
		}
		if slices.ContainsFunc(known, func(tool string) bool { return fits(tool, []string{name}) }) {
			continue
		}
		if hint := suggest.Hint(name, known); hint != "" {
			return fmt.Sprintf("there is no tool %q%s", name, hint)
		}
		return fmt.Sprintf("there is no tool %q; tools are %s", name, strings.Join(known, ", "))
	}
	return ""
}
