package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/process"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const (
	execTime   = 10 * time.Minute       // unless timeout says otherwise
	killAfter  = 2 * time.Second        // from TERM to KILL
	drainGrace = 100 * time.Millisecond // for output that is on its way when the program ends
)

// execCall is one call of a program.
type execCall struct {
	command string
	args    []string
	timeout time.Duration
	cwd     string
	extra   []string          // variables besides those of the process
	env     map[string]string // variables that the hook gives it
	stdin   string
}

// execResult is what a program wrote, and how it ended.
type execResult struct {
	stdout, stderr string
	code           int
	killed         bool
}

// programs starts programs for a hook.
type programs struct {
	*bridge
	environ func() []string                           // variables besides those of the process
	started func(ctx context.Context) func(group int) // is told the process group of what a job starts
}

// call returns a call of a program with the standard timeout, directory and variables, for
// the caller to change and run.
func (p *programs) call(name string, args []string) execCall {
	return execCall{command: name, args: args, timeout: execTime, cwd: p.cwd, extra: p.environ()}
}

// exec is pi.exec(cmd, args?, {timeout, cwd, env, stdin, signal}) → {stdout,
// stderr, code, killed}, or nil and a message when the program could not be
// started. There is no shell.
func (p *programs) exec(L *lua.LState) int {
	p.mustHost(L, "exec")
	c := p.call(L.CheckString(1), nil)
	if v := L.Get(2); v != lua.LNil {
		args, ok := luavm.Strings(L, v)
		if !ok {
			luavm.RaiseArg(L, 2, "exec", "list of strings expected, got %s", v.Type())
		}
		c.args = args
	}
	var signal lua.LValue
	luavm.Unpack(L, 3, "exec", luavm.Opt("timeout", &c.timeout), luavm.Opt("cwd", &c.cwd),
		luavm.Opt("env", &c.env), luavm.Opt("stdin", &c.stdin), luavm.Opt("signal", &signal))
	c.cwd = p.absolute(c.cwd)
	until := signalOption(L, "exec", signal)
	var r execResult
	err := p.wait(L, "exec", func(ctx context.Context) (err error) {
		ctx, cancel := until.within(ctx)
		defer cancel()
		r, err = c.run(ctx, p.started(ctx))
		return err
	})
	if err != nil {
		return pushResult(L, nil, err)
	}
	t := luavm.NewRecord(L, 4)
	luavm.Set(t, "stdout", lua.LString(r.stdout))
	luavm.Set(t, "stderr", lua.LString(r.stderr))
	luavm.Set(t, "code", lua.LNumber(r.code))
	luavm.Set(t, "killed", lua.LBool(r.killed))
	return pushResult(L, t, nil)
}

// run starts the program and waits for it. When time is up or ctx ends its process group
// gets TERM, and killAfter later KILL. started is told the group. An exit code other than
// 0 is no error, only a program that could not be started or waited for.
func (c execCall) run(ctx context.Context, started func(group int)) (execResult, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.command, c.args...)
	stdout, err := newTap(&cmd.Stdout)
	if err != nil {
		return execResult{}, fmt.Errorf("start %s: %w", c.command, err)
	}
	defer stdout.close()
	stderr, err := newTap(&cmd.Stderr)
	if err != nil {
		return execResult{}, fmt.Errorf("start %s: %w", c.command, err)
	}
	defer stderr.close()
	cmd.Dir = c.cwd
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	cmd.Env = append(os.Environ(), c.extra...)
	for name, value := range c.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	process.Group(cmd)
	cmd.Cancel = func() error { return process.Terminate(cmd) }
	cmd.WaitDelay = killAfter
	if ctx.Err() != nil {
		return execResult{}, fmt.Errorf("start %s: interrupted", c.command)
	}
	if err := cmd.Start(); err != nil {
		// The system reports a working directory that does not exist as if the program did not.
		if info, missing := os.Stat(c.cwd); missing != nil {
			err = fmt.Errorf("cwd: %w", missing)
		} else if !info.IsDir() {
			err = fmt.Errorf("cwd: %s is no directory", c.cwd)
		}
		return execResult{}, fmt.Errorf("start %s: %w", c.command, err)
	}
	started(cmd.Process.Pid)
	stdout.open()
	stderr.open()
	err = cmd.Wait()
	killed := ctx.Err() != nil
	if killed {
		process.Kill(cmd)
	}
	var exit *exec.ExitError
	if err != nil && !killed && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return execResult{}, fmt.Errorf("run %s: %w", c.command, err)
	}
	grace, over := context.WithTimeout(context.WithoutCancel(ctx), drainGrace)
	defer over()
	return execResult{stdout.rest(grace.Done()), stderr.rest(grace.Done()), cmd.ProcessState.ExitCode(), killed}, nil
}

// terminalPrograms gives the person's terminal to programs.
type terminalPrograms struct {
	*bridge
	dialogs *dialogs
	environ func() []string
}

// run is ctx.ui.run(cmd, args?, {cwd?, env?}) → {code, signal?}, or nil and a message: it
// gives the terminal to a program, without a shell, until that ends. It takes its turn among
// the dialogs, and as with those the hook's clock does not run.
func (p *terminalPrograms) run(L *lua.LState) int {
	program := agent.Program{Name: L.CheckString(1)}
	if v := L.Get(2); v != lua.LNil {
		args, ok := luavm.Strings(L, v)
		if !ok {
			luavm.RaiseArg(L, 2, "run", "list of strings expected, got %s", v.Type())
		}
		program.Args = args
	}
	var cwd string
	var env map[string]string
	luavm.Unpack(L, 3, "run", luavm.Opt("cwd", &cwd), luavm.Opt("env", &env))
	program.Dir, program.Env = p.absolute(cwd), p.environ()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		program.Env = append(program.Env, name+"="+env[name])
	}
	if program.Name == "" {
		luavm.RaiseArg(L, 1, "run", "the name of a program expected")
	}
	ui := p.dialogs.person(L, "run")
	if ui == nil {
		return pushResult(L, nil, agent.ErrNoTerminal)
	}
	var exit agent.Exit
	var failed error
	p.dialogs.show(L, "run", strings.Join(append([]string{program.Name}, program.Args...), " "), func(ctx context.Context) error {
		exit, failed = ui.Lend(ctx, program)
		return ctx.Err()
	})
	if failed != nil {
		return pushResult(L, nil, failed)
	}
	t := luavm.NewRecord(L, 2)
	luavm.Set(t, "code", lua.LNumber(exit.Code))
	luavm.SetText(t, "signal", exit.Signal)
	return pushResult(L, t, nil)
}
