package foreign

import (
	"slices"
	"strings"

	"pi/stdlib/compat"
)

// Modules returns which modules for hooks of other programs have a name, as the end of a
// message: " (pi.compat.pi_v2 has it)"; "" if none has. of is "event" for the name of an event,
// or else what messages call the table that does not have the field: pi, ctx or ctx.ui.
func (n *Names) Modules(of, name string) string {
	var have []string
	for _, module := range compat.Names() {
		if slices.ContainsFunc(n.names(module)[of], func(known string) bool { return plain(known) == plain(name) }) {
			have = append(have, module)
		}
	}
	switch len(have) {
	case 0:
		return ""
	case 1:
		return " (" + have[0] + " has it)"
	}
	return " (" + strings.Join(have[:len(have)-1], ", ") + " and " + have[len(have)-1] + " have it)"
}

// names are what a module has of events, pi, ctx and ctx.ui; nothing if it cannot be read.
func (n *Names) names(module string) map[string][]string {
	about := n.systems()[module]
	names := map[string][]string{"pi": about.Members, "ctx": about.Context, "ctx.ui": about.UI}
	for _, e := range about.Events {
		names["event"] = append(names["event"], e.Name)
	}
	return names
}

// describeAll describes all modules for hooks of other programs.
func describeAll() map[string]compat.About {
	all := map[string]compat.About{}
	for _, module := range compat.Names() {
		if about, err := compat.Describe(module); err == nil {
			all[module] = about
		}
	}
	return all
}
