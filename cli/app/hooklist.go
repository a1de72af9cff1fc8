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

// hookList is the list of hooks in a terminal with arrows.
type hookList struct {
	*hookCommands
	ctx   context.Context // dialogs in it stand above the list
	panel command.List
	said  string // what was done last
}

// pick shows the hooks until the user leaves the list, or asks for more than fits there.
// ok is false where there is no such list, or no hook.
func (h *hookCommands) pick(ctx context.Context) (status string, ok bool, err error) {
	p := &hookList{hookCommands: h}
	v := p.view(p.hooks())
	if len(v.Rows) == 0 {
		return "", false, nil
	}
	p.ctx, p.panel = command.OpenList(ctx, h.ui, v)
	if p.panel == nil {
		return "", false, nil
	}
	defer p.panel.Close()
	for {
		x, err := p.panel.Next()
		if err != nil || x.Key == "" {
			return p.said, true, err
		}
		status, ended, err := p.do(x)
		if err != nil && ctx.Err() == nil {
			status, err = err.Error(), nil
		}
		if err != nil || ended {
			return status, true, err
		}
		p.said = status
		p.panel.Show(p.view(p.hooks()))
	}
}

// do does what the user wants. ended is true if status is for the transcript.
func (p *hookList) do(x command.Pressed) (status string, ended bool, err error) {
	if x.Key == keyReload {
		return p.reload(p.ctx), false, nil
	}
	for _, hook := range p.hooks() {
		if hook.row.ID != x.Row {
			continue
		}
		way, ok, err := p.ui.Select(p.ctx, hook.row.Columns[0]+" · "+hook.row.Columns[1], agent.Choices(hook.ways...), agent.DialogOptions{})
		if err != nil || !ok || len(way) != 1 {
			return p.said, false, err
		}
		return p.act(hook, way[0])
	}
	return p.said, false, nil
}

// act does with a hook what the user has chosen.
func (p *hookList) act(hook listedHook, way string) (status string, ended bool, err error) {
	words := map[string]string{doApprove: "approve ", doEnable: "enable ", doDisable: "disable ", doTrace: "trace ", doUntrace: "trace "}
	switch way {
	case doDescribe:
		return strings.Join(hook.text, "\n"), true, nil
	case doLog:
		status, err = p.showLog(hook.name)
		return status, true, err
	case doReplay:
		status, err = p.replay(p.ctx, hook.name)
		return status, true, err
	case doUntrace:
		status, err = p.run(p.ctx, words[way]+hook.name+" off")
	default:
		status, err = p.run(p.ctx, words[way]+hook.name)
	}
	return status, false, err
}

// hooks are the rows of the list: the hooks in the order in which they run, then what
// waits for approval, then what is not approved.
func (p *hookList) hooks() (all []listedHook) {
	waiting := p.chain.Pending()
	for _, hook := range p.chain.Hooks() {
		all = append(all, rowOfHook(hook, waiting))
	}
	for _, w := range waiting {
		path := printable.VisibleLine(config.Tilde(w.Path))
		all = append(all, listedHook{name: w.Path, ways: []string{doApprove}, text: []string{path},
			row: command.Row{ID: "pending " + w.Path, Columns: []string{printable.VisibleLine(w.Name), "pending", string(w.Kind), path}, Description: "it was " + w.Change}})
	}
	for _, s := range p.skipped {
		path := printable.VisibleLine(config.Tilde(s.Path))
		all = append(all, listedHook{name: s.Name, ways: []string{doDescribe}, text: []string{path + " is not approved and does not run; `pi trust` shows and approves it"},
			row: command.Row{ID: "untrusted " + s.Path, Columns: []string{printable.VisibleLine(s.Name), "untrusted", string(s.Scope), path}, Description: "`pi trust` shows and approves it", Dim: true}})
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

// view is the list as it is now: below the title stands what was done last.
func (p *hookList) view(hooks []listedHook) command.ListView {
	v := command.ListView{Title: fmt.Sprintf("Hooks · %d", len(hooks)), Right: "type to filter", Enter: "choose", Keys: []command.ListKey{{Key: keyReload, Label: "reload all"}}}
	if p.said != "" {
		v.Title += "\n" + p.said
	}
	for _, hook := range hooks {
		v.Rows = append(v.Rows, hook.row)
	}
	return v
}
