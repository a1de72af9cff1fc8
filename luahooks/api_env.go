package luahooks

import (
	"context"
	"time"

	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// env is what the standard library may use of the program around the VM.
func (in *instance) env() *stdlib.Env {
	return &stdlib.Env{
		Cwd:     in.chain.opts.Cwd,
		Loading: in.vm.Loading,
		Spawn:   in.spawn,
		Call:    in.callBack,
		Outside: outside,
		Follow:  in.following,
		Exec: func(ctx context.Context, c stdlib.Command) (string, string, int, error) {
			r, err := execCall{command: c.Name, args: c.Args, timeout: execTime, cwd: c.Cwd, env: c.Env, extra: in.chain.commandEnv()}.run(ctx, in.chain.startedBy(ctx))
			return r.stdout, r.stderr, r.code, err
		},
		Complete: in.complete,
	}
}

// spawn runs f until the instance is closed.
func (in *instance) spawn(f func(ctx context.Context)) bool {
	return in.behind.run(func() {
		ctx, cancel := in.behind.within(context.Background())
		defer cancel()
		f(ctx)
	})
}

// callBack runs f as a job of the VM, from outside of any.
func (in *instance) callBack(ctx context.Context, name string, f func(L *lua.LState) error) error {
	began := time.Now()
	err := in.vm.Run(ctx, luavm.Job{Name: name, Timeout: in.chain.opts.Timeout, Clock: luavm.CountedLua, Run: f})
	if !isReplaced(err) {
		in.chain.reports.ran(ctx, in.hook, name, began, err)
	}
	if err != nil && ctx.Err() != nil && in.chain.behind.isEnding() {
		in.chain.reports.tellCutOff(in.hook, name, "the program has ended")
	} else if err != nil && !isReplaced(err) {
		in.chain.failed(ctx, in.hook, in, name, nil, err)
	}
	return err
}
