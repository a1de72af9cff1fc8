package app

import (
	"os"
	"time"

	"pi/internal/process"
	"pi/luahooks"
	"pi/luahooks/trust"
	"pi/session"

	"golang.org/x/term"
)

// Options are what the command line says of a run, and what the run needs of the
// program around it.
type Options struct {
	Print    bool   // print the answer and leave
	Mode     string // one of Modes; "": text without a user at the terminal
	Login    bool   // ask for a key and leave
	OwnFiles bool   // a client's files are left alone
	Plain    bool   // no colours
	Prompts  []string
	Model    string // as a user writes it: a reference, maybe with :level
	Provider string // that the model is of; alone: its default model
	Models   string // patterns with commas between them, instead of those of the settings; "": those
	Thinking string
	ModeName string // of a hook, that is on from the start; "": the one of the session
	APIKey   string // for the provider of the model that the run begins with
	Tools    ToolFlags
	Texts    TextFlags
	Session  SessionFlags
	Hooks    HookFlags
	NoMCP    bool // no servers but those of a client
	Limits   LimitFlags

	Version   string    // of the program
	Began     time.Time // when the program did
	Overdue   func()    // ends the process, which has not ended long after Limits.Time; nil: nothing does
	Env       Environment
	FlagNames []string                      // the program's own flags, for a suggestion
	Catch     func(func() error) error      // calls its argument and makes an error of a panic; nil: just calls it
	Broke     func(value any, stack []byte) // is told of a panic on another goroutine than that of Catch, and cancels the run; nil: the panic goes on
	// CatchInterrupts makes SIGINT end the run as other signals do. It is called where no user
	// sits at the terminal; nil: SIGINT stays what it is.
	CatchInterrupts func()
	Compiled        *luahooks.Compiled   // hooks of other runs in this process; nil: there are none
	ClientFiles     *trust.ClientFiles   // what clients wrote for other runs in this process; nil: there are none
	Watcher         *process.Watcher     // ends the commands of all runs in this process if that is killed; nil: nobody does
	Left            func(command string) // is told at the end of a session at the terminal how to go on with it; nil: nobody is
}

// LimitFlags say what a run may take until it is ended.
type LimitFlags struct {
	Time time.Duration // from Began on, without a user; 0: as long as it wants
	Cost float64       // of what it asks models for, in the currency of the prices; 0: no limit
}

// ToolFlags say which tools the model may have.
type ToolFlags struct {
	Named     []string // names and patterns of the only ones, or names behind + and - that change the default; nil: the default
	Excluded  []string // names and patterns
	None      bool
	NoBuiltIn bool // none of the program's but those of Named
}

// TextFlags say what of the texts that go to the model is read, and what is added.
type TextFlags struct {
	SystemPrompt string   // instead of that of the program
	AppendPrompt []string // behind it; texts, or names of files
	NoContext    bool     // no AGENTS.md and CLAUDE.md
	Skills       []string // files or folders besides those that are found
	NoSkills     bool     // none but those
	Templates    []string // likewise
	NoTemplates  bool
}

// SessionFlags say which session a run works on. At most one of Last, Resume, Ref and, unless
// Fork is set, ID is set, and at most one of Fork, ReadOnly and Wait.
type SessionFlags struct {
	Last     bool // the last of this directory
	Resume   Resume
	Ref      string // the beginning of an id, or a file that is begun if it is not there
	ID       string // the whole of it; a session of that id is begun if this directory has none
	Given    bool   // ID is one that was given to a client; that there is no such session yet goes without saying
	Name     string // that it gets; "": it keeps its own
	Fork     bool
	ReadOnly bool
	Wait     bool   // while another process has it
	Dir      string // where sessions are kept; "": as the settings say
	None     bool   // nothing is saved
}

// Resume is a session to go on with.
type Resume struct {
	Ref  string // the beginning of an id, or a file
	Pick bool   // the user picks one, and Ref is empty
}

// HookFlags say which hooks a run loads, and the flags that are for them.
type HookFlags struct {
	Files     []string // loaded besides those that are found
	None      bool     // only Files
	Approve   bool     // the project's run this once
	NoApprove bool     // the project's do not run, and nobody is asked
	Require   bool     // a project's hook that is not approved ends the run
	Given     GivenFlags
	// Judge says why a file of another project does not run, in a run that has no approvals of
	// its own; nil: the approvals say it.
	Judge func(path string, code []byte) error
}

// GivenFlags are flags that the program does not have, so a hook has to.
type GivenFlags struct {
	Values map[string]string
	Bare   map[string]bool // without a value of their own
}

// ModeJSON is the mode that writes all that happens as records.
const ModeJSON = "json"

// ModeRPC is the mode that serves programs.
const ModeRPC = "rpc"

// ModeACP is the mode that serves editors.
const ModeACP = "acp"

// Modes lists what --mode may say: how a run without a user at the terminal speaks.
func Modes() []string { return []string{"text", ModeJSON, ModeRPC, ModeACP} }

// Attended reports whether a user sits at the terminal. Without one nothing is asked there.
func (o Options) Attended() bool {
	return o.Mode == "" && !o.Print && term.IsTerminal(int(os.Stdin.Fd()))
}

// access returns how the flags want the session opened: to read, to copy, to wait for it,
// or else to write.
func (o SessionFlags) access() session.Access {
	switch {
	case o.ReadOnly:
		return session.ToRead
	case o.Fork:
		return session.ToCopy
	case o.Wait:
		return session.InTurn
	}
	return session.ToWrite
}
