package luahooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
)

// A gate that is gone must not become an open one. Where nobody can be asked
// because a hook was given up, its version in force is lost or its file does not
// load, the gate stays shut and says why and what to do.

// closedGates are the gates of a hook that block without being asked.
type closedGates struct {
	kinds  []agent.Kind
	reason string
	// unloaded: there never was a version that ran, so what the hook was for is not
	// known. It may have been a gate for anything, or a tool that was to stand in the
	// place of another one; only what looks and changes nothing goes on.
	unloaded bool
}

// gateKinds are the events at which a hook that says nothing blocks.
func gateKinds() []agent.Kind { return []agent.Kind{agent.KindToolCall, agent.KindUserBash} }

// shutAt says why a gate of the hook blocks without being asked; "" if it does not.
func (h *hook) shutAt(kind agent.Kind) string {
	if closed := h.shut.Load(); closed != nil && slices.Contains(closed.kinds, kind) {
		return closed.reason
	}
	return ""
}

// unloaded reports whether the gates of the hook are shut because it never loaded.
func (h *hook) unloaded() bool {
	closed := h.shut.Load()
	return closed != nil && closed.unloaded
}

// shutForTool is shutAt for the call of a tool.
func (c *Chain) shutForTool(h *hook, tool string) string {
	if h.unloaded() && c.onlyLooks(tool) {
		return ""
	}
	return h.shutAt(agent.KindToolCall)
}

// looking are the tools that go on where a hook did not load.
const looking = "read, grep, find and ls"

// onlyLooks reports whether a tool is one of looking. What a hook put in its place
// may do anything.
func (c *Chain) onlyLooks(tool string) bool {
	switch tool {
	case "read", "grep", "find", "ls":
		return c.ownerOf(tool) == nil
	}
	return false
}

// shutGates makes the gates of a hook that is given up block until its file
// changes. in is what ran.
func (c *Chain) shutGates(h *hook, in *instance) {
	if kinds := c.gatesOf(in); len(kinds) > 0 {
		c.shut(h, &closedGates{kinds: kinds,
			reason: "hook " + h.File() + " did not stop and is disabled, so its gate stays shut; change or remove its file to open it"})
	}
}

// shutLost makes a hook block whose version in force is lost: it may have been a
// gate, and the version that is there is not approved.
func (c *Chain) shutLost(h *hook) {
	c.shut(h, &closedGates{kinds: gateKinds(),
		reason: "hook " + h.File() + " waits for approval and the version in force is lost, so nobody can be asked; `pi trust` shows it"})
}

// shutUnloaded makes a hook block that has no version to run. Gates that are shut for
// another reason stay so, and what appeared in a running session changes nothing.
func (c *Chain) shutUnloaded(h *hook, err error) {
	if !h.counts || h.shut.Load() != nil && !h.unloaded() {
		return
	}
	c.shut(h, &closedGates{kinds: gateKinds(), unloaded: true,
		reason: fmt.Sprintf("hook %s did not load, so only %s work, and no command with !: %v; a person has to mend or remove it, or turn it off with /hooks disable %s",
			h.File(), looking, err, h.Name)})
}

// shutUnseen shuts the gates of hooks that count before they are loaded for the first
// time. c.changes is held.
func (c *Chain) shutUnseen(hooks []*hook) {
	for _, h := range hooks {
		if h.counts && h.sum == notLooked && h.shut.Load() == nil {
			c.shutUnloaded(h, errors.New("it is being loaded"))
		}
	}
}

// wayOut is what a person can do about a hook that does not load.
func wayOut(h *hook) string {
	return fmt.Sprintf("mend or remove %s, or turn it off: /hooks disable %s for this session, `disable = [%q]` in config.toml for good",
		h.File(), h.Name, h.Name)
}

// tellShut says at the start, once, what hooks that did not load mean, and what to
// do. c.changes is held.
func (c *Chain) tellShut(ctx context.Context) {
	var names, outs []string
	for _, h := range c.roster.list() {
		if h.unloaded() {
			names, outs = append(names, h.Name), append(outs, wayOut(h))
		}
	}
	if len(names) > 0 {
		c.audience.notify(ctx, agent.LevelError, fmt.Sprintf("until %s loads, only %s work, and no command with !: what was not loaded may be a gate. To go on, %s",
			strings.Join(names, " and "), looking, strings.Join(outs, "; ")))
	}
}

// gatesOf lists the gates that an instance registered.
func (c *Chain) gatesOf(in *instance) (kinds []agent.Kind) {
	for _, kind := range gateKinds() {
		if len(in.handlers(c.roster.events[kind].Name)) > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (c *Chain) shut(h *hook, closed *closedGates) {
	c.openGates(h)
	h.shut.Store(closed)
	for _, kind := range closed.kinds {
		c.roster.wanted[kind].Add(1)
	}
}

// openGates ends what shut did.
func (c *Chain) openGates(h *hook) {
	if closed := h.shut.Swap(nil); closed != nil {
		for _, kind := range closed.kinds {
			c.roster.wanted[kind].Add(-1)
		}
	}
}
