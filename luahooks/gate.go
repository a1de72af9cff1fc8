package luahooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/event"
)

// The gates: a tool call, or a command of a shell, passes or does not run. A
// handler that fails, is late or cannot be asked any more blocks.

// gate asks the mode that is on, and then the handlers of the chain, about a tool call, so that
// nothing runs which one of them did not see. After a rewrite there is a second round: the handlers before the last
// rewriter see the final arguments, and of their answers only a block counts. The mode is that of
// the first round also if its hook is gone since, which blocks.
func (d *dispatcher) gate(ctx context.Context, spec *event.Spec, e *agent.ToolCall) error {
	name, h, mode := d.modeOn()
	// A call may have found its tool just before the gate of its mode was lost.
	if name != "" && h == nil && !(slices.Contains(lookingNames(), e.Name) && e.Annotations.ReadOnly) {
		e.Block, e.Reason = true, fmt.Sprintf("the session is in the mode %q, which no hook has here, so only %s work; a person has to choose another mode, or turn it off with /mode off", name, looking)
		return ctx.Err()
	}
	var first position
	if len(mode.Gate()) > 0 {
		first = position{hook: h, mode: name}
	}
	ds := d.newGateDispatch(ctx, spec, e, first, position{})
	ds.run()
	if e.Block || ds.asking.rewriter.hook == nil {
		return ctx.Err()
	}
	again := *e
	d.newGateDispatch(ctx, spec, &again, first, ds.asking.rewriter).run()
	if again.Block {
		e.Block, e.Reason, e.BlockedBy, e.Terminate = true, again.Reason, again.BlockedBy, again.Terminate
	}
	return ctx.Err()
}

// newGateDispatch returns the dispatch for a round of gate: to the gate of a mode, which is first, and
// the handlers of the chain in their order, until one blocks. It carries out each answer on e,
// notes the last handler that rewrote the arguments, and blocks where a handler fails, or where
// a gate of the hook is closed, which blocks without being asked. If until is a position, this is
// the second round: only the handlers before it are asked, all about the same arguments, so that
// rewrites are undone; every handler would have to see them again, which might never end. The
// gate of the mode is asked as if its hook were in the chain a second time.
func (d *dispatcher) newGateDispatch(ctx context.Context, spec *event.Spec, e *agent.ToolCall, first, until position) *dispatch {
	hooks, gateOf := d.roster.list(), first.mode
	if first.hook != nil {
		hooks = append([]*hook{first.hook}, hooks...)
	}
	return &dispatch{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: hooks, gateOf: gateOf, asking: asking{until: until},
		answered: func(ds *dispatch, err error) (stop bool) {
			a, e := &ds.asking, ds.event.(*agent.ToolCall)
			before := a.seen.(*agent.ToolCall)
			ds.apply(err)
			if err != nil {
				e.Block, e.BlockedBy, e.Reason = true, ds.hook.Name, failedGate(ds.hook, err)
			}
			if string(before.Input) != string(e.Input) {
				a.rewriter = position{ds.hook, ds.mode, a.last.in, ds.n}
			}
			if a.until.hook != nil {
				e.Input, e.RewrittenBy = before.Input, before.RewrittenBy
			}
			return e.Block
		},
		left: func(ds *dispatch) (stop bool) {
			e := ds.event.(*agent.ToolCall)
			if reason := ds.closedAt(agent.KindToolCall, e.Name); reason != "" {
				e.Block, e.BlockedBy, e.Reason = true, ds.hook.Name, reason
			}
			if ds.mode != "" && ds.hook.current().mode(ds.mode) == nil {
				e.Block, e.BlockedBy, e.Reason = true, ds.hook.Name, "hook "+ds.hook.File()+" does not have the mode "+ds.mode+" any more, so nobody can be asked"
			}
			return e.Block || ds.isAt(ds.asking.until)
		},
	}
}

func failedGate(h *hook, err error) string { return fmt.Sprintf("hook %s failed: %v", h.File(), err) }

// bash asks the handlers of the chain about a command that the user typed with !, until
// one gives a result in its place, or fails. As with tool calls a rewritten command goes back
// to the handlers before the last rewriter: of their answers only a result, or a failure,
// counts, for nothing runs then.
func (d *dispatcher) bash(ctx context.Context, spec *event.Spec, e *agent.UserBash) error {
	rewriter := d.bashRound(ctx, spec, e, position{})
	if isAnswered(e) || rewriter.hook == nil {
		return ctx.Err()
	}
	again := *e
	d.bashRound(ctx, spec, &again, rewriter)
	e.Result, e.Blocked = again.Result, again.Blocked
	return ctx.Err()
}

