package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

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
	contexts *contexts
}

func (c *commands) part() part {
	return part{"command": c.command, "commands": c.list, "shortcut": c.shortcut}
}

// command is pi.command(name, {description, complete?, handler}). It registers a command of
// the hook, in place of one that it registered under the same name before. It raises for a
// name that is not one word.
func (c *commands) command(L *lua.LState) int {
	n := &Command{home: c, Name: strings.TrimPrefix(L.CheckString(1), "/")}
	luavm.Unpack(L, 2, "command", luavm.Opt("description", &n.Description),
		luavm.Opt("complete", &n.complete), luavm.Opt("handler", &n.handler).Required())
	if n.Name == "" || strings.ContainsAny(n.Name, " \t\r\n:/.") {
		luavm.RaiseArg(L, 1, "command", "%q is no command name: one word without / : and .", n.Name)
	}
	c.registered.Commands.replace(n)
	if c.registered.Handlers.isInForce() {
		c.CommandsChanged(c.vm.Context())
	}
	return 0
}

// list is pi.commands(): the program's own, those of hooks, templates and skills.
func (c *commands) list(L *lua.LState) *lua.LTable {
	c.mustHost(L, "commands")
	all := c.Commands()
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
	cmd := command.Command{Name: name, Help: c.Description, Hook: c.home.Hook.Name, Run: c.Run}
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
	owner := c.home.Owner
	owner.Ran(ctx, c.title(), began, err)
	if err != nil {
		owner.Failed(ctx, c.title(), c.handler, err, OtherHooks)
		return command.Outcome{}, fmt.Errorf("hook %s: %w", c.home.Hook.Name, err)
	}
	return out, nil
}

func (c *Command) owner() Owner { return c.home.Owner }

func (c *Command) successor(now *Registered) (*Command, bool) {
	if c.isShortcut {
		return now.Shortcuts.Find(c.Name)
	}
	return now.Commands.Find(c.Name)
}

// call runs the handler in one job, a call into the hook's VM, and returns what it wants of
// the front end. The context of the job has the mark that isCommand looks for, and says that
// a user caused what the hook sends.
func (c *Command) call(ctx context.Context, args string) (command.Outcome, error) {
	home, result, self := c.home, new(command.Outcome), new(commandRun)
	ctx = asUser(context.WithValue(ctx, commandKey{}, self))
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
		result.Prompt.Origin = home.originOf(ctx)
	}
	return *result, nil
}

// outcome reads what a command handler returned: nil, a string or {prompt?, attachments?}
// for the model, or {status} for the user. It raises for other keys, and returns an error
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
// completeTime: the user is typing.
func (c *Command) candidates(prefix string) []string {
	words := new([]string)
	err := c.home.vm.Run(context.Background(), luavm.Job{Name: "complete /" + c.Name, Timeout: completeTime, Run: func(L *lua.LState) error {
		*words, _ = luavm.Strings(L, callLua(L, c.complete, lua.LString(prefix), c.home.contexts.table))
		return nil
	}})
	if err != nil {
		return nil
	}
	return *words
}

// Shortcut is a key of the keyboard to which a hook gave a function.
type Shortcut struct {
	Key         string // in one spelling: ctrl+x, alt+x, ctrl+alt+x, f5, esc esc
	Description string
	Hook        string
	Run         func(ctx context.Context) (command.Outcome, error)
}

// Keys are the keys of the front end.
type Keys struct {
	// Chord writes a key, or two with a blank between them, in one way. The error says what
	// is wrong with it: a key that types a character is one, unless it comes second.
	Chord func(key string) (string, error)
	// IsReserved reports whether the front end uses a key itself, as its keys are now.
	IsReserved func(chord string) bool
	// InForce lists the keys of each action by its name, as they are now; nil: none has any.
	InForce func() map[string][]string
}

// shortcut is pi.shortcut(key, {description, handler}). A key that is reserved is
// refused with a warning, so that the rest of the hook works.
func (c *commands) shortcut(L *lua.LState) int {
	given := L.CheckString(1)
	s := &Command{home: c, isShortcut: true}
	luavm.Unpack(L, 2, "shortcut", luavm.Opt("description", &s.Description), luavm.Opt("handler", &s.handler).Required())
	chord, err := c.Keys.Chord(given)
	if err != nil {
		if _, none := c.Keys.Chord("f1 " + given); none != nil || strings.Contains(given, " ") {
			luavm.RaiseArg(L, 1, "shortcut", "%v", err)
		}
		chord = strings.ToLower(given) // a key that types
	}
	if s.Name = chord; err != nil || c.Keys.IsReserved(chord) {
		c.Notify(c.vm.Context(), agent.LevelWarning, fmt.Sprintf("hook %s: the key %s is reserved; its shortcut has no effect", c.Hook.Name, chord))
		L.Push(lua.LFalse)
		return 1
	}
	c.registered.Shortcuts.put(s)
	L.Push(lua.LTrue)
	return 1
}

