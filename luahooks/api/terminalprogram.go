package api

import (
	"context"
	"maps"
	"slices"
	"strings"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

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
