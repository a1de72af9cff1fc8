package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/internal/process"
	"pi/internal/relay"
	"pi/internal/shown"
)

// BashOutcome is the output of a command and how it ended. Exactly one of ExitCode,
// Signal, TimedOut and Cancelled is set.
type BashOutcome struct {
	Output   string // the end of it: valid UTF-8 without control sequences, within the limits
	ExitCode *int
	Signal   string // "SIGSEGV": what killed the shell, if neither time nor the user did

	TimedOut  bool // the context's deadline passed
	Cancelled bool // the context was cancelled

	Truncation     Truncation // how much of the output Output is
	FullOutputPath string     // a file with all of it, or its last 64 MiB, private to the user; "" unless it was cut
	FullOutputCut  bool       // the file has the end only
	FullOutputErr  error      // why there is no such file though it was cut
	Background     bool       // a process in the background still has the output open
}

// Ok reports whether the command came to its end with exit code 0.
func (o *BashOutcome) Ok() bool { return o.ExitCode != nil && *o.ExitCode == 0 }

// RunShell runs a command in the working directory, without input, in a session of its
// own, so that nothing it starts can ask at the terminal of the user, and returns when
// the shell has ended; processes it left in the background go on. When ctx ends first,
// the whole session gets TERM and, after o.Grace, KILL; a deadline that passed counts as a timeout, anything
// else as a cancellation. Neither is an error, nor is any exit status: an error
// means that the command was not started.
//
// onOutput, which may be nil, is given the output while it comes, stdout and
// stderr as they were written, a few times a second and in order, as valid
// UTF-8 but with control sequences; it is not called after RunShell returned.
func RunShell(ctx context.Context, o Options, command string, onOutput func(text string)) (BashOutcome, error) {
	return runShell(ctx, o, command, watcher{text: onOutput})
}

// runShell is RunShell with a watcher, which may also be shown the end of the output so
// far.
func runShell(ctx context.Context, o Options, command string, watch watcher) (BashOutcome, error) {
	if err := ctx.Err(); err != nil {
		return BashOutcome{}, err
	}
	cmd, err := o.command(ctx, command, process.Environ())
	if err != nil {
		return BashOutcome{}, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return BashOutcome{}, err
	}
	defer r.Close()
	process.Session(cmd)
	// One descriptor for both, so that they interleave as they were written.
	cmd.Stdout, cmd.Stderr = w, w
	started := o.starting()
	err = o.Watcher.Start(cmd)
	w.Close()
	if err != nil {
		started(0)
		return BashOutcome{}, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	started(cmd.Process.Pid) // it leads its group
	out := newOutput(o.TempDir)
	stopped, open := follow(ctx, o, cmd, r, out, watch)

	result := BashOutcome{Background: open}
	result.Output, result.Truncation, result.FullOutputPath, result.FullOutputErr = out.finish()
	result.FullOutputCut = out.cut
	switch {
	case stopped && errors.Is(ctx.Err(), context.DeadlineExceeded):
		result.TimedOut = true
	case stopped:
		result.Cancelled = true
	default:
		result.ExitCode, result.Signal = exitOf(cmd.ProcessState)
	}
	return result, nil
}

// follow waits for a started command and reads its output. If ctx ends first it stops the
// whole group of processes. What the command left behind is nobody's then. It reports
// whether it did, and whether a process still has the output open.
func follow(ctx context.Context, o Options, cmd *exec.Cmd, r *os.File, out *output, watch watcher) (stopped, open bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the state has the result too
	}()
	chunks := make(chan []byte)
	go readChunks(r, chunks)

	p := pump{out: out, watch: watch, chunks: chunks}
	p.carryUntil(ended, ctx.Done())
	select {
	case <-ended:
	default:
		stopped = true
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			process.Stop(cmd.Process.Pid, cmp.Or(o.Grace, process.Grace))
		}()
		p.carryUntil(killed, nil)
		p.carryUntil(ended, nil)
	}
	o.Watcher.Release(cmd.Process.Pid)
	return stopped, p.drain(r)
}

// starting is Starting, if there is one.
func (o Options) starting() (started func(group int)) {
	if o.Starting == nil {
		return func(int) {}
	}
	return o.Starting()
}

// command prepares what runs a command line, with an environment to begin with. It fails if
// that or the working directory is missing.
func (o Options) command(ctx context.Context, line string, base []string) (*exec.Cmd, error) {
	if strings.IndexByte(line, 0) >= 0 {
		return nil, errors.New("the command holds a NUL byte")
	}
	if info, err := os.Stat(o.Cwd); o.Cwd != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("the working directory %s is not there any more", o.Cwd)
	}
	words, err := o.runner(ctx, line)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(words[0], append(words[1:len(words):len(words)], line)...)
	cmd.Dir = o.Cwd
	cmd.Env = o.environ(base)
	return cmd, nil
}

// runner is what a command line is the last argument of: what Wrap has, or else the shell.
func (o Options) runner(ctx context.Context, line string) ([]string, error) {
	if o.Wrap != nil {
		words, err := o.Wrap(ctx, line)
		if err != nil || len(words) > 0 {
			return words, err
		}
	}
	shell, err := FindShell(o.Shell)
	return []string{shell, "-c"}, err
}

