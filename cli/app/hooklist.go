package app

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks"
	"pi/luahooks/trust"
)

// What can be done with a row of the list of hooks.
const (
	doApprove  = "look at what was changed, and approve it"
	doEnable   = "enable it"
	doDisable  = "disable it until pi ends"
	doTrace    = "tell here and in the log of each event that it handles"
	doUntrace  = "tell no more of its events"
	doReplay   = "say what it would have done in this session so far"
	doLog      = "show what it logged"
	doDescribe = "show all there is to know about it"

	keyReload = "ctrl+r"
)

// listedHook is a row of the list of hooks: a hook, a change that waits for approval, or a
// hook of the project that is not approved.
type listedHook struct {
	row  command.Row
	name string
	ways []string
	text []string // all there is to know
}

// do does what the user wants in the list, see [actOnRows].
func (h *hookCommands) do(ctx context.Context, x command.Pressed, said string) (status string, ended bool, err error) {
	if x.Key == keyReload {
		return h.reload(ctx), false, nil
	}
	for _, hook := range h.listed() {
		if hook.row.ID != x.Row {
			continue
		}
		way, ok, err := h.ui.Select(ctx, hook.row.Columns[0]+" · "+hook.row.Columns[1], agent.Choices(hook.ways...), agent.DialogOptions{})
		if err != nil || !ok || len(way) != 1 {
			return said, false, err
		}
		return h.act(ctx, hook, way[0])
	}
	return said, false, nil
}

// act does with a hook what the user has chosen.
func (h *hookCommands) act(ctx context.Context, hook listedHook, way string) (status string, ended bool, err error) {
	words := map[string]string{doApprove: "approve ", doEnable: "enable ", doDisable: "disable ", doTrace: "trace ", doUntrace: "trace "}
	switch way {
	case doDescribe:
		return strings.Join(hook.text, "\n"), true, nil
	case doLog:
		status, err = h.showLog(hook.name)
		return status, true, err
	case doReplay:
		status, err = h.replay(ctx, hook.name)
		return status, true, err
	case doUntrace:
		status, err = h.run(ctx, words[way]+hook.name+" off")
	default:
		status, err = h.run(ctx, words[way]+hook.name)
	}
	return status, false, err
}

// hooks are the rows of the list: the hooks in the order in which they run, then what
// waits for approval, then what is not approved.
func (h *hookCommands) listed() (all []listedHook) {
	waiting := h.chain.Pending()
	for _, hook := range h.chain.Hooks() {
		all = append(all, rowOfHook(hook, waiting))
	}
	for _, w := range waiting {
		path := printable.VisibleLine(config.Tilde(w.Path))
		all = append(all, listedHook{name: w.Path, ways: []string{doApprove}, text: []string{path},
			row: command.Row{ID: "pending " + w.Path, Columns: []string{printable.VisibleLine(w.Name), "pending", string(w.Kind), path}, Description: "it was " + w.Change}})
	}
	for _, s := range append(h.skipped[:len(h.skipped):len(h.skipped)], h.chain.UnapprovedPackages()...) {
		path := printable.VisibleLine(config.Tilde(s.Path))
		all = append(all, listedHook{name: s.Name, ways: []string{doDescribe}, text: []string{path + " is not approved and does not run; " + untrustedWay(s)},
			row: command.Row{ID: "untrusted " + s.Path, Columns: []string{printable.VisibleLine(s.Name), "untrusted", string(s.Scope), path}, Description: untrustedWay(s), Dim: true}})
	}
	return all
}

// rowOfHook is a hook in the list.
func rowOfHook(hook luahooks.Info, waiting []trust.Pending) listedHook {
	state, details, path := hookState(hook, waiting), hookDetails(hook), printable.VisibleLine(config.Tilde(hook.Path))
	about := details[min(1, len(details)-1)] // what is wrong with it, if anything is
	ways := []string{doDisable, doTrace, doUntrace, doReplay}
	if state == "disabled" {
		ways = []string{doEnable}
	}
	return listedHook{name: hook.Name, ways: append(ways, doLog, doDescribe), text: append([]string{path + " · " + state}, details...),
		row: command.Row{ID: "hook " + hook.Path, Columns: []string{printable.VisibleLine(hook.Name), state, string(hook.Scope), path}, Description: about, Dim: state == "disabled"}}
}

// view is the list as it is now.
func (h *hookCommands) view() command.ListView {
	hooks := h.listed()
	v := command.ListView{Title: fmt.Sprintf("Hooks · %d", len(hooks)), Right: "type to filter", Enter: "choose", Keys: []command.ListKey{{Key: keyReload, Label: "reload all"}}}
	for _, hook := range hooks {
		v.Rows = append(v.Rows, hook.row)
	}
	return v
}
