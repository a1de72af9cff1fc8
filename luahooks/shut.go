package luahooks

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"pi/agent"
)

// A gate that is gone must not become an open one. Where nobody can be asked
// because a hook was given up, its version in force is lost or its file does not
// load, the gate stays shut and says why and what to do.

// closedGates are the gates of a hook that block without being asked.
type closedGates struct {
	kinds    []agent.Kind
	reason   string
	unloaded bool // there never was a version that ran; the text of the file decides
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

// shutUnloaded makes a hook block that has no version to run and that was to be a
// gate, as far as its text can tell. Gates that are shut for another reason stay so.
func (c *Chain) shutUnloaded(h *hook, a attempt) {
	if closed := h.shut.Load(); closed != nil && !closed.unloaded {
		return
	}
	c.openGates(h)
	if kinds := c.gatesMeant(h, a); len(kinds) > 0 {
		c.shut(h, &closedGates{kinds: kinds, unloaded: true,
			reason: fmt.Sprintf("hook %s did not load, so its gate stays shut: %v; fix the file, or turn it off with /hooks disable %s or `disable` in config.toml",
				h.File(), a.err, h.Name)})
	}
}

// gatesOf lists the gates that an instance registered.
func (c *Chain) gatesOf(in *instance) (kinds []agent.Kind) {
	for _, kind := range gateKinds() {
		if len(in.registered(c.events[kind].name)) > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// gatesMeant lists the gates that the text of a hook names in quotes, or one of
// the modules that it got to before it failed, and those that it registered. A
// file that this program may not read can be any gate.
func (c *Chain) gatesMeant(h *hook, a attempt) []agent.Kind {
	kinds := c.gatesOf(h.tried)
	parts := []version{{code: a.code, err: a.err}}
	for path := range h.partPaths() {
		parts = append(parts, c.guard.read(path))
	}
	var texts [][]byte
	for _, part := range parts {
		if errors.Is(part.err, fs.ErrPermission) {
			return gateKinds()
		}
		texts = append(texts, part.code)
	}
	for _, kind := range gateKinds() {
		quoted := regexp.MustCompile(`["'\[]` + c.events[kind].name + `["'\]]`)
		if !slices.Contains(kinds, kind) && slices.ContainsFunc(texts, quoted.Match) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (c *Chain) shut(h *hook, closed *closedGates) {
	c.openGates(h)
	h.shut.Store(closed)
	for _, kind := range closed.kinds {
		c.wanted[kind].Add(1)
	}
}

// openGates ends what shut did.
func (c *Chain) openGates(h *hook) {
	if closed := h.shut.Swap(nil); closed != nil {
		for _, kind := range closed.kinds {
			c.wanted[kind].Add(-1)
		}
	}
}
