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

func addSessionFlags(f *pflag.FlagSet, o *app.Options) {
	f.BoolVarP(&o.Session.Last, "continue", "c", false, "go on with the last session of this directory")
	f.VarPF(resumeFlag{&o.Session.Resume}, "resume", "r", "go on with a session: the beginning of its `ID`, or its file; without, you pick one").NoOptDefVal = bareValue
	f.StringVar(&o.Session.Ref, "session", "", "as --resume; a `FILE` that is not there is begun")
	f.StringVar(&o.Session.ID, "session-id", "", "the session of this directory with this `ID`, the whole of it; begun if there is none")
	f.VarPF(&forkFlag{}, "fork", "", "with one of these, or with an `ID` or file: go on in a copy, and leave the session as it is").NoOptDefVal = bareValue
	f.BoolVar(&o.Session.ReadOnly, "read-only", false, "with one of these: only look at the session")
	f.BoolVar(&o.Session.Wait, "wait", false, "with one of these: wait while another process has the session")
	f.BoolVar(&o.Session.None, "no-session", false, "save nothing")
	f.StringVarP(&o.Session.Name, "name", "n", "", "give the session this name")
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
