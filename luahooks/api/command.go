package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Command is one pi.command, or one pi.shortcut.
type Command struct {
	Name        string // of a shortcut its key
	Description string

	home       *commands // of the hook that registered it
	isShortcut bool
	handler    *lua.LFunction
	complete   *lua.LFunction // nil: nothing completes the arguments
}

// commands are the commands and shortcuts of a hook.
type commands struct {
	*bridge
	jobs       *jobs
	contexts   *contexts
	registered *Registered
	reserved   []string // names of built-in commands
	keys       Keys
	all        func() []command.Command  // of the program and of all hooks
	changed    func(ctx context.Context) // is told that a command was registered after the file was loaded
}

func (c *commands) part() part {
	return part{"command": c.command, "commands": c.list, "shortcut": c.shortcut}
}

// command is pi.command(name, {description, complete?, handler}). It registers a command of
// the hook, in place of one that it registered under the same name before. It raises for a
// name that is not one word, or that a built-in command has.
func (c *commands) command(L *lua.LState) int {
	n := &Command{home: c, Name: strings.TrimPrefix(L.CheckString(1), "/")}
	luavm.Unpack(L, 2, "command", luavm.Opt("description", &n.Description),
		luavm.Opt("complete", &n.complete), luavm.Opt("handler", &n.handler).Required())
	switch {
	case n.Name == "" || strings.ContainsAny(n.Name, " \t\r\n:/."):
		luavm.RaiseArg(L, 1, "command", "%q is no command name: one word without / : and .", n.Name)
	case slices.Contains(c.reserved, n.Name):
		luavm.Raise(L, "command: /%s is built in; choose another name", n.Name)
	}
	c.registered.Commands.replace(n)
	if c.registered.Handlers.isInForce() {
		c.changed(c.vm.Context())
	}
	return 0
}

// list is pi.commands(): the program's own, those of hooks, templates and skills.
func (c *commands) list(L *lua.LState) *lua.LTable {
	c.mustHost(L, "commands")
	all := c.all()
	return luavm.NewList(L, len(all), func(i int) lua.LValue {
		t := luavm.NewRecord(L, 6)
		luavm.Set(t, "name", lua.LString(all[i].Name))
		luavm.SetText(t, "description", all[i].Help)
		luavm.SetText(t, "args", all[i].Args)
		luavm.SetText(t, "hook", all[i].Hook)
		luavm.Set(t, "kind", lua.LString(all[i].Kind()))
		luavm.SetText(t, "path", all[i].From.Path)
		return t
	})
}

func (c *Command) id() string { return c.Name }

// title names a command or shortcut in messages.
func (c *Command) title() string {
	if c.isShortcut {
		return "shortcut " + c.Name
	}
	return "/" + c.Name
}

// Under returns the command for a front end under another name, because a hook before it in
// the chain has its own name.
func (c *Command) Under(name string) command.Command {
	cmd := command.Command{Name: name, Help: c.Description, Hook: c.home.hook, Run: c.Run}
	if c.complete != nil {
		cmd.Complete = c.candidates
	}
	return cmd
}

// Run calls the command with the arguments as they were typed. If its VM was replaced
// before the call began, the command of the same name in the newer version of the hook is
// called. The call is counted, and an error is told to other hooks.
func (c *Command) Run(ctx context.Context, args string) (out command.Outcome, err error) {
	began := time.Now()
	c, err = latest(ctx, c, func(c *Command) error {
		out, err = c.call(ctx, args)
		return err
	})
	owner := c.home.jobs.owner
	owner.Ran(ctx, c.title(), began, err)
	if err != nil {
		owner.Failed(ctx, c.title(), c.handler, err, OtherHooks)
		return command.Outcome{}, fmt.Errorf("hook %s: %w", c.home.hook, err)
	}
	return out, nil
}

func (c *Command) owner() Owner { return c.home.jobs.owner }

func (c *Command) successor(now *Registered) (*Command, bool) {
	if c.isShortcut {
		return now.Shortcuts.Find(c.Name)
	}
	return now.Commands.Find(c.Name)
}

// call runs the handler in one job, a call into the hook's VM, and returns what it wants of
// the front end. The context of the job has the mark that isCommand looks for, and says that
// a person caused what the hook sends.
func (c *Command) call(ctx context.Context, args string) (command.Outcome, error) {
	home, result, self := c.home, new(command.Outcome), new(commandRun)
	ctx = asPerson(context.WithValue(ctx, commandKey{}, self))
	err := home.jobs.run(ctx, c.title(), func(L *lua.LState) error {
		self.job = home.vm.Context()
		out, err := home.outcome(L, callLua(L, c.handler, home.contexts.ofCommand(L, args)))
		*result = out
		return WithPlace(c.handler, err)
	})
	var raised *luavm.Error
	switch {
	case err == nil:
	case errors.As(err, &raised) && raised.Kind == luavm.Raised && raised.Where == "" && raised.Value != nil:
		// It was raised while the result was read, after the handler had returned, so it names
		// no line of Lua; the place of the handler stands in for that.
		return command.Outcome{}, WithPlace(c.handler, err)
	default:
		return command.Outcome{}, err
	}
	if result.Prompt != nil {
		result.Prompt.Origin = originOf(ctx, home.hook)
	}
	return *result, nil
}

// outcome reads what a command handler returned: nil, a string or {prompt?, attachments?}
// for the model, or {status} for the person. It raises for other keys, and returns an error
// for an attachment that cannot be read.
func (c *commands) outcome(L *lua.LState, v lua.LValue) (out command.Outcome, err error) {
	var prompt, status *string
	var attachments *lua.LTable
	switch v := v.(type) {
	case *lua.LNilType:
	case lua.LString:
		text := string(v)
		prompt = &text
	case *lua.LTable:
		luavm.UnpackTable(L, v, "result of the command", luavm.Opt("prompt", &prompt), luavm.Opt("status", &status),
			luavm.Opt("attachments", &attachments))
	default:
		return out, fmt.Errorf("a command returns nil, a string or a table, not a %s", v.Type())
	}
	var blocks []message.Block
	if attachments != nil {
		if blocks, err = c.attachments(L, "result of the command", attachments); err != nil {
			return out, err
		}
	}
	if prompt != nil || len(blocks) > 0 {
		out.Prompt = &agent.Prompt{Text: textOf(prompt), Attachments: blocks, Source: "hook"}
	}
	out.Status = textOf(status)
	return out, nil
}

// completeTime is how long a completion may block the prompt.
const completeTime = time.Second

// candidates asks the complete function of the command what could complete prefix. It
// returns nothing, and nobody is told, if the function fails or takes longer than
// completeTime: the person is typing.
func (c *Command) candidates(prefix string) []string {
	words := new([]string)
	err := c.home.vm.Run(context.Background(), luavm.Job{Name: "complete /" + c.Name, Timeout: completeTime, Run: func(L *lua.LState) error {
		*words, _ = luavm.Strings(L, callLua(L, c.complete, lua.LString(prefix)))
		return nil
	}})
	if err != nil {
		return nil
	}
	return *words
}
