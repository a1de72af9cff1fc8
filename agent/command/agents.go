package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/children"
	"pi/agent/definitions"
	"pi/internal/printable"
	"pi/internal/suggest"
)

// Agents are the agents that hooks use, as /agents needs them.
type Agents struct {
	// Working are those that work or wait, in the order in which they began.
	Working func() []*children.Child
	// Defined are those that can be used by a name.
	Defined func(ctx context.Context) definitions.Set
}

// What can be done with an agent that works.
const (
	agentRead  = "read"
	agentSteer = "steer"
	agentEnd   = "end"
)

func agentActions() []string { return []string{agentRead, agentSteer, agentEnd} }

// agentsCommand shows the agents that work, and those that can.
func agentsCommand(g *Agents, ui agent.UI) Command {
	c := agentsInUse{g, ui}
	return Command{
		Name: "agents", Topic: TopicModel, Args: "[name | read|end name | steer name text]", Help: "list the agents that hooks have at work, and those that they can use",
		More: "read shows what was said to one that works and what it did so far, steer gives it a message, end ends it.\n" +
			"An agent is a file: agents/NAME.md in the agent directory, ~/.claude/agents, .pi/agents, .claude/agents (docs/agents.md).",
		Complete: c.complete,
		Describe: c.describe,
		Run: func(ctx context.Context, args string) (Outcome, error) {
			if args == "" {
				if status, ok, err := ActOnRows(ctx, ui, RowActions{View: c.viewer(ctx), Do: c.do, Refresh: time.Second}); ok {
					return Outcome{Status: status, Left: status == ""}, err
				}
			}
			status, err := c.run(ctx, args)
			return Outcome{Status: status}, err
		},
	}
}

// agentsInUse is what /agents works on.
type agentsInUse struct {
	*Agents
	ui agent.UI
}

// complete returns what the words behind /agents can become: an action or an agent, or behind an
// action one that works.
func (c agentsInUse) complete(prefix string) []string {
	action, _, second := strings.Cut(prefix, " ")
	var words []string
	if !second {
		words = append(agentActions(), c.Defined(context.Background()).Names()...)
	}
	for _, child := range c.Working() {
		name := child.Identity().Name
		switch {
		case second && slices.Contains(agentActions(), action):
			words = append(words, action+" "+name)
		case !second && !slices.Contains(words, name):
			words = append(words, name)
		}
	}
	return withPrefix(words, prefix)
}

// describe says what a candidate of complete is.
func (c agentsInUse) describe(candidate string) string {
	switch candidate {
	case agentRead:
		return "what was said to one that works, and what it did"
	case agentSteer:
		return "give one that works a message"
	case agentEnd:
		return "end one that works"
	}
	action, name, second := strings.Cut(candidate, " ")
	if !second {
		name = action
	}
	if child := c.find(name); child != nil {
		return child.State().Doing
	}
	return ""
}

