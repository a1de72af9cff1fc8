package luahooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// luaCommand is one pi.command, or one pi.shortcut.
type luaCommand struct {
	in          *instance
	name        string // of a shortcut its key
	shortcut    bool
	description string
	handler     *lua.LFunction
	complete    *lua.LFunction
}

// apiCommand is pi.command(name, {description, complete?, handler}).
func (in *instance) apiCommand(L *lua.LState) int {
	c := &luaCommand{in: in, name: strings.TrimPrefix(L.CheckString(1), "/")}
	luavm.Unpack(L, 2, "command", luavm.Opt("description", &c.description),
		luavm.Opt("complete", &c.complete), luavm.Opt("handler", &c.handler).Required())
	switch {
	case c.name == "" || strings.ContainsAny(c.name, " \t\r\n:/."):
		luavm.RaiseArg(L, 1, "command", "%q is no command name: one word without / : and .", c.name)
	case slices.Contains(in.chain.opts.Reserved, c.name):
		luavm.Raise(L, "command: /%s is built in; choose another name", c.name)
	}
	in.registered.Commands.replace(c)
	if in.registered.Handlers.isInForce() {
		in.chain.warnCommands(in.vm.Context())
	}
	return 0
}

func (lc *luaCommand) id() string { return lc.name }

// title names a command or shortcut in messages.
func (lc *luaCommand) title() string {
	if lc.shortcut {
		return "shortcut " + lc.name
	}
	return "/" + lc.name
}

func (lc *luaCommand) command(name string) command.Command {
	c := command.Command{Name: name, Help: lc.description, Hook: lc.in.hook.Name, Run: lc.run}
	if lc.complete != nil {
		c.Complete = lc.candidates
	}
	return c
}

// run is one call of the command, or of the one that a newer version of its hook has
// in its place.
func (lc *luaCommand) run(ctx context.Context, args string) (out command.Outcome, err error) {
	began := time.Now()
	lc, err = latest(ctx, lc, func(lc *luaCommand) error {
		out, err = lc.call(ctx, args)
		return err
	})
	in := lc.in
	in.chain.reports.ran(ctx, in.hook, lc.title(), began, err)
	if err == nil {
		return out, nil
	}
	if !interrupted(ctx, err) {
		n := in.again(failure{lc.handler, lc.title(), err.Error()})
		in.chain.reports.tellFailed(ctx, failureOf(in.hook, lc.title(), err, n), "") // who typed it sees the error
		in.fault(ctx, lc.title(), err, n)
	}
	return command.Outcome{}, fmt.Errorf("hook %s: %w", in.hook.Name, err)
}

func (lc *luaCommand) instance() *instance { return lc.in }

func (lc *luaCommand) successor(now *Registered) (*luaCommand, bool) {
	if lc.shortcut {
		return now.Shortcuts.Find(lc.name)
	}
	return now.Commands.Find(lc.name)
}

func (lc *luaCommand) call(ctx context.Context, args string) (command.Outcome, error) {
	in, result, self := lc.in, new(command.Outcome), new(commandRun)
	ctx = asPerson(context.WithValue(ctx, commandKey{}, self))
	err := in.vm.Run(ctx, luavm.Job{Name: lc.title(), Timeout: in.chain.opts.Timeout, Clock: luavm.CountedLua, Run: func(L *lua.LState) error {
		self.job = in.vm.Context()
		out, err := in.outcome(L, callFunction(L, lc.handler, in.commandContext(L, args)))
		*result = out
		return placeOf(lc.handler, err)
	}})
	if err != nil {
		return command.Outcome{}, placeOfRaised(lc.handler, err)
	}
	if result.Prompt != nil {
		result.Prompt.Origin = originOf(ctx)
		result.Prompt.Origin.Hook = in.hook.Name
	}
	return *result, nil
}

// commandContext is ctx with what only commands get.
func (in *instance) commandContext(L *lua.LState, args string) *lua.LTable {
	t := luavm.NewRecord(L, 2)
	words := splitWords(args)
	list := L.CreateTable(len(words), 0)
	for _, w := range words {
		list.Append(lua.LString(w))
	}
	luavm.Set(t, "args", list)
	luavm.Set(t, "args_raw", lua.LString(args))
	if in.command == nil {
		in.command = in.contextMeta(append(liveMembers(), luavm.Keys(in.ctx)...), in.contextMember)
	}
	t.Metatable = in.command
	return t
}

// contextMember reads a member of ctx where a command has a ctx of its own.
func (in *instance) contextMember(L *lua.LState, name string) (lua.LValue, bool, error) {
	if v := in.ctx.RawGetString(name); v != lua.LNil {
		return v, true, nil
	}
	return in.contextField(L, name)
}

// apiCommands is pi.commands(): the program's own and those of hooks.
func (in *instance) apiCommands(L *lua.LState) *lua.LTable {
	in.mustHost(L, "commands")
	all := in.chain.Commands()
	if in.chain.opts.Commands != nil {
		all = in.chain.opts.Commands()
	}
	return luavm.NewList(L, len(all), func(i int) lua.LValue {
		t := luavm.NewRecord(L, 4)
		luavm.Set(t, "name", lua.LString(all[i].Name))
		record.SetText(t, "description", all[i].Help)
		record.SetText(t, "args", all[i].Args)
		record.SetText(t, "hook", all[i].Hook)
		return t
	})
}

// outcome reads what a command handler returned: nil, a string or {prompt = …,
// attachments = …} for the model, or {status = …} for the person.
func (in *instance) outcome(L *lua.LState, v lua.LValue) (command.Outcome, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return command.Outcome{}, nil
	case lua.LString:
		return asPrompt(string(v), nil), nil
	case *lua.LTable:
		return in.outcomeTable(L, v)
	}
	return command.Outcome{}, fmt.Errorf("a command returns nil, a string or a table, not a %s", v.Type())
}

func asPrompt(text string, attachments []message.Block) command.Outcome {
	return command.Outcome{Prompt: &agent.Prompt{Text: text, Attachments: attachments, Source: "hook"}}
}

func (in *instance) outcomeTable(L *lua.LState, t *lua.LTable) (out command.Outcome, err error) {
	var prompt, status *string
	var attachments *lua.LTable
	luavm.UnpackTable(L, t, "result of the command", luavm.Opt("prompt", &prompt), luavm.Opt("status", &status),
		luavm.Opt("attachments", &attachments))
	var blocks []message.Block
	if attachments != nil {
		if blocks, err = in.attachments(L, "result of the command", attachments); err != nil {
			return out, err
		}
	}
	if prompt != nil || len(blocks) > 0 {
		text := ""
		if prompt != nil {
			text = *prompt
		}
		out = asPrompt(text, blocks)
	}
	if status != nil {
		out.Status = *status
	}
	return out, nil
}

// candidates asks the hook what could complete an argument. None is all that a
// person at the prompt wants to hear of a failure.
func (lc *luaCommand) candidates(prefix string) []string {
	words := new([]string)
	err := lc.in.vm.Run(context.Background(), luavm.Job{Name: "complete /" + lc.name, Timeout: completeTime, Run: func(L *lua.LState) error {
		*words, _ = luavm.Strings(L, callFunction(L, lc.complete, lua.LString(prefix)))
		return nil
	}})
	if err != nil {
		return nil
	}
	return *words
}