// FindShell returns the path of the configured shell, or else of bash or sh.
func FindShell(configured string) (string, error) {
	if configured != "" {
		path, err := exec.LookPath(configured)
		if err != nil {
			return "", fmt.Errorf("the configured shell: %w", err)
		}
		return path, nil
	}
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither bash nor sh is installed; set a shell in the settings")
}

// environ is the environment of a command: base, the working directory, variables in
// place of locales that are not installed, and what Env adds, which counts most.
func (o Options) environ(base []string) []string {
	env := slices.Clone(base)
	if o.Cwd != "" {
		env = append(env, "PWD="+o.Cwd)
	}
	if o.Locale != nil {
		env = append(env, o.Locale()...)
	} else {
		env = append(env, localeVariables(env)...)
	}
	if o.Env != nil {
		env = append(env, o.Env()...)
	}
	return env
}

// localeTime is how long the shell may take to list the missing locales.
const localeTime = 2 * time.Second

// NewLocale returns what gives the variables (NAME=value) that a command needs
// so that its locale is one that is installed: nothing as long as the
// environment names such ones only. For one that is not, every shell and many
// programs warn on standard error, which would stand in the output of each
// command; what they then use is C. Nothing but the C library knows what is
// installed, so a shell is asked, once, by the first command.
func NewLocale(environ []string) func() []string {
	return sync.OnceValue(func() []string { return localeVariables(environ) })
}

// localeVariables are the variables that a command needs instead of locales which are
// not installed: LC_ALL with C.UTF-8, or with C if that is missing too. It runs a shell
// to know.
func localeVariables(environ []string) []string {
	named := namedLocales(environ)
	if len(named) == 0 {
		return nil
	}
	const best = "C.UTF-8"
	missing := missingLocales(append(named, best))
	switch {
	case !slices.ContainsFunc(named, func(l string) bool { return slices.Contains(missing, l) }):
		return nil
	case slices.Contains(missing, best):
		return []string{"LC_ALL=C"}
	}
	return []string{"LC_ALL=" + best}
}

// namedLocales are the locales that an environment names, without those that
// every system has.
func namedLocales(environ []string) []string {
	var named []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if (name == "LANG" || strings.HasPrefix(name, "LC_")) && value != "" && value != "C" && value != "POSIX" && !slices.Contains(named, value) {
			named = append(named, value)
		}
	}
	return named
}

// missingLocales returns those of the locales that are not installed, by asking bash;
// none if there is no bash, or if it does not answer in time.
func missingLocales(locales []string) []string {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), localeTime)
	defer cancel()
	const script = `for l; do w=$( { LC_ALL=$l; } 2>&1 ); [ -z "$w" ] || printf '%s\n' "$l"; done`
	cmd := exec.CommandContext(ctx, bash, append([]string{"-c", script, "bash"}, locales...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // nothing that bash would run before the script
	cmd.WaitDelay = localeTime
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// CanRunInTerminal says whether RunInTerminal works on this system.
const CanRunInTerminal = relay.Possible

// RunInTerminal is [RunShell] for a command that gets the terminal of a user, whose two
// ends are in and out. It has a terminal of its own, and all that is typed goes to it; what
// it writes is shown as it is. The outcome has the text of what was shown: the last state
// of each row, and nothing of programs that took the whole screen. A command that Ctrl+C
// ended counts as cancelled. What it leaves in the background ends with it, unless that
// takes precautions.
//
// unread was typed, and the command did not read it.
func RunInTerminal(ctx context.Context, o Options, command string, in, out *os.File) (outcome BashOutcome, unread []byte, err error) {
	if err := ctx.Err(); err != nil {
		return BashOutcome{}, nil, err
	}
	cmd, err := o.command(ctx, command, os.Environ())
	if err != nil {
		return BashOutcome{}, nil, err
	}
	kept := newOutput(o.TempDir)
	record := shown.New(0, 0, kept)
	started := o.starting()
	end, err := relay.Run(cmd, relay.Options{
		In: in, Out: out, Output: record, Resized: record.Resize, Modes: record.Modes, AtRowStart: record.AtRowStart,
		Started: started, Watcher: o.Watcher, Stop: ctx.Done(), Grace: cmp.Or(o.Grace, process.Grace),
	})
	if err != nil {
		started(0)
		return BashOutcome{}, nil, err
	}
	record.Finish()
	outcome = BashOutcome{Background: end.Open, Signal: end.Signal}
	outcome.Output, outcome.Truncation, outcome.FullOutputPath, outcome.FullOutputErr = kept.finish()
	outcome.FullOutputCut = kept.cut
	switch {
	case end.Ended && errors.Is(ctx.Err(), context.DeadlineExceeded):
		outcome.TimedOut, outcome.Signal = true, ""
	case end.Ended, end.Signal == "SIGINT":
		outcome.Cancelled, outcome.Signal = true, ""
	case end.Signal == "":
		outcome.ExitCode = &end.ExitCode
	}
	return outcome, end.Unread, nil
}
