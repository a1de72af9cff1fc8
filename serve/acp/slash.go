package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/printable"
)

// refusals say why commands do not run here. They need a terminal, or would put another
// session in the place of the one that the client knows.
func refusals() map[string]string {
	const (
		session  = "the client decides which session this is: begin or open one there"
		terminal = "it needs a terminal"
	)
	return map[string]string{
		"quit": "the client decides when this ends: close the session there", "exit": "the client decides when this ends: close the session there",
		"new": session, "clear": session, "resume": session, "branch": session, "fork": session,
		"tree": "the client shows one branch of the session; run pi in a terminal to move in its tree",
		"copy": terminal, "login": terminal + "; run pi in one, or put the key into the environment",
		"settings": terminal + "; the client shows what can be chosen here, and config.toml has the rest",
		"hotkeys":  terminal, "expand": terminal,
	}
}

// slash runs the commands of a session.
type slash struct{ session *session }

// advertised returns the commands that the client may offer.
func (x slash) advertised() (all []command.Command) {
	refused := refusals()
	for _, c := range x.session.run.Commands.All() {
		if _, no := refused[c.Name]; !no {
			all = append(all, c)
		}
	}
	return all
}

// advertise tells the client which commands there are, if they are others than it was told
// last or with always.
func (x slash) advertise(always bool) {
	u := commandsUpdate{SessionUpdate: "available_commands_update", Commands: []availableCommand{}}
	for _, c := range x.advertised() {
		shown := availableCommand{Name: c.Name, Description: printable.Line(c.Help)}
		if hint := printable.Line(c.Args); hint != "" {
			shown.Input = &commandInput{hint}
		}
		u.Commands = append(u.Commands, shown)
	}
	if x.session.shown.isNews("commands", u) || always {
		x.session.out.send(u)
	}
}

// isCommand reports whether a line is a command that the client may send, or one that is
// refused in words.
func (x slash) isCommand(line string) bool {
	if !strings.HasPrefix(line, "/") || !agent.IsCommandLine(line) {
		return false
	}
	name, _ := command.Split(line)
	if _, refused := refusals()[name]; refused {
		return true
	}
	if x.session.run.Commands.Refresh != nil && !x.isAdvertised(name) {
		x.session.run.Commands.Refresh()
	}
	return x.isAdvertised(name)
}

func (x slash) isAdvertised(name string) bool {
	return slices.ContainsFunc(x.advertised(), func(c command.Command) bool { return c.Name == name })
}

// command runs a command of the client. rest is what came with it, which goes along with
// the prompt that the command makes, if it makes one.
func (x slash) command(ctx context.Context, line string, rest []part) ending {
	name, _ := command.Split(line)
	if why, refused := refusals()[name]; refused {
		x.session.tellText(fmt.Sprintf("/%s is not available here: %s", name, why))
		return ending{reason: endTurn}
	}
	p := agent.Prompt{Text: line, Source: "acp"}
	return x.runCommand(x.session.agent().CommandContext(ctx, p), line, rest)
}

// runCommand runs a command, shows what it has to show, and asks the model what it wants to
// be asked.
func (x slash) runCommand(ctx context.Context, line string, rest []part) ending {
	outcome, err := x.session.run.Commands.Run(ctx, line)
	for _, text := range []string{outcome.Status, outcome.Draft} {
		if strings.TrimSpace(text) != "" {
			x.session.tellText(printable.Text(text))
		}
	}
	name, _ := command.Split(line)
	switch {
	case ctx.Err() != nil:
		return ending{reason: endWasCancelled}
	case errors.Is(err, agent.ErrCancelled):
		x.session.tellText(err.Error())
	case err != nil:
		return ending{err: failedWith(fmt.Errorf("/%s: %w", name, err))}
	case outcome.Prompt != nil:
		return x.session.ask(ctx, withParts(*outcome.Prompt, rest))
	}
	return ending{reason: endTurn}
}

// withParts adds what came along with a command to the prompt that it made.
func withParts(p agent.Prompt, parts []part) agent.Prompt {
	text, rest := assemble(parts)
	if strings.TrimSpace(text) != "" {
		p.Text = strings.TrimRight(p.Text, "\n") + "\n" + text
	}
	p.Attachments = append(p.Attachments, rest...)
	return p
}
