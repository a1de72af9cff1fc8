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
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

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
	jobs     *jobs
	contexts *contexts
	own      *List[*Completion]
}

func (c *completions) part() part { return part{"completion": c.register} }

// wordTime is how long a completion of words may take: the person is typing.
const wordTime = 300 * time.Millisecond

// mostCandidates is how many of them count.
const mostCandidates = 10_000

// register is pi.completion(prefix, {description?, complete}) → off. A hook has one for each
// prefix; a later one takes the place of an earlier one.
func (c *completions) register(L *lua.LState) int {
	n := &Completion{Prefix: L.CheckString(1), home: c}
	luavm.Unpack(L, 2, "completion", luavm.Opt("description", &n.Description), luavm.Opt("complete", &n.fn).Required())
	switch {
	case n.Prefix == "" || utf8.RuneCountInString(n.Prefix) > 16 || strings.ContainsAny(n.Prefix, " \t\r\n"):
		luavm.RaiseArg(L, 1, "completion", "%q is no prefix: 1 to 16 characters without a blank, such as #", n.Prefix)
	case strings.HasPrefix(n.Prefix, "/") || strings.HasPrefix(n.Prefix, "!"):
		luavm.RaiseArg(L, 1, "completion", "what begins with %q is completed by the program; a command has complete", n.Prefix[:1])
	}
	c.own.put(n)
	L.Push(c.vm.Func("off", func() { c.own.drop(n) }))
	return 1
}

func (c *Completion) id() string { return c.Prefix }

func (c *Completion) owner() Owner { return c.home.jobs.owner }

func (c *Completion) successor(now *Registered) (*Completion, bool) {
	return now.Completions.Find(c.Prefix)
}

// Hook is the name of the hook.
func (c *Completion) Hook() string { return c.home.hook }

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