// isAnswered reports whether the command does not run.
func isAnswered(e *agent.UserBash) bool { return e.Result != nil || e.Blocked != "" }

// bashRound asks the handlers in their order until the command does not run, and returns the
// last one that rewrote it. If until is a position, only the handlers before it are asked.
func (d *dispatcher) bashRound(ctx context.Context, spec *event.Spec, e *agent.UserBash, until position) (rewriter position) {
	ds := &dispatch{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: d.roster.list(), asking: asking{until: until},
		answered: func(ds *dispatch, err error) (stop bool) {
			a, before := &ds.asking, ds.asking.seen.(*agent.UserBash)
			ds.apply(err)
			if err != nil {
				e.Blocked = failedGate(ds.hook, err)
			}
			if e.Command != before.Command {
				a.rewriter = position{hook: ds.hook, in: a.last.in, n: ds.n}
			}
			if a.until.hook != nil {
				e.Command = before.Command
			}
			return isAnswered(e)
		},
		left: func(ds *dispatch) (stop bool) {
			if reason := ds.closedAt(agent.KindUserBash, ""); reason != "" {
				e.Blocked = reason
			}
			return isAnswered(e) || ds.isAt(ds.asking.until)
		},
	}
	ds.run()
	return ds.asking.rewriter
}

// shell asks the handlers of the chain what a command is handed to in the place of the shell.
// The last one that says something counts; one that fails blocks.
func (d *dispatcher) shell(ctx context.Context, spec *event.Spec, e *agent.ShellCommand) error {
	ds := &dispatch{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: d.roster.list(),
		answered: func(ds *dispatch, err error) (stop bool) {
			if err != nil {
				e.Blocked = failedGate(ds.hook, err)
			}
			return ds.apply(err) || err != nil
		},
		left: func(ds *dispatch) (stop bool) {
			if reason := ds.closedAt(agent.KindShell, ""); reason != "" {
				e.Blocked = reason
			}
			return e.Blocked != ""
		},
	}
	ds.run()
	return ctx.Err()
}

// Of two hooks with a mode of the same name the first in the chain keeps the name, so that no
// later one, such as one of a project, can put a gate that lets more pass in the place of the
// user's own.

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

// closedAt says why a gate of the current hook blocks without being asked; "" if it does not. One
// that was closed when its handlers were looked for blocks also if it is open since: those that it
// has now were not asked. Where a hook did not load the tools that look go on, unless a hook
// put others in their place, which may do anything. tool is "" where the event is of none.
func (ds *dispatch) closedAt(kind agent.Kind, tool string) string {
	for _, closed := range []*closedGates{ds.closed, ds.hook.closed.Load()} {
		switch {
		case closed == nil || !slices.Contains(closed.kinds, kind):
		case closed.unloaded && slices.Contains(lookingNames(), tool) && ds.dispatcher.roster.tool(tool) == nil:
		default:
			return closed.reason
		}
	}
	return ""
}

// unloaded reports whether the gates of the hook are closed because it never loaded.
func (h *hook) unloaded() bool {
	closed := h.closed.Load()
	return closed != nil && closed.unloaded
}

// lookingNames are the program's own tools that change nothing, looking the same for a
// user. They go on where a hook did not load, or nobody has the mode that is on.
func lookingNames() []string { return []string{"read", "grep", "find", "ls"} }

const looking = "read, grep, find and ls"

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
		reason: fmt.Sprintf("hook %s did not load, so only %s work, and no command with !: %v; a person has to %s, or turn it off with /hooks disable %s",
			h.File(), looking, err, h.mending(), h.Name)})
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
// events are passed to the hook though it has no handler. At no moment are both the old ones and
// the new ones open.
func (r *roster) closeGates(h *hook, closed *closedGates) {
	r.countClosed(closed, 1)
	r.countClosed(h.closed.Swap(closed), -1)
}

// openGates makes the gates of a hook block no more without being asked.
func (r *roster) openGates(h *hook) { r.countClosed(h.closed.Swap(nil), -1) }

// countClosed adds n to what wants counts for closed gates; nil: there are none.
func (r *roster) countClosed(closed *closedGates, n int32) {
	if closed == nil {
		return
	}
	for _, kind := range closed.kinds {
		r.wanted[kind].Add(n)
	}
}

// gateWarning says what hooks that did not load mean, and what to do; "" if all loaded.
func (r *roster) gateWarning() string {
	var names, outs []string
	for _, h := range r.list() {
		if h.unloaded() {
			names = append(names, h.Name)
			outs = append(outs, fmt.Sprintf("%s, or turn it off: /hooks disable %s for this session, `disable = [%q]` in config.toml for good",
				h.mending(), h.Name, h.Name))
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
