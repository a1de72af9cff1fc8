package command

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
)

// Line is what a text comes to that was handed in.
type Line struct {
	agent.Prompt // what is to be sent, or the command
	Is           LineKind
	Err          error // why it is not to be sent, if it is RefusedLine
}

// LineKind is what a line was read as.
type LineKind uint8

const (
	TextLine    LineKind = iota // for the model
	CommandLine                 // a command, a template or a skill
	HandledLine                 // a hook did it, or the user has interrupted the hook
	RefusedLine                 // it looks like a command and is none
)

// ReadLine finds out what p is. Where that is no command of the program or of a hook, listeners to
// the event line see it first, once; behavior is that of [agent.Agent.AskLine]. A text that they
// put in its place may be a template or a skill, and no other command. The error of a line that
// is refused is an *[UnknownError].
func (d Driver) ReadLine(ctx context.Context, p agent.Prompt, behavior string) Line {
	isCommand, unknown := d.IsCommand(p)
	if isCommand && d.Commands.isCode(p.Text) {
		return Line{Prompt: p, Is: CommandLine}
	}
	switch heard := d.Agent.AskLine(ctx, p, behavior); {
	case heard == nil:
	case heard.Handled || ctx.Err() != nil:
		return Line{Prompt: p, Is: HandledLine}
	case heard.Command != "":
		return d.instead(p, heard)
	default:
		p.Attachments = heard.Attachments
		if heard.Text != p.Text {
			p.Text, p.Literal = heard.Text, true
			isCommand, unknown = d.Commands.isPrompt(p.Text), nil
		}
	}
	switch {
	case unknown != nil:
		return Line{Prompt: p, Is: RefusedLine, Err: unknown}
	case isCommand:
		p.Literal = false
		return Line{Prompt: p, Is: CommandLine}
	}
	return Line{Prompt: p}
}

// instead is the command that a hook has put in the place of a line. A user has typed the line,
// but what the command sends is that hook's.
func (d Driver) instead(p agent.Prompt, heard *agent.Line) Line {
	name, _ := Split(heard.Command)
	if _, ok := d.Commands.lookupAgain(name); !ok || !agent.IsCommandLine(heard.Command) {
		err := fmt.Errorf("hook %s: line: %w", heard.CommandBy, unknown(name, d.Commands.All()))
		return Line{Prompt: p, Is: RefusedLine, Err: err}
	}
	d.Agent.ResetBrake(p.Origin)
	p.Text, p.Attachments, p.Literal = heard.Command, heard.Attachments, false
	p.Origin = agent.Origin{Kind: agent.FromHook, Hook: heard.CommandBy, Path: heard.CommandAt, Limit: heard.Limit}
	return Line{Prompt: p, Is: CommandLine}
}

// isCode reports whether a line that is a command is one of the program or of a hook.
func (s *Set) isCode(line string) bool {
	name, _ := Split(line)
	_, ok := s.lookupCode(name)
	return ok
}

// EndsWork reports whether a line is a command of the program that ends the work of the agent: a
// user is asked first.
func EndsWork(line string) bool {
	name, _ := Split(line)
	return slices.Contains([]string{"compact", "uncompact", "new", "clear", "resume", "branch", "fork", "tree", "undo", "redo", "quit", "exit"}, name)
}

// isPrompt reports whether a text names a template or a skill.
func (s *Set) isPrompt(text string) bool {
	isCommand, err := s.Reads(text)
	return isCommand && err == nil && !s.isCode(text)
}
