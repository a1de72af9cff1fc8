// Package tool has the core tools of the agent: read, bash, edit, write,
// grep, find and ls.
//
// [All] builds them for one working directory. They have this in common:
//
//   - A path is relative to the working directory; ~ is the home directory and
//     a leading @ is dropped, unless a file of that name exists.
//   - With [Options.Confine], a path that leads out of the working directory,
//     symlinks followed, is refused with the real path it led to.
//   - A text for the model ends at 2000 lines or 50 KiB, in whole lines, and a
//     notice names the rest and how to get it.
//   - A returned error is addressed to the model: what was being done to what,
//     why it failed, what to try next.
//   - Everything stops when its context does, and everything may run at once:
//     changes of one file wait for each other.
//   - A file that has changed since the model last read, wrote or edited it in this
//     session is not replaced by write; edit says so.
//   - With [Options.Files], text below the working directory is read and written by a
//     front end, such as an editor, instead of the disk.
//
// Each tool has a Go file and, beside it, a text file that describes it to the
// model: the first line is its line in the system prompt, the rest its
// description, and the list at the end its guidelines.
//
// [RunShell] is the part of bash that a user's own command needs too.
//
// What the tools share: paths (path.go), files, with what the model knows of them (files.go,
// replace.go), the walk through a tree (search.go, pattern.go), and commands, whose output
// goes through a pump (shell.go, pump.go, output.go). An edit finds its places with match.go.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/filelock"
	"pi/internal/process"
)

// All returns the core tools: read, bash, edit, write, grep, find, ls. They
// know of each other's changes, so one set serves a whole program.
func All(o Options) []agent.Tool {
	k := newKit(o)
	return []agent.Tool{
		&tool[readArgs]{described("read", readText, readSchema), looks("read"), k.read},
		&tool[bashArgs]{described("bash", bashText, bashSchema), agent.Annotations{Destructive: true, OpenWorld: true, Kind: "execute"}, k.bash},
		&tool[editArgs]{described("edit", editText, editSchema), agent.Annotations{Destructive: true, Kind: "edit"}, k.edit},
		&tool[writeArgs]{described("write", writeText, writeSchema), agent.Annotations{Destructive: true, Kind: "edit"}, k.write},
		&tool[grepArgs]{described("grep", grepText, grepSchema), looks("search"), k.grep},
		&tool[findArgs]{described("find", findText, findSchema), looks("search"), k.find},
		&tool[lsArgs]{described("ls", lsText, lsSchema), looks("read"), k.ls},
	}
}

// looks are the annotations of a tool that changes nothing.
func looks(kind string) agent.Annotations { return agent.Annotations{ReadOnly: true, Kind: kind} }

// tool is one of them: run is called with the arguments of a call, decoded. Tools are
// pointers, which can be compared.
type tool[A any] struct {
	spec        func() llm.ToolSpec
	annotations agent.Annotations
	run         func(ctx context.Context, args A, update agent.Update) (agent.Result, error)
}

func (t *tool[A]) Spec() llm.ToolSpec { return t.spec() }

// Annotations says what the tool does.
func (t *tool[A]) Annotations() agent.Annotations { return t.annotations }

// Run decodes the arguments of a call and runs the tool. An error is for the model to
// read.
func (t *tool[A]) Run(ctx context.Context, input json.RawMessage, update agent.Update) (agent.Result, error) {
	var args A
	if err := json.Unmarshal(input, &args); err != nil {
		return agent.Result{}, fmt.Errorf("%s: the arguments cannot be read: %w", t.Spec().Name, err)
	}
	return t.run(ctx, args, update)
}

