package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"pi/agent"
)

// Core returns the commands that every front end has.
func Core(o Options) []Command {
	if o.UI == nil {
		o.UI = agent.NoUI{}
	}
	commands := []Command{modelCommand(o), thinkingCommand(o.Agent, o.UI), modeCommand(o.Agent, o.UI), newCommand(o)}
	if o.Sessions != nil {
		commands = append(commands, resumeCommand(o))
	}
	commands = append(commands, branchCommand(o), treeCommand(o), labelCommand(o.Agent), undoCommand(o.Agent), redoCommand(o.Agent),
		compactCommand(o.Agent), uncompactCommand(o.Agent))
	if o.Settings != nil {
		commands = append(commands, settingsCommand(o.Settings, o.UI))
	}
	if o.Copy != nil {
		commands = append(commands, copyCommand(o.Agent, o.Copy))
	}
	commands = append(commands, nameCommand(o.Agent), sessionCommand(o.Agent), contextCommand(o), exportCommand(o.Agent), toolsCommand(o.Agent))
	if o.Prompts != nil {
		commands = append(commands, skillsCommand(o.Prompts))
	}
	return commands
}

func newCommand(o Options) Command {
	return Command{
		Name: "new", Topic: TopicSession, Aliases: []string{"clear"}, Help: "leave this session and start an empty one", Title: "New session",
		Run: withoutArgument("new", func(ctx context.Context) (Outcome, error) {
			if leave, err := o.mayLeave(ctx); err != nil || !leave {
				return o.stays(), err
			}
			return o.beginNew(ctx)
		}),
	}
}

// beginNew leaves the session for an empty one.
func (o Options) beginNew(ctx context.Context) (Outcome, error) {
	left := o.Agent.Session()
	if err := o.Agent.NewSession(ctx, agent.NewSessionOptions{}); err != nil {
		return Outcome{}, err
	}
	status := "new session " + o.Agent.Session().ID()
	if left.File() != "" {
		status += ", left " + left.ID()
	}
	return Outcome{Status: status}, nil
}

func toolsCommand(a *agent.Agent) Command {
	return Command{
		Name: "tools", Topic: TopicModel, Help: "list the active tools, and what they say of what they do",
		Run: func(context.Context, string) (Outcome, error) {
			var lines []string
			width := 0
			for _, t := range a.Tools() {
				width = max(width, len(t.Spec().Name))
			}
			for _, t := range a.Tools() {
				spec := t.Spec()
				line, _, _ := strings.Cut(cmp.Or(spec.Snippet, spec.Description), "\n")
				if says := agent.AnnotationsOf(t).String(); says != "" {
					line += " (" + says + ")"
				}
				lines = append(lines, fmt.Sprintf("%-*s  %s", width, spec.Name, line))
			}
			if len(lines) == 0 {
				return Outcome{Status: "no tools are active"}, nil
			}
			return Outcome{Status: strings.Join(lines, "\n")}, nil
		},
	}
}
