package command

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
)

func modeCommand(a *agent.Agent, ui agent.UI) Command {
	return Command{
		Name: "mode", Topic: TopicModel, Args: "[name]", Help: "choose a way to work, or list those that hooks bring; off leaves it",
		More:     "While a mode is on, its tools are the active ones, and its hook is asked before each call.\nA session that is resumed is in the mode that it was left in.",
		Complete: func(prefix string) []string { return withPrefix(append(modeNames(a)[1:], "off"), prefix) },
		Describe: func(name string) string { return describeMode(a, name) },
		Run: func(ctx context.Context, args string) (Outcome, error) {
			switch {
			case args != "":
				return setMode(ctx, a, args, agent.ModeByCommand)
			case ui.HasUI() && hasModes(a):
				return pickMode(ctx, a, ui)
			}
			return Outcome{Status: listModes(a)}, nil
		},
	}
}

// hasModes reports whether there is a mode to choose or to leave.
func hasModes(a *agent.Agent) bool { return len(a.Modes().List()) > 0 || a.Modes().Current() != "" }

// modeNames lists the modes that can be chosen; the first is to have none on.
func modeNames(a *agent.Agent) []string {
	names := []string{agent.NoMode}
	for _, m := range a.Modes().List() {
		names = append(names, m.Name)
	}
	return names
}

// shownMode is the mode that is on, by its name in lists.
func shownMode(a *agent.Agent) string {
	if name := a.Modes().Current(); name != "" {
		return name
	}
	return agent.NoMode
}

// describeMode says in a few words what a mode is; "" for one that does not say.
func describeMode(a *agent.Agent, name string) string {
	if agent.IsNoMode(name) {
		return "no mode"
	}
	for _, m := range a.Modes().List() {
		if m.Name == name {
			return m.Description
		}
	}
	return ""
}

// setMode turns a mode on, or off, and says which is on now.
func setMode(ctx context.Context, a *agent.Agent, name, source string) (Outcome, error) {
	if err := a.Modes().Select(ctx, name, source); err != nil {
		return Outcome{}, err
	}
	return Outcome{Status: "mode: " + marked(modeNames(a), shownMode(a))}, nil
}

// pickMode lets the user choose a mode.
func pickMode(ctx context.Context, a *agent.Agent, ui agent.UI) (Outcome, error) {
	now := shownMode(a)
	var choices []agent.Choice
	for _, name := range modeNames(a) {
		choices = append(choices, agent.Choice{Value: name, Description: describeMode(a, name)})
	}
	name, ok, err := selectOne(ctx, ui, "Mode (now "+now+")", choices, agent.DialogOptions{Default: []string{now}})
	if err != nil {
		return Outcome{}, err
	}
	if !ok {
		return unchosen("mode: still " + now), nil
	}
	return setMode(ctx, a, name, agent.ModeByCommand)
}

// listModes lists the modes, one a line, the one that is on in brackets.
func listModes(a *agent.Agent) string {
	if !hasModes(a) {
		return "there are no modes; hooks bring them (pi.mode)"
	}
	now := shownMode(a)
	var lines []string
	for _, name := range modeNames(a) {
		shown := name
		if name == now {
			shown = "[" + name + "]"
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-10s  %s", shown, describeMode(a, name)), " "))
	}
	if a.Modes().IsMissing() {
		lines = append(lines, fmt.Sprintf("%-10s  no hook has it here; only tools that look work", "["+now+"]"))
	}
	return strings.Join(lines, "\n")
}

// CycleMode turns the next mode on, behind the last one none, and says which is on now. Where
// there are no modes it is CycleThinking.
func CycleMode(ctx context.Context, a *agent.Agent) (Outcome, error) {
	if !hasModes(a) {
		return CycleThinking(ctx, a)
	}
	names, at := modeNames(a), -1 // one that is not among them is followed by the first, none
	for i, name := range names {
		if name == shownMode(a) {
			at = i
		}
	}
	return setMode(ctx, a, names[(at+1)%len(names)], agent.ModeByKey)
}
