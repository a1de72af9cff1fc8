package cli

import (
	"errors"
	"fmt"
	"strings"

	"pi/cli/app"

	"github.com/spf13/pflag"
)

// bareResume is what the flag library gives a flag without a value.
const bareResume = "true"

// resumeFlag is --resume, whose value may be left out.
type resumeFlag struct{ *app.Resume }

func (r resumeFlag) String() string { return "" }
func (r resumeFlag) Type() string   { return "bool" } // so that help shows no value that may be left out

// Set stores the value of --resume: a session, or bareResume, which stands for the flag
// without a value.
func (r resumeFlag) Set(value string) error {
	if value == "" {
		return errors.New("the session has no name")
	}
	r.Pick, r.Ref = value == bareResume, value
	if r.Pick {
		r.Ref = ""
	}
	return nil
}

func addSessionFlags(f *pflag.FlagSet, o *app.Options) {
	f.BoolVarP(&o.Session.Last, "continue", "c", false, "go on with the last session of this directory")
	f.VarPF(resumeFlag{&o.Session.Resume}, "resume", "r", "go on with a session: the beginning of its `ID`, or its file; without, you pick one").NoOptDefVal = bareResume
	f.StringVar(&o.Session.Ref, "session", "", "as --resume; a file that is not there is begun")
	f.BoolVar(&o.Session.Fork, "fork", false, "with one of these: go on in a copy, and leave the session as it is")
	f.BoolVar(&o.Session.ReadOnly, "read-only", false, "with one of these: only look at the session")
	f.BoolVar(&o.Session.Wait, "wait", false, "with one of these: wait while another process has the session")
	f.BoolVar(&o.Session.None, "no-session", false, "save nothing")
}

// checkSessionFlags returns a usage error if the flags name several sessions, contradict
// each other, or lack a session or a person that they need.
func checkSessionFlags(f *pflag.FlagSet, o *app.Options) error {
	var named []string
	for _, name := range []string{"continue", "resume", "session"} {
		if f.Changed(name) {
			named = append(named, "--"+name)
		}
	}
	var ways []string
	for _, name := range []string{"fork", "read-only", "wait"} {
		if f.Changed(name) {
			ways = append(ways, "--"+name)
		}
	}
	switch {
	case len(named) > 1:
		return app.UsageError{Err: fmt.Errorf("%s: each names a session; choose one", strings.Join(named, " and "))}
	case len(ways) > 1:
		return app.UsageError{Err: fmt.Errorf("%s do not go together", strings.Join(ways, " and "))}
	case o.Session.None && len(named) > 0:
		return app.UsageError{Err: fmt.Errorf("--no-session does not go with %s", named[0])}
	case f.Changed("session") && o.Session.Ref == "":
		return app.UsageError{Err: errors.New("--session wants a file or the beginning of an id")}
	case len(ways) > 0 && len(named) == 0:
		return app.UsageError{Err: fmt.Errorf("%s of which session? --continue, --resume ID or --session ID says it", ways[0])}
	case len(ways) > 0 && o.Session.Resume.Pick:
		return app.UsageError{Err: fmt.Errorf("%s wants --resume with the session; `pi sessions list` lists them", ways[0])}
	case o.Session.Resume.Pick && !o.Attended():
		return app.UsageError{Err: errors.New("--resume wants the session where nobody can pick one: --resume ID; `pi sessions list` lists them")}
	}
	return nil
}
