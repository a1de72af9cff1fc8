package command

import (
	"context"
	"errors"
	"strings"

	"pi/agent"
)

// Set is the commands there are. It is safe for concurrent use if the function
// for hook commands is.
type Set struct {
	builtin []Command
	hooks   func() []Command
	prompts *Prompts // nil: there are none
	// Refresh brings the commands of hooks up to date; it is asked before a name is
	// called unknown, for its hook may just have been saved. It may be nil.
	Refresh func()

	// Front is what /help says of the front end. It may be nil.
	Front func() Front
}

// NewSet returns a set of the program's own commands, and /help before them.
// hooks returns the commands of hooks at this moment; it may be nil. A hook
// command with the name of a built-in one cannot be reached.
func NewSet(builtin []Command, hooks func() []Command) *Set {
	s := &Set{hooks: hooks}
	s.builtin = append([]Command{helpCommand(s)}, builtin...)
	return s
}

// AddPrompts adds the commands of templates and skills. They have no names that others
// have. It is called before the set is used.
func (s *Set) AddPrompts(p *Prompts) {
	s.prompts = p
	p.taken = func(name string) bool {
		_, taken := s.lookupCode(name)
		return taken
	}
}

// All lists the commands: the program's own, those of hooks, then templates and skills.
func (s *Set) All() []Command {
	all := s.builtin[:len(s.builtin):len(s.builtin)]
	for _, c := range s.ofHooks() {
		if _, taken := find(s.builtin, c.Name); !taken {
			all = append(all, c)
		}
	}
	return append(all, s.ofPrompts()...)
}

func (s *Set) ofHooks() []Command {
	if s.hooks == nil {
		return nil
	}
	return s.hooks()
}

func (s *Set) ofPrompts() []Command {
	if s.prompts == nil {
		return nil
	}
	return s.prompts.Commands()
}

// Lookup returns the command called name, without its slash. Templates and skills are
// only read if it is none of the others.
func (s *Set) Lookup(name string) (Command, bool) {
	c, ok := s.lookupCode(name)
	if !ok {
		c, ok = find(s.ofPrompts(), name)
	}
	return c, ok
}

// lookupCode returns the command called name of the program or of a hook.
func (s *Set) lookupCode(name string) (Command, bool) {
	c, ok := find(s.builtin, name)
	if !ok {
		c, ok = find(s.ofHooks(), name)
	}
	return c, ok
}

// lookupAgain is Lookup, but if there is no such command, it first calls Refresh, which
// may load new hooks, and looks once more.
func (s *Set) lookupAgain(name string) (Command, bool) {
	c, ok := s.Lookup(name)
	if !ok && s.Refresh != nil {
		s.Refresh()
		c, ok = s.Lookup(name)
	}
	return c, ok
}

// Run runs a line that begins with a slash. The error is an *[UnknownError] if
// there is no such command, a *[CancelledError] if a hook was against it, else
// what the command failed with.
func (s *Set) Run(ctx context.Context, line string) (Outcome, error) {
	name, args := Split(line)
	c, ok := s.lookupAgain(name)
	if !ok {
		return Outcome{}, unknown(name, s.All())
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

// Reads reports whether a line is to be run as a command. A line that begins like one, but
// with a name that no command has, is an ordinary prompt; only if it resembles a command
// or is nothing but that word, it is probably a mistake: then the error is an
// *[UnknownError].
func (s *Set) Reads(line string) (isCommand bool, err error) {
	if !agent.IsCommandLine(line) {
		return false, nil
	}
	name, args := Split(line)
	if _, ok := s.lookupAgain(name); ok {
		return true, nil
	}
	if unknown := unknown(name, s.All()); args == "" || len(unknown.Nearest) > 0 {
		return false, unknown
	}
	return false, nil
}
