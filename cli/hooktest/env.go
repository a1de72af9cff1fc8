package hooktest

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"

	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// newEnv is what the modules of hooks use when a test requires them: they work in the
// project of the case.
func (f *file) newEnv() *stdlib.Env {
	return &stdlib.Env{
		Clock:   testClock{f},
		Reach:   reach,
		Loading: func() bool { return f.scene == nil },
		Getenv: func(name string) string {
			if f.scene == nil {
				return ""
			}
			return f.scene.stage.getenv(name)
		},
		Spawn: func(run func(context.Context)) bool {
			if f.scene == nil {
				return false
			}
			go run(f.scene.ctx)
			return true
		},
		Call: func(ctx context.Context, name string, run func(*lua.LState) error) error {
			s := f.scene
			if s == nil {
				return luavm.ErrClosed
			}
			return s.job(ctx, name, run)
		},
		Outside: func(ctx context.Context, _ string) context.Context { return ctx },
		Follow: func(bool) func(context.Context) context.Context {
			return func(ctx context.Context) context.Context { return ctx }
		},
		Nested: func(ctx context.Context, name string, fn *lua.LFunction, args func(L *lua.LState) []lua.LValue) (bool, error) {
			enough := new(bool) // a job that did not stop may still write it
			err := f.vm.Run(ctx, luavm.Job{Name: name, Timeout: luaTime, Clock: luavm.CountedLua, Run: func(L *lua.LState) error {
				*enough = call(L, fn, args(L)...) == lua.LTrue
				return nil
			}})
			if err != nil {
				return false, luavm.Misusef("%s: %v", name, err)
			}
			return *enough, nil
		},
		Exec:     f.execute,
		Complete: noModel("complete"),
		Stream:   noModel("stream"),
		Agents:   map[string]lua.LGFunction{"run": noAgents("run"), "start": noAgents("start")},
	}
}

// noModel is a function of pi.llm in a test.
func noModel(function string) lua.LGFunction {
	return func(L *lua.LState) int {
		luavm.Raise(L, "llm.%s: a test asks no model; t.model is the model of its hooks", function)
		return 0
	}
}

// reach is an error for hosts beyond this machine.
func reach(host string) error {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return errors.New("a test has no network; http.listen serves on this machine what it needs")
}

// execute runs a program for a module that the test requires, such as pi.git.
func (f *file) execute(ctx context.Context, c stdlib.Command) (string, string, int, error) {
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = c.Cwd, &stdout, &stderr, append(os.Environ(), f.scene.stage.variables()...)
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return "", "", 0, err
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), nil
}
