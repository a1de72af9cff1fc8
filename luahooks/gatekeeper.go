package luahooks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
)

// A gate that is gone must not become an open one: where nobody can be asked because
// a hook was given up, its version in force is lost or its file does not load, the
// gate stays closed and says why and what to do. Gates are closed and opened by who
// holds the chain's changes; reading needs no lock.

// closedGates are the gates of a hook that block without being asked.
type closedGates struct {
	kinds  []agent.Kind
	reason string
	// unloaded: there never was a version that ran, so what the hook was for is not
	// known. It may have been a gate for anything, or a tool that replaces
	// another one; only tools that look and change nothing go on.
	unloaded bool
}

// gateKinds are the events at which a hook that says nothing blocks.
func gateKinds() []agent.Kind {
	return []agent.Kind{agent.KindToolCall, agent.KindUserBash, agent.KindShell}
}

// closedAt says why a gate of the hook blocks without being asked; "" if it does not.
func (h *hook) closedAt(kind agent.Kind) string {
	if closed := h.closed.Load(); closed != nil && slices.Contains(closed.kinds, kind) {
		return closed.reason
	}
	return ""
}

// unloaded reports whether the gates of the hook are closed because it never loaded.
func (h *hook) unloaded() bool {
	closed := h.closed.Load()
	return closed != nil && closed.unloaded
}

// lookingNames are the program's own tools that change nothing, looking the same for a
// person. They go on where a hook did not load, or nobody has the mode that is on.
func lookingNames() []string { return []string{"read", "grep", "find", "ls"} }

const looking = "read, grep, find and ls"

// closedForTool says why a hook blocks a tool without being asked; "" if it does not.
// Where a hook did not load the tools that look go on, unless a hook put others in
// their place, which may do anything.
func (r *roster) closedForTool(h *hook, tool string) string {
	if h.unloaded() && slices.Contains(lookingNames(), tool) && r.tool(tool) == nil {
		return ""
	}
	return h.closedAt(agent.KindToolCall)
}

// closeDisabled makes the gates of a hook that is given up block until its file changes: the
// events for which in, the instance that ran, has handlers, if they are gates.
func (r *roster) closeDisabled(h *hook, in *instance) {
	var kinds []agent.Kind
	for _, kind := range gateKinds() {
		if len(in.handlers(r.events[kind].Name)) > 0 {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) > 0 {
		r.closeGates(h, &closedGates{kinds: kinds,
			reason: "hook " + h.File() + " did not stop and is disabled, so its gate stays shut; change or remove its file to open it"})
	}
}

// closeLost makes a hook block at all gates because there is no copy of its version in force:
// it may have been a gate, and the version on the disk is not approved.
func (r *roster) closeLost(h *hook) {
	r.closeGates(h, &closedGates{kinds: gateKinds(),
		reason: "hook " + h.File() + " waits for approval and the version in force is lost, so nobody can be asked; `pi trust` shows it"})
}

// closeUnloaded makes a hook block at all gates because its file did not load and no version
// of it runs. It does nothing if gates of the hook are closed for another reason, or if its
// file appeared only in the running session (hook.counts).
func (r *roster) closeUnloaded(h *hook, err error) {
	if !h.counts || h.closed.Load() != nil && !h.unloaded() {
		return
	}
	r.closeGates(h, &closedGates{kinds: gateKinds(), unloaded: true,
		reason: fmt.Sprintf("hook %s did not load, so only %s work, and no command with !: %v; a person has to mend or remove it, or turn it off with /hooks disable %s",
			h.File(), looking, err, h.Name)})
}

// closeNew closes the gates of hooks that may be gates (hook.counts) until they have been
// loaded for the first time.
func (r *roster) closeNew(hooks []*hook) {
	for _, h := range hooks {
		if h.counts && h.sum == notLooked && h.closed.Load() == nil {
			r.closeUnloaded(h, errors.New("it is being loaded"))
		}
	}
}

// closeGates replaces the closed gates of a hook, and counts them for wants, so that their
// events are passed to the hook though it has no handler.
func (r *roster) closeGates(h *hook, closed *closedGates) {
	r.openGates(h)
	h.closed.Store(closed)
	for _, kind := range closed.kinds {
		r.wanted[kind].Add(1)
	}
}

// openGates makes the gates of a hook block no more without being asked.
func (r *roster) openGates(h *hook) {
	if closed := h.closed.Swap(nil); closed != nil {
		for _, kind := range closed.kinds {
			r.wanted[kind].Add(-1)
		}
	}
}

// gateWarning says what hooks that did not load mean, and what to do; "" if all loaded.
func (r *roster) gateWarning() string {
	var names, outs []string
	for _, h := range r.list() {
		if h.unloaded() {
			names = append(names, h.Name)
			outs = append(outs, fmt.Sprintf("mend or remove %s, or turn it off: /hooks disable %s for this session, `disable = [%q]` in config.toml for good",
				h.File(), h.Name, h.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	load := "loads"
	if len(names) > 1 {
		load = "load"
	}
	return fmt.Sprintf("until %s %s, only %s work, and no command with !: what was not loaded may be a gate. To go on, %s",
		strings.Join(names, " and "), load, looking, strings.Join(outs, "; "))
}
