// Package command is the registry of slash commands that every front end has.
//
// A [Command] is a value in a list; /help, completion and the list a program
// asks for are printed from it. A [Set] holds the program's own commands, whose
// names are reserved, and asks a function for those of hooks each time, so that
// a reload is seen. [Core] makes the commands that need no terminal:
//
//	/help  /model  /thinking  /mode  /new (/clear)  /resume  /branch (/fork)  /tree
//	/label  /undo  /redo  /compact  /uncompact  /name  /session
//	/settings  /copy  /context  /export  /tools  /skills  /agents
//
// [Prompts] makes commands of prompt templates (/init and /review among them), of
// skills (/skill:NAME) and of what else becomes a prompt (/mcp:SERVER:PROMPT).
//
// A [Driver] does what a front end is handed: a command, else a prompt. [Set.Reads] tells a
// line that is a command from a text that begins with a slash, and [Set.Run] runs it. A name
// that nobody has is an [UnknownError], which a program that runs without a user turns into a
// usage error. What a hook did not let happen is a [CancelledError].
//
// The registry is command.go, the driver driver.go, and core.go has the list and the short
// commands. The others are one file for what belongs together. A command that lets the user
// choose has a list that changes while it is open (list.go: [OpenList]; actonrows.go where one thing is done after the other), and
// asks with lines where there is none: treepick.go, sessionlist.go, model.go, settings.go and agents.go have both.
package command

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"pi/agent"
	"pi/internal/suggest"
)

// Command is one slash command.
type Command struct {
	Name    string   // without the slash
	Aliases []string // other names for it
	Args    string   // for help, such as "[provider/id]"
	Help    string   // one line
	More    string   // further lines, for who asks about this command
	Topic   Topic    // where /help lists it
	Title   string   // what the command does, for messages such as "… cancelled by hook"; "" for its name
	Hook    string   // the hook that brought it; "" for the program's own, and for prompts
	Origin  string   // where a template or skill comes from, for help; "" for all others
	From    Provenance

	// Unlisted commands are not in the list of /help, which would grow long of them.
	Unlisted bool

	// Complete returns the candidates for the argument that starts with prefix;
	// nil if there is nothing to complete.
	Complete func(prefix string) []string

	// Describe returns a few words on a candidate of Complete; "" if there is nothing to
	// add. It may be nil.
	Describe func(candidate string) string

	// Run does it. args is the rest of the line, trimmed.
	Run func(ctx context.Context, args string) (Outcome, error)
}

// IsSkill reports whether the command is a skill.
func (c Command) IsSkill() bool { return c.Origin != "" && strings.HasPrefix(c.Name, skillPrefix) }

// Kind says where the command comes from: "program", "hook", "template" or "skill".
func (c Command) Kind() string {
	switch {
	case c.IsSkill():
		return "skill"
	case c.Origin != "":
		return "template"
	case c.Hook != "":
		return "hook"
	}
	return "program"
}

// Provenance says which file a command of a hook, a template or a skill comes from, for
// programs; zero for the program's own.
type Provenance struct {
	Path      string // "": inside the program
	OfProject bool   // it came with the project, not from the user
	Named     bool   // the command line names it
}

// Outcome is what a command wants of the front end besides what it did.
type Outcome struct {
	Status string        // shown to the user
	Draft  string        // put into the prompt line; where there is none, shown
	Prompt *agent.Prompt // sent to the model
	Quit   bool
	Left   bool // a list was left with nothing chosen: who saw it need not be told by Status
}

// unchosen is the outcome of a list that the user has left with nothing chosen.
func unchosen(status string) Outcome { return Outcome{Status: status, Left: true} }

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
	for _, c := range s.hookCommands() {
		if _, taken := find(s.builtin, c.Name); !taken {
			all = append(all, c)
		}
	}
	return append(all, s.promptCommands()...)
}

func (s *Set) hookCommands() []Command {
	if s.hooks == nil {
		return nil
	}
	return s.hooks()
}

func (s *Set) promptCommands() []Command {
	if s.prompts == nil {
		return nil
	}
	return s.prompts.Commands()
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

// Lookup returns the command called name, without its slash. Templates and skills are
// only read if it is none of the others.
func (s *Set) Lookup(name string) (Command, bool) {
	c, ok := s.lookupCode(name)
	if !ok {
		c, ok = find(s.promptCommands(), name)
	}
	if !ok && s.prompts != nil && s.prompts.Named != nil {
		c, ok = s.prompts.Named(name)
	}
	return c, ok
}

// lookupCode returns the command called name of the program or of a hook.
func (s *Set) lookupCode(name string) (Command, bool) {
	c, ok := find(s.builtin, name)
	if !ok {
		c, ok = find(s.hookCommands(), name)
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

// find returns the command with this name or, if there is none, the first one with this
// alias.
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

// Split divides a command line into the name without its slash and the rest,
// trimmed.
func Split(line string) (name, args string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "/")
	if i := strings.IndexAny(line, " \t\n"); i >= 0 {
		return line[:i], strings.TrimSpace(line[i:])
	}
	return line, ""
}

// Words cuts the arguments of a command into words as a shell quotes them:
// 'as it is', "with \\" and \\\\", and a backslash before a single character.
// Nothing is expanded. A quote that is not closed goes to the end.
func Words(s string) []string {
	words := []string{}
	var w strings.Builder
	open, quote := false, rune(0)
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			if quote == '"' && r != '"' && r != '\\' {
				w.WriteByte('\\')
			}
			w.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			open, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			open, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			if open {
				words = append(words, w.String())
				w.Reset()
			}
			open = false
		default:
			open = true
			w.WriteRune(r)
		}
	}
	if escaped {
		w.WriteByte('\\')
	}
	if open {
		words = append(words, w.String())
	}
	return words
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

// Hint is the next step for the user.
func (e *UnknownError) Hint() string {
	if len(e.Nearest) > 0 {
		return fmt.Sprintf("did you mean /%s? /help lists the commands", strings.Join(e.Nearest, " or /"))
	}
	return "/help lists the commands"
}

const (
	nearAtMost  = 2 // changes between a name and one that it is like
	nearestTold = 3
)

// unknown returns the error for a name that no command has, with the names that it may be
// a misspelling or the beginning of, the nearest first.
func unknown(name string, commands []Command) *UnknownError {
	type alike struct {
		name string
		by   int
	}
	var found []alike
	for _, c := range commands {
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			d := suggest.Distance(name, known)
			if len(name) > 1 && strings.HasPrefix(known, name) {
				d = min(d, 1)
			}
			if d <= nearAtMost && d < len(name) {
				found = append(found, alike{known, d})
			}
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].by < found[j].by })
	e := &UnknownError{Name: name}
	for _, a := range found[:min(len(found), nearestTold)] {
		e.Nearest = append(e.Nearest, a.name)
	}
	return e
}

// HintOf returns the next step for the user that err knows: that of the outermost
// wrapped error with a method Hint() string; "" if there is none. Hints that name the
// means of one front end are added by that front end.
func HintOf(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}
