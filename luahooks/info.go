package luahooks

import (
	"slices"
	"time"

	"pi/luahooks/api"
	"pi/luahooks/trust"
)

// Info is the state of one hook, for a person.
type Info struct {
	Name, Path string
	Scope      trust.Scope
	State      string // active, failed, pending, disabled
	Events     []string
	Commands   []string
	Tools      []string
	Others     []string // providers, modes, flags, shortcuts and renderers, such as "provider acme"
	LastError  string
	LastErrors int    // how often its line has failed
	Rejected   string // why the version saved last does not run, where another does
	Shuts      bool   // most tools, because it never loaded
	Dropped    int    // telling events that came faster than the hook handled them

	Calls, Errors int // of handlers, since the program began
	P50, P99      time.Duration
	Stats         []EventStats // of each event, by name
}

// info describes a hook; its path is shown as seen from dir.
func (h *hook) info(dir workdir, guard *trust.Guard) Info {
	h.mu.Lock()
	i := Info{Name: h.Name, Path: dir.shown(h.Path), Scope: h.Scope, State: "active", LastError: h.lastError, LastErrors: h.lastCount, Rejected: h.rejected, Shuts: h.unloaded(), Dropped: h.queue.lost()}
	disabled := h.disabled
	h.mu.Unlock()
	var all EventStats
	i.Stats, all = h.stats.list()
	i.Calls, i.Errors, i.P50, i.P99 = all.Calls, all.Errors, all.P50, all.P99
	in := h.current()
	switch {
	case disabled || h.off.Load():
		i.State = "disabled"
	case in == nil:
		i.State = "failed"
	default:
		i.add(&in.script.Registered)
		if guard.IsPending(h.Path) || slices.ContainsFunc(in.files(), guard.IsPending) {
			i.State = "pending"
		}
	}
	return i
}

// add adds to i the names of what a hook registered.
func (i *Info) add(r *api.Registered) {
	i.Events = r.Handlers.Events()
	for _, c := range r.Commands.All() {
		i.Commands = append(i.Commands, c.Name)
	}
	for _, t := range r.Tools.All() {
		i.Tools = append(i.Tools, t.Spec().Name)
	}
	for _, p := range r.Providers.All() {
		i.Others = append(i.Others, "provider "+p.Settings.Name)
	}
	for _, m := range r.Modes.All() {
		i.Others = append(i.Others, "mode "+m.Name)
	}
	for _, f := range r.Flags.All() {
		i.Others = append(i.Others, "--"+f.Name)
	}
	for _, s := range r.Shortcuts.All() {
		i.Others = append(i.Others, "key "+s.Name)
	}
	for _, r := range r.Renderers.All() {
		i.Others = append(i.Others, "renderer "+r.Name())
	}
	for _, c := range r.Completions.All() {
		i.Others = append(i.Others, "completion "+c.Prefix)
	}
	if len(r.Resources.All()) > 0 {
		i.Others = append(i.Others, "skills or templates")
	}
}
