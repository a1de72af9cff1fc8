package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/child"
	"pi/internal/process"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const (
	execTime  = 10 * time.Minute // unless timeout says otherwise
	execBytes = 16 << 20         // of each output, unless max_bytes does
	execMost  = 64 << 20
)

// programs starts programs for a hook.
type programs struct{ *bridge }

// command returns a program with its working directory and variables. env are those that the
// hook gives it.
func (p *programs) command(name string, args []string, cwd string, env map[string]string) child.Command {
	if p.Getenv != nil {
		name = find(name, p.Getenv("PATH"))
	}
	c := child.Command{Name: name, Args: args, Dir: p.absolute(cwd), Env: append(process.Environ(), p.Environ()...), Watcher: p.Watcher}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		c.Env = append(c.Env, name+"="+env[name])
	}
	return c
}

// find returns the path of a program that is looked for along path; name itself if it is
// none that has to be looked for, or is not there.
func find(name, path string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		return name
	}
	for _, dir := range filepath.SplitList(path) {
		if at, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(at) {
			return at
		}
	}
	return name
}

// run runs a program as pi.exec does and returns what came of it.
func (p *programs) run(ctx context.Context, c child.Call) (child.Result, error) {
	c.Starting = func() func(int) { return p.Starting(ctx) }
	return child.Run(ctx, c)
}

// arguments reads the second argument of a function that starts a program: its arguments.
func arguments(L *lua.LState, function string) []string {
	v := L.Get(2)
	if v == lua.LNil {
		return nil
	}
	args, ok := luavm.Strings(L, v)
	if !ok {
		luavm.RaiseArg(L, 2, function, "list of strings expected, got %s", v.Type())
	}
	return args
}

// exec is pi.exec(cmd, args?, {timeout, cwd, env, stdin, signal, on_output, max_bytes}) →
// {stdout, stderr, code, killed, truncated}, or nil and a message when the program could not
// be started. There is no shell.
func (p *programs) exec(L *lua.LState) int {
	p.mayExec(L)
	c := child.Call{Timeout: execTime, Max: execBytes}
	name, args := L.CheckString(1), arguments(L, "exec")
	var cwd string
	var env map[string]string
	var signal lua.LValue
	var onOutput *lua.LFunction
	luavm.Unpack(L, 3, "exec", luavm.Opt("timeout", &c.Timeout), luavm.Opt("cwd", &cwd),
		luavm.Opt("env", &env), luavm.Opt("stdin", &c.Stdin), luavm.Opt("signal", &signal),
		luavm.Opt("on_output", &onOutput), luavm.Opt("max_bytes", &c.Max))
	if c.Max < 0 || c.Max > execMost {
		luavm.Raise(L, "exec: option \"max_bytes\" is from 0 to %d", execMost)
	}
	c.Command = p.command(name, args, cwd, env)
	until := signalOption(L, "exec", signal)
	if onOutput != nil {
		c.Output = p.passOutput(onOutput)
	}
	var r child.Result
	err := p.wait(L, "exec", func(ctx context.Context) (err error) {
		ctx, cancel := until.within(ctx)
		defer cancel()
		r, err = p.run(ctx, c)
		return err
	})
	if err != nil {
		mustNested(L, "exec", err)
		return pushResult(L, nil, withArguments("pi.exec", name, err))
	}
	t := luavm.NewRecord(L, 5)
	luavm.Set(t, "stdout", lua.LString(r.Stdout))
	luavm.Set(t, "stderr", lua.LString(r.Stderr))
	luavm.Set(t, "code", lua.LNumber(r.Code))
	luavm.Set(t, "killed", lua.LBool(r.Killed))
	luavm.Set(t, "truncated", lua.LBool(r.Truncated))
	return pushResult(L, t, nil)
}

type appStartKey struct{}

// WithAppStart marks the handlers of app_start.
func WithAppStart(ctx context.Context) context.Context {
	return context.WithValue(ctx, appStartKey{}, true)
}

type projectTrustKey struct{}

// WithProjectTrust marks the handlers of project_trust.
func WithProjectTrust(ctx context.Context) context.Context {
	return context.WithValue(ctx, projectTrustKey{}, true)
}

// mayExec raises while the hook's file loads, and before there is a session but in app_start: who
// is asked whether a clone is trusted runs nothing in it.
func (p *programs) mayExec(L *lua.LState) {
	if !p.vm.Loading() && p.vm.Context().Value(appStartKey{}) != nil {
		return
	}
	if p.vm.Context().Value(projectTrustKey{}) != nil {
		luavm.Raise(L, "exec: nothing runs while a project is not trusted yet; what works here: pi.fs to read its files, pi.git (remotes, root, branch, status), pi.http, and dialogs of ctx.ui")
	}
	p.mustHost(L, "exec")
}

// withArguments adds to the error of a program that is not there that its arguments are given apart, if
// its name has a blank. function is what an author called.
func withArguments(function, name string, err error) error {
	words := strings.Fields(name)
	if len(words) < 2 || !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	for i, word := range words {
		words[i] = strconv.Quote(word)
	}
	return fmt.Errorf("%w; arguments are a list: %s(%s, { %s })", err, function, words[0], strings.Join(words[1:], ", "))
}

// passOutput gives what a program writes to on_output(text, stream), in jobs inside of the one
// that waits for the program.
func (p *programs) passOutput(fn *lua.LFunction) func(context.Context, string, bool) (child.Answer, error) {
	return func(ctx context.Context, text string, ofStderr bool) (child.Answer, error) {
		stream := "stdout"
		if ofStderr {
			stream = "stderr"
		}
		return p.jobs.nested(asOwn(ctx), "on_output", fn, func(*lua.LState) []lua.LValue { return []lua.LValue{lua.LString(text), lua.LString(stream)} })
	}
}

// terminalPrograms gives the user's terminal to programs.
type terminalPrograms struct {
	*bridge
	dialogs *dialogs
}

// run is ctx.ui.run(cmd, args?, {cwd?, env?}) → {code, signal?}, or nil and a message: it
// gives the terminal to a program, without a shell, until that ends. It takes its turn among
// the dialogs, and as with those the hook's clock does not run.
func (p *terminalPrograms) run(L *lua.LState) int {
	program := agent.Program{Name: L.CheckString(1), Args: arguments(L, "run")}
	var cwd string
	var env map[string]string
	luavm.Unpack(L, 3, "run", luavm.Opt("cwd", &cwd), luavm.Opt("env", &env))
	program.Dir, program.Env = p.absolute(cwd), p.Environ()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		program.Env = append(program.Env, name+"="+env[name])
	}
	if program.Name == "" {
		luavm.RaiseArg(L, 1, "run", "the name of a program expected")
	}
	ui := p.dialogs.user(L, "run")
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
