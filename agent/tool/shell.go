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

	"pi/internal/process"
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

// killGrace is the time between TERM and KILL.
const killGrace = process.Grace

// RunShell runs a command in the working directory, without input, in a session of its
// own, so that nothing it starts can ask at the terminal of the user, and returns when
// the shell has ended; processes it left in the background go on. When ctx ends first,
// the whole session gets TERM and, two seconds later, KILL; a deadline that passed counts as a timeout, anything
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

// follow waits for a started command and reads its output. If ctx ends first it stops
// the whole group of processes. What the command left behind is nobody's then. It reports whether it did, and whether a process still
// has the output open.
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
			process.Stop(cmd.Process.Pid, cmp.Or(o.testOnlyGrace, killGrace))
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
	shell, err := o.shell()
	return []string{shell, "-c"}, err
}

// shell is the path of the configured shell, or else of bash or sh.
func (o Options) shell() (string, error) {
	if o.Shell != "" {
		path, err := exec.LookPath(o.Shell)
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
