// Package command is the registry of slash commands that every front end has.
//
// A [Command] is a value in a list; /help, completion and the list a program
// asks for are printed from it. A [Set] holds the program's own commands, whose
// names are reserved, and asks a function for those of hooks each time, so that
// a reload is seen. [Core] makes the commands that need no terminal:
//
//	/help  /model  /thinking  /mode  /new (/clear)  /resume  /branch (/fork)  /tree
//	/label  /undo  /redo  /compact  /uncompact  /name  /session
//	/settings  /copy  /context  /export  /tools  /skills
//
// [Prompts] makes commands of prompt templates (/init and /review among them) and of
// skills (/skill:NAME): they become a prompt.
//
// A [Driver] does what a front end is handed: a command, else a prompt. [Set.Reads] tells a
// line that is a command from a text that begins with a slash, and [Set.Run] runs it. A name that nobody has is an [UnknownError],
// which a program that runs without a user turns into a usage error. What a
// hook did not let happen is a [CancelledError].
package command

import (
	"context"
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

// Provenance says which file a command of a hook, a template or a skill comes from, for
// programs; zero for the program's own.
type Provenance struct {
	Path      string // "": inside the program
	OfProject bool   // it came with the project, not from the user
	Named     bool   // the command line names it
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
