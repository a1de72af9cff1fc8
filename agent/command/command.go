// Package command is the registry of slash commands that every front end has.
//
// A [Command] is a value in a list; /help, completion and the list a program
// asks for are printed from it. A [Set] holds the program's own commands, whose
// names are reserved, and asks a function for those of hooks each time, so that
// a reload is seen. [Core] makes the commands that need no terminal:
//
//	/help  /model  /thinking  /new (/clear)  /resume  /branch (/fork)  /tree
//	/label  /undo  /redo  /compact  /uncompact  /name  /session
//	/context  /export  /tools
//
// [Set.Reads] tells a line that is a command from a text that begins with a slash, and
// [Set.Run] runs it. A name that nobody has is an [UnknownError],
// which a program that runs without a person turns into a usage error. What a
// hook did not let happen is a [CancelledError].
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pi/agent"
)

// Command is one slash command.
type Command struct {
	Name    string   // without the slash
	Aliases []string // other names for it
	Args    string   // for help, such as "[provider/id]"
	Help    string   // one line
	More    string   // further lines, for who asks about this command
	Title   string   // what the command does, for messages such as "… cancelled by hook"; "" for its name
	Hook    string   // the hook that brought it; "" for the program's own

	// Complete returns the candidates for the argument that starts with prefix;
	// nil if there is nothing to complete.
	Complete func(prefix string) []string

	// Run does it. args is the rest of the line, trimmed.
	Run func(ctx context.Context, args string) (Outcome, error)
}

// Outcome is what a command wants of the front end besides what it did.
type Outcome struct {
	Status string        // shown to the person
	Draft  string        // put into the prompt line; where there is none, shown
	Prompt *agent.Prompt // sent to the model
	Quit   bool
}

// Set is the commands there are. It is safe for concurrent use if the function
// for hook commands is.
type Set struct {
	builtin []Command
	hooks   func() []Command
	// Refresh brings the commands of hooks up to date; it is asked before a name is
	// called unknown, for its hook may just have been saved. It may be nil.
	Refresh func()
}

// NewSet returns a set of the program's own commands, and /help before them.
// hooks returns the commands of hooks at this moment; it may be nil. A hook
// command with the name of a built-in one cannot be reached.
func NewSet(builtin []Command, hooks func() []Command) *Set {
	s := &Set{hooks: hooks}
	s.builtin = append([]Command{s.help()}, builtin...)
	return s
}

// All lists the commands: the program's own, then those of hooks.
func (s *Set) All() []Command {
	all := s.builtin[:len(s.builtin):len(s.builtin)]
	if s.hooks == nil {
		return all
	}
	for _, c := range s.hooks() {
		if _, taken := find(s.builtin, c.Name); !taken {
			all = append(all, c)
		}
	}
	return all
}

// Lookup returns the command called name, without its slash.
func (s *Set) Lookup(name string) (Command, bool) { return find(s.All(), name) }

// lookupAgain is Lookup that looks for new commands before it gives up.
func (s *Set) lookupAgain(name string) (Command, bool) {
	c, ok := s.Lookup(name)
	if !ok && s.Refresh != nil {
		s.Refresh()
		c, ok = s.Lookup(name)
	}
	return c, ok
}

func find(commands []Command, name string) (Command, bool) {
	for _, c := range commands {
		if c.Name == name {
			return c, true
		}
	}
	for _, c := range commands {
		for _, alias := range c.Aliases {
			if alias == name {
				return c, true
			}
		}
	}
	return Command{}, false
}

// Run runs a line that begins with a slash. The error is an *[UnknownError] if
// there is no such command, a *[CancelledError] if a hook was against it, else
// what the command failed with.
func (s *Set) Run(ctx context.Context, line string) (Outcome, error) {
	name, args := Split(line)
	c, ok := s.lookupAgain(name)
	if !ok {
		return Outcome{}, s.unknown(name)
	}
	outcome, err := c.Run(ctx, args)
	if err != nil && errors.Is(err, agent.ErrCancelled) && c.Hook == "" {
		what := strings.ToUpper(name[:1]) + name[1:]
		if c.Title != "" && name == c.Name {
			what = c.Title
		}
		err = &CancelledError{What: what, Err: err}
	}
	return outcome, err
}

// Split divides a command line into the name without its slash and the rest,
// trimmed.
func Split(line string) (name, args string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "/")
	if i := strings.IndexAny(line, " \t\n"); i >= 0 {
		return line[:i], strings.TrimSpace(line[i:])
	}
	return line, ""
}

// Reads reports whether a line is a command rather than a prompt. Where its first word
// could be one and nobody has it, it is a text, unless it was probably meant for one:
// the name of a command is like it, or it is all there is. That is an *[UnknownError].
func (s *Set) Reads(line string) (isCommand bool, err error) {
	if !agent.IsCommandLine(line) {
		return false, nil
	}
	name, args := Split(line)
	if _, ok := s.lookupAgain(name); ok {
		return true, nil
	}
	if unknown := s.unknown(name); args == "" || len(unknown.Nearest) > 0 {
		return false, unknown
	}
	return false, nil
}

// CancelledError is a command that a hook did not let happen.
type CancelledError struct {
	What string // "New session"
	Err  error  // wraps agent.ErrCancelled
}

func (e *CancelledError) Error() string { return e.What + " cancelled by hook" }

func (e *CancelledError) Unwrap() error { return e.Err }

// UnknownError is a command that nobody has.
type UnknownError struct {
	Name    string
	Nearest []string // names that are much like it, the most alike first; may be empty
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown command /%s", e.Name) }

// Hint is the next step for the person.
func (e *UnknownError) Hint() string {
	if len(e.Nearest) > 0 {
		return fmt.Sprintf("did you mean /%s? /help lists the commands", strings.Join(e.Nearest, " or /"))
	}
	return "/help lists the commands"
}
