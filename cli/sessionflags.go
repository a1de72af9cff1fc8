package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/session"

	"github.com/spf13/pflag"
)

// bareValue is what the flag library gives a flag whose value is left out.
const bareValue = "true"

// resumeFlag is --resume, whose value may be left out.
type resumeFlag struct{ *app.Resume }

func (r resumeFlag) String() string { return "" }
func (r resumeFlag) Type() string   { return "bool" } // so that help shows no value that may be left out

// Set stores the value of --resume: a session, or bareValue, which stands for the flag
// without a value.
func (r resumeFlag) Set(value string) error {
	if value == "" {
		return errors.New("the session has no name")
	}
	r.Pick, r.Ref = value == bareValue, value
	if r.Pick {
		r.Ref = ""
	}
	return nil
}

// forkFlag is --fork: a switch beside a flag that names the session, or with the session as its
// value.
type forkFlag struct {
	given bool
	ref   string // "": another flag names the session
}

func (f *forkFlag) String() string { return "" }
func (f *forkFlag) Type() string   { return "bool" }

// Set stores the value of --fork: a session, or bareValue.
func (f *forkFlag) Set(value string) error {
	if value == "" {
		return errors.New("the session has no name")
	}
	f.given, f.ref = true, value
	if value == bareValue {
		f.ref = ""
	}
	return nil
}

// sessionFlagRows are the flags that say which session a run works on, and how.
func sessionFlagRows(o *app.Options) []flagRow {
	return []flagRow{
		{name: "continue", short: "c", to: &o.Session.Last, text: "go on with the last session of this directory"},
		{name: "resume", short: "r", to: resumeFlag{&o.Session.Resume}, optional: true, values: orFiles(sessionValues(o)), text: "go on with a session: the beginning of its `ID`, or its file; without, you pick one",
			more: "To pick takes a terminal."},
		{name: "session", to: &o.Session.Ref, values: orFiles(sessionValues(o)), text: "as --resume; a `FILE` that is not there is begun"},
		{name: "session-id", to: &o.Session.ID, values: sessionValues(o), seldom: true, text: "the session of this directory with this `ID`, the whole of it; begun if there is none",
			more: "Letters, digits, `.`, `_`, `-`."},
		{name: "fork", to: &forkFlag{}, optional: true, values: orFiles(sessionValues(o)), text: "with one of these, or with an `ID` or file: go on in a copy, and leave the session as it is",
			more: "Beside one of the flags above it takes no value and means that session; `--session-id` beside a value is the id of the copy."},
		{name: "read-only", to: &o.Session.ReadOnly, seldom: true, text: "with one of these: only look at the session"},
		{name: "wait", to: &o.Session.Wait, seldom: true, text: "with one of these: wait while another process has the session"},
		{name: "no-session", to: &o.Session.None, text: "save nothing"},
		{name: "name", short: "n", to: &o.Session.Name, text: "give the session this `NAME`"},
		{name: "session-dir", to: &o.Session.Dir, all: true, text: "keep sessions in this `FOLDER`"},
	}
}

// checkSessionFlags returns a usage error if the flags name several sessions, contradict
// each other, or lack a session or a user that they need.
func checkSessionFlags(f *pflag.FlagSet, o *app.Options) error {
	changed := func(names ...string) (all []string) {
		for _, name := range names {
			if f.Changed(name) {
				all = append(all, "--"+name)
			}
		}
		return all
	}
	named, ways := changed("continue", "resume", "session"), changed("fork", "read-only", "wait")
	fork := f.Lookup("fork").Value.(*forkFlag)
	switch {
	case fork.ref != "":
		named = append(named, "--fork "+fork.ref)
	case f.Changed("session-id"): // else it is that of the copy
		named = append(named, "--session-id")
	}
	problem := ""
	switch {
	case len(named) > 1:
		problem = strings.Join(named, " and ") + ": each names a session; choose one"
	case len(ways) > 1:
		problem = strings.Join(ways, " and ") + " do not go together"
	case o.Session.None && len(named) > 0 && !slices.Equal(named, []string{"--session-id"}):
		problem = "--no-session does not go with " + named[0]
	case f.Changed("session") && o.Session.Ref == "":
		problem = "--session wants a file or the beginning of an id"
	case f.Changed("session-id") && !session.ValidID(o.Session.ID):
		problem = fmt.Sprintf("--session-id %q: an id has letters, digits, dots, dashes and underscores, and a letter or digit at both ends", o.Session.ID)
	case len(ways) > 0 && len(named) == 0:
		problem = ways[0] + " of which session? --continue, --resume ID or --session ID says it"
	case len(ways) > 0 && o.Session.Resume.Pick:
		problem = ways[0] + " wants --resume with the session; `pi sessions list` lists them"
	case o.Session.Resume.Pick && !o.Attended():
		problem = "--resume wants the session where nobody can pick one: --resume ID; `pi sessions list` lists them"
	}
	if o.Session.Fork = fork.given; fork.ref != "" {
		o.Session.Ref = fork.ref
	}
	o.Session.Name = strings.TrimSpace(o.Session.Name)
	if problem == "" && f.Changed("name") && o.Session.Name == "" {
		problem = "--name wants a name"
	}
	if problem != "" {
		return app.UsageError{Err: errors.New(problem)}
	}
	return nil
}