// find returns the agent that works under a name; nil for none.
func (c agentsInUse) find(name string) *children.Child {
	all := c.Working()
	i := slices.IndexFunc(all, func(child *children.Child) bool { return child.Identity().Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// run carries out /agents and returns the text for the user.
func (c agentsInUse) run(ctx context.Context, args string) (string, error) {
	action, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case args == "":
		return c.table(ctx), nil
	case rest == "" || !slices.Contains(agentActions(), action):
		return c.show(ctx, args)
	}
	child, text := c.named(rest)
	if child == nil {
		return "", c.notAtWork(rest)
	}
	if action != agentSteer && text != "" {
		return "", fmt.Errorf("/agents %s wants the name of an agent and nothing else", action)
	}
	return c.act(ctx, child, action, text)
}

// named returns the agent that works whose name words begin with, the longest one if there are
// several, and what follows; nil for none.
func (c agentsInUse) named(words string) (found *children.Child, rest string) {
	longest := -1
	for _, child := range c.Working() {
		name := child.Identity().Name
		after, ok := strings.CutPrefix(words, name)
		if ok && (after == "" || after[0] == ' ') && len(name) > longest {
			found, rest, longest = child, strings.TrimSpace(after), len(name)
		}
	}
	return found, rest
}

// notAtWork says that no agent works under the name that words begin with.
func (c agentsInUse) notAtWork(words string) error {
	var names []string
	for _, child := range c.Working() {
		names = append(names, child.Identity().Name)
	}
	name, _, _ := strings.Cut(words, " ")
	return fmt.Errorf("no agent %q is at work%s", printable.Line(name), suggest.Hint(name, names))
}

// act does something with an agent that works, and says what.
func (c agentsInUse) act(ctx context.Context, child *children.Child, action, text string) (string, error) {
	name := child.Identity().Name
	switch action {
	case agentSteer:
		if text == "" {
			return "", errors.New("/agents steer NAME TEXT: the text is missing")
		}
		if err := child.Steer(ctx, text); err != nil {
			return "", err
		}
		return name + " gets it before its next request", nil
	case agentEnd:
		child.Abort()
		return name + " is being ended", nil
	}
	return agentTranscript(child), nil
}

// show tells about one agent: how far it is if it works, and what defines it.
func (c agentsInUse) show(ctx context.Context, name string) (string, error) {
	var parts []string
	if child := c.find(name); child != nil {
		parts = append(parts, strings.Join(agentRows([]*children.Child{child}), "\n"))
	}
	set := c.Defined(ctx)
	d, err := set.Find(name)
	switch {
	case d.Name != "":
		parts = append(parts, definitionText(d, set))
	case len(parts) == 0:
		return "", err
	}
	return strings.Join(parts, "\n\n"), nil
}

// table lists the agents that work, then those that can be used, then what is wrong with them.
func (c agentsInUse) table(ctx context.Context) string {
	var parts []string
	if working := c.Working(); len(working) > 0 {
		parts = append(parts, strings.Join(agentRows(working), "\n"))
	}
	set := c.Defined(ctx)
	if len(set.All) > 0 {
		parts = append(parts, strings.Join(definitionRows(set.All), "\n"))
	}
	if len(parts) == 0 {
		parts = append(parts, "no agents; a file NAME.md is one, in agents/ of the agent directory, ~/.claude/agents, .pi/agents, .claude/agents")
	}
	if problems := problemRows(set); len(problems) > 0 {
		parts = append(parts, strings.Join(problems, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

// The ids of rows begin with these.
const (
	rowAtWork  = "works "
	rowDefined = "file "
)

// viewer returns what makes the list: those that work, then those that can be used, which are read
// once, as the list is opened.
func (c agentsInUse) viewer(ctx context.Context) func() ListView {
	set := c.Defined(ctx)
	return func() ListView {
		working := c.Working()
		v := ListView{Title: fmt.Sprintf("Agents · %d at work", len(working)), Right: "type to filter", Enter: "choose"}
		for _, child := range working {
			s := child.State()
			v.Rows = append(v.Rows, Row{ID: rowAtWork + s.Name, Columns: []string{shownAgent(s), printable.Cut(s.Doing, mostDoing), usedTokens(s), printable.Seconds(s.Ran), usedCost(s)}})
		}
		for _, d := range set.All {
			row := Row{ID: rowDefined + d.Path, Columns: []string{d.Name, d.From}, Description: d.Description, Search: d.Long}
			if d.Err != nil {
				row.Description, row.Dim = printable.VisibleLine(d.Err.Error()), true
			}
			v.Rows = append(v.Rows, row)
		}
		return v
	}
}

// do does what the user wants with a row of the list, see [RowActions].
func (c agentsInUse) do(ctx context.Context, x Pressed, said string) (status string, ended bool, err error) {
	if path, ok := strings.CutPrefix(x.Row, rowDefined); ok {
		set := c.Defined(ctx)
		i := slices.IndexFunc(set.All, func(d definitions.Definition) bool { return d.Path == path })
		if i < 0 {
			return "it is gone", false, nil
		}
		return definitionText(set.All[i], set), true, nil
	}
	child := c.find(strings.TrimPrefix(x.Row, rowAtWork))
	if child == nil {
		return "it has ended", false, nil
	}
	choices := []agent.Choice{{Value: agentRead, Description: "what was said to it, and what it did so far"},
		{Value: agentSteer, Description: "give it a message before its next request"}, {Value: agentEnd, Description: "it stops at once"}}
	action, ok, err := selectOne(ctx, c.ui, child.Identity().Name+" · "+printable.Cut(child.State().Doing, mostDoing), choices, agent.DialogOptions{})
	if err != nil || !ok {
		return said, false, err
	}
	text := ""
	if action == agentSteer {
		text, ok, err = c.ui.Input(ctx, "What to tell "+child.Identity().Name, "", agent.DialogOptions{})
		if text = strings.TrimSpace(text); err != nil || !ok || text == "" {
			return said, false, err
		}
	}
	status, err = c.act(ctx, child, action, text)
	return status, action == agentRead, err
}

// mostDoing is how many characters a list shows of what an agent does.
const mostDoing = 60

// shownAgent is the name of an agent with its place in the tree.
func shownAgent(s children.State) string {
	return strings.Repeat("  ", max(s.Depth-1, 0)) + s.Name
}

// usedTokens says how many tokens an agent has used.
func usedTokens(s children.State) string {
	return printable.Grouped(s.Usage.ContextTokens()) + " tokens"
}

// usedCost says what an agent has cost.
func usedCost(s children.State) string {
	if s.Usage.Cost.Total == 0 && !s.Priced {
		return "cost unknown"
	}
	return cost(agent.Totals{Usage: s.Usage, Priced: s.Priced})
}