// Completion is one pi.completion: it offers what a word that begins with its prefix can
// become.
type Completion struct {
	Prefix      string
	Description string

	home *completions
	fn   *lua.LFunction

	mu     sync.Mutex
	cancel context.CancelFunc // of the call that runs; nil: none does
}

// completions are those that a hook registers.
type completions struct {
	*bridge
	contexts *contexts
}

func (c *completions) part() part { return part{"completion": c.register} }

// wordTime is how long a completion of words may take: the user is typing.
const wordTime = 300 * time.Millisecond

// mostCandidates is how many of them count.
const mostCandidates = 10_000

// register is pi.completion(prefix, {description?, complete}) → off. The prefix may be that of
// the names of commands, such as /skill:. A hook has one for each
// prefix; a later one takes the place of an earlier one.
func (c *completions) register(L *lua.LState) int {
	n := &Completion{Prefix: L.CheckString(1), home: c}
	luavm.Unpack(L, 2, "completion", luavm.Opt("description", &n.Description), luavm.Opt("complete", &n.fn).Required())
	switch {
	case n.Prefix == "" || utf8.RuneCountInString(n.Prefix) > 16 || strings.ContainsAny(n.Prefix, " \t\r\n"):
		luavm.RaiseArg(L, 1, "completion", "%q is no prefix: 1 to 16 characters without a blank, such as #", n.Prefix)
	case strings.HasPrefix(n.Prefix, "/") && !(len(n.Prefix) > 2 && strings.HasSuffix(n.Prefix, ":")), strings.HasPrefix(n.Prefix, "!"):
		luavm.RaiseArg(L, 1, "completion", "what begins with %q is completed by the program, but for names such as /skill: with a colon; a command has complete", n.Prefix[:1])
	}
	c.registered.Completions.put(n)
	L.Push(c.vm.Func("off", func() { c.registered.Completions.drop(n) }))
	return 1
}

func (c *Completion) id() string { return c.Prefix }

func (c *Completion) owner() Owner { return c.home.Owner }

func (c *Completion) successor(now *Registered) (*Completion, bool) {
	return now.Completions.Find(c.Prefix)
}

// Hook is the name of the hook.
func (c *Completion) Hook() string { return c.home.Hook.Name }

// Complete asks the hook what a word, without the prefix, can become. It has wordTime, and a
// later call ends it: the newest word counts. What it returns need not fit the word.
func (c *Completion) Complete(ctx context.Context, word string) (found []agent.Choice, err error) {
	_, err = latest(ctx, c, func(c *Completion) error {
		found, err = c.complete(ctx, word)
		return err
	})
	return found, err
}

func (c *Completion) complete(ctx context.Context, word string) ([]agent.Choice, error) {
	ctx, end := c.begin(ctx)
	defer end()
	found := new([]agent.Choice)
	err := c.home.vm.Run(ctx, luavm.Job{Name: "completion of " + c.Prefix, Timeout: wordTime, Run: func(L *lua.LState) (err error) {
		*found, err = candidatesOf(L, callLua(L, c.fn, lua.LString(word), c.home.contexts.table))
		return WithPlace(c.fn, err)
	}})
	if err != nil {
		if raised, ok := errors.AsType[*luavm.Error](err); ctx.Err() == nil && (!ok || raised.Kind == luavm.Raised) && !IsReplaced(err) {
			c.owner().Failed(ctx, "completion of "+c.Prefix, c.fn, err, Everybody)
		}
		return nil, err
	}
	return *found, nil
}

// begin ends the call that runs. It returns the context of the next one, and what ends that.
func (c *Completion) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, wordTime)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
	c.cancel = cancel
	return ctx, cancel
}

// candidatesOf reads what complete returned: nil, or a list of strings and of
// {value, label?, description?}.
func candidatesOf(L *lua.LState, v lua.LValue) (found []agent.Choice, err error) {
	if v == lua.LNil {
		return nil, nil
	}
	list, ok := v.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("complete returns a list of strings or of {value, label, description}, not a %s", v.Type())
	}
	n, err := luavm.ListLen(L, list)
	if err != nil {
		return nil, err
	}
	var size luavm.Size
	for i := 1; i <= min(n, mostCandidates); i++ {
		c, value := choiceOf(L, "complete", i, list.RawGetInt(i))
		if !lua.LVCanConvToString(value) {
			return nil, fmt.Errorf("the value of candidate %d is a %s, and no text", i, value.Type())
		}
		c.Value = value.String()
		if err := size.Add(len(c.Value) + len(c.Label) + len(c.Description)); err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}