// Options say where and how the tools work. The zero value works in the
// current directory with bash and the program's own environment.
type Options struct {
	// Cwd is the working directory, absolute; "" is the one of the process.
	Cwd string

	// Home is what ~ means in paths; "" is the home directory of the process.
	Home string

	// Shell runs commands; "" is bash where it is installed, else sh.
	Shell string

	// Wrap is asked before each command. The command is the last argument of the program and
	// the arguments that it returns, instead of a shell; none, or a nil Wrap: a shell
	// runs it. With an error nothing runs.
	Wrap func(ctx context.Context, command string) (program []string, err error)

	// Env gives variables (NAME=value) that a command gets beside the ones of the
	// process. It is asked before each command; nil: there are none.
	Env func() []string

	// Locale gives the variables that put a locale which is not installed right,
	// see [NewLocale]; nil: each command finds out for itself.
	Locale func() []string

	// Confine keeps every tool but bash inside Cwd.
	Confine bool

	// Starting is called before each command is started, and what it returns as soon as that
	// was done, with its process group; 0: it was not started. nil: nobody is told.
	Starting func() (started func(group int))

	// Watcher ends commands that run when this program is killed; nil: nobody does.
	Watcher *process.Watcher

	// Protect are files and directories that edit and write refuse to touch.
	Protect []string

	// Secret are files that no tool touches that works on files: logins to servers.
	Secret []string

	// Files are those of a front end; the zero value has none.
	Files Files

	// ImageScale reports whether read makes smaller copies of images that are too
	// large for models; nil: it does not, and refuses such images.
	ImageScale func() bool

	// Locks are those of files that change, which hooks and other programs share; nil: only
	// the tools of the set wait for each other.
	Locks *filelock.Locks

	// Session is the id of the session that the tools work in, within which they
	// remember what the model has seen; nil: there is one.
	Session func() string

	// TempDir takes the full output of commands whose output was cut;
	// "" is the system's.
	TempDir string

	Grace time.Duration // between TERM and KILL for a command that is ended; 0: process.Grace
}

// kit is what the tools of one set share.
type kit struct {
	Options
	seen    *seen
	scaling sync.Mutex // held while an image is scaled, which takes much memory
}

// newKit returns an empty kit; the working directory is that of the process unless o
// names one.
func newKit(o Options) *kit {
	if o.Cwd == "" {
		// Without a working directory every relative path fails by itself.
		o.Cwd, _ = os.Getwd()
	}
	if o.Locks == nil {
		o.Locks = filelock.New("")
	}
	return &kit{Options: o, seen: &seen{files: map[string]fileState{}, links: map[string]string{}}}
}

// described returns the specification of a tool, which is read when somebody asks: that is many times
// before each request, or never.
func described(name, text, schema string) func() llm.ToolSpec {
	return sync.OnceValue(func() llm.ToolSpec { return specOf(name, text, schema) })
}

// specOf reads the specification of a tool out of its schema and its text: the first line
// is for the system prompt, the rest describes it, and the list at the end has its
// guidelines.
func specOf(name, text, schema string) llm.ToolSpec {
	snippet, rest, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	description, list, _ := strings.Cut(rest, "\nGuidelines:\n")
	s := llm.ToolSpec{
		Name: name, Label: name, Snippet: snippet,
		Description: strings.TrimSpace(description),
		Parameters:  json.RawMessage(schema),
	}
	for line := range strings.Lines(list) {
		if g, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			s.Guidelines = append(s.Guidelines, g)
		}
	}
	return s
}

// whole is an integer argument. JSON has no integers, so 5.0 is one too.
type whole int

// UnmarshalJSON accepts a number without a fraction.
func (w *whole) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f != float64(int(f)) {
		return fmt.Errorf("%s is not a whole number", b)
	}
	*w = whole(f)
	return nil
}

// or returns w, or def if w was not given.
func (w whole) or(def int) int {
	if w <= 0 {
		return def
	}
	return int(w)
}

// touched is the file at p, for front ends, under the name that the front end knows.
func (k *kit) touched(p location, line int) *agent.Touched {
	path, ok := k.frontPath(p)
	if !ok {
		path = p.path
	}
	return &agent.Touched{Path: path, Line: line}
}

// textResult is a result with details, which are {} when there is nothing to
// tell, so that a hook can index them without asking.
func textResult(text string, details any) agent.Result {
	r := agent.TextResult(text)
	r.Details, _ = json.Marshal(details) // structs of strings and numbers
	return r
}
