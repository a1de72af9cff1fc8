package foreign

import (
	"slices"
	"strings"

	"pi/stdlib/compat"
)

// Modules returns which modules for hooks of other programs have a name, as the end of a
// message: " (pi.compat.pi_v2 has it)", with the name as they write it where that is another one;
// "" if none has. of is "event" for the name of an event,
// or else what messages call the table that does not have the field: pi, ctx or ctx.ui.
func (n *Names) Modules(of, name string) string {
	var have []string
	written := ""
	for _, module := range compat.Names() {
		names := n.names(module)[of]
		if i := slices.IndexFunc(names, func(known string) bool { return plain(known) == plain(name) }); i >= 0 {
			have, written = append(have, module), names[i]
		}
	}
	as := ""
	if written != name && !n.isOurs(of, written) {
		as = " as " + written
	}
	switch len(have) {
	case 0:
		return ""
	case 1:
		return " (" + have[0] + " has it" + as + ")"
	}
	return " (" + strings.Join(have[:len(have)-1], ", ") + " and " + have[len(have)-1] + " have it" + as + ")"
}

// isOurs reports whether a table of this program has a name, which a message has named then.
func (n *Names) isOurs(of, name string) bool {
	for _, t := range tables() {
		if t.written == of {
			return slices.Contains(n.read().Names(n.read().Class(t.class)), name)
		}
	}
	return false
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
