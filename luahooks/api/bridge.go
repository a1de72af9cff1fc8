package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"pi/agent"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

var (
	errLoading = errors.New("not available while the hook loads; use session_start")
	errNoHost  = errors.New("not available before there is a session; use session_start")
)

// bridge is what every function of the API uses: the VM that calls it, the way from there to
// the program around it, and what the hook has registered.
type bridge struct {
	*Program
	vm         *luavm.VM
	records    *record.Converter
	jobs       *jobs
	registered *Registered
}

// part is a part of the API: its members by the names that Lua has for them. A
// func(*lua.LState) int works on the Lua stack itself, a proc gives nothing back, a value is
// one that is made when it is read, and any other function is one for [luavm.VM.Func].
type part map[string]any

type (
	proc  struct{ fn any }
	value func() lua.LValue
)

// member makes a member of the API.
func (b *bridge) member(name string, of any) lua.LValue {
	switch of := of.(type) {
	case func(*lua.LState) int:
		return b.vm.GFunc(name, of)
	case proc:
		return b.vm.Proc(name, of.fn)
	case value:
		return of()
	case lua.LValue:
		return of
	}
	return b.vm.Func(name, of)
}

// add puts members into a table.
func (b *bridge) add(t *lua.LTable, p part) {
	for name, of := range p {
		luavm.Set(t, name, b.member(name, of))
	}
}

// fields are those of a table of the API that messages call by a name. Its parts are listed when
// somebody looks into it, and each member is made when it is read.
func (b *bridge) fields(of string, list func() []part) *luavm.Fields {
	parts := sync.OnceValue(list)
	return &luavm.Fields{Of: of, Names: func() (names []string) {
		for _, p := range parts() {
			names = slices.AppendSeq(names, maps.Keys(p))
		}
		slices.Sort(names)
		return names
	}, Make: func(name string) lua.LValue {
		for _, p := range parts() {
			if member, ok := p[name]; ok {
				return b.member(name, member)
			}
		}
		return nil
	}}
}

// newTable makes a table of the API that messages call by a name.
func (b *bridge) newTable(of string, list func() []part) *lua.LTable {
	return b.vm.NewTable(b.fields(of, list))
}

// mustHost returns the host. It raises, in the name of function, while the hook's file loads
// and before there is a session.
func (b *bridge) mustHost(L *lua.LState, function string) Host {
	b.mustHaveLoaded(L, function)
	host := b.Host()
	if host == nil {
		luavm.Raise(L, "%s: %v", function, errNoHost)
	}
	return host
}

// mustHaveLoaded raises, in the name of function, while the hook's file loads.
func (b *bridge) mustHaveLoaded(L *lua.LState, function string) {
	if b.vm.Loading() {
		luavm.Raise(L, "%s: %v", function, errLoading)
	}
}

// commandKey is in the Go context of a command, and of everything below it.
type commandKey struct{}

// commandRun is one call of a command or shortcut.
type commandRun struct {
	job   context.Context // of the job that is the call itself
	asked atomic.Bool     // it has handed in a prompt to wait for
}

// isCommand reports whether the job that runs is a command or shortcut itself and
// not, for example, a handler of an event that a command caused.
func (b *bridge) isCommand() bool {
	job := b.vm.Context()
	run, _ := job.Value(commandKey{}).(*commandRun)
	return run != nil && run.job == job
}

// mustCommand returns the host, or raises outside of commands and shortcuts.
func (b *bridge) mustCommand(L *lua.LState, function string) Host {
	host := b.mustHost(L, function)
	if !b.isCommand() {
		luavm.Raise(L, "%s: only in commands and shortcuts", function)
	}
	return host
}

// wait runs f while other calls into the hook may use the VM, and returns its error. If this
// job, the call that waits, was stopped before f ended, wait raises instead.
func (b *bridge) wait(L *lua.LState, function string, f func(ctx context.Context) error) error {
	return b.waitFor(L, function, false, f)
}

// waitFor is wait; for a dialog, the time of f does not count as the hook's.
func (b *bridge) waitFor(L *lua.LState, function string, dialog bool, f func(ctx context.Context) error) error {
	var inner error
	must(L, function, b.vm.Wait(L, dialog, func(ctx context.Context) error {
		inner = f(ctx)
		return nil
	}))
	return inner
}

// absolute makes a path of a hook absolute: relative ones begin in the working
// directory.
func (b *bridge) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(b.Cwd, path)
}

// schema turns the table of a tool's parameters into JSON Schema. A plain table
// without a type describes an object; one that is no schema raises.
func (b *bridge) schema(L *lua.LState, function string, t *lua.LTable) json.RawMessage {
	if t == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if wrong := stdlib.WrongParameters(L, t); wrong != "" {
		luavm.Raise(L, "%s: parameters: %s", function, wrong)
	}
	raw, err := b.records.Encode(t, "parameters")
	must(L, function, err)
	return raw
}

// encodeArg encodes the n-th argument of a function as JSON, nil as nothing; name is
// for messages.
func (b *bridge) encodeArg(L *lua.LState, n int, function, name string) json.RawMessage {
	v := L.Get(n)
	if v == lua.LNil {
		return nil
	}
	raw, err := b.records.Encode(v, name)
	must(L, function, err)
	return raw
}

// content reads the content of a message; plain reports that it is a string.
func (b *bridge) content(L *lua.LState, function string, v lua.LValue) (blocks []message.Block, plain bool) {
	blocks, err := b.records.Content(L, v, "content")
	must(L, function, err)
	_, plain = v.(lua.LString)
	return blocks, plain
}

// must raises the error of a function, if there is one.
func must(L *lua.LState, function string, err error) {
	if err != nil {
		luavm.Raise(L, "%s: %v", function, err)
	}
}

// pushResult pushes what a function gives to Lua, v or else nil and the text of err, and
// returns how many values that is.
func pushResult(L *lua.LState, v lua.LValue, err error) int {
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(v)
	return 1
}

// textOf is the text of an option that may be nil.
func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// The agent counts what hooks send by who caused it. That is known where the Lua is
// called, and the context of the job carries it: agent.OriginOf. A job without an
// origin was caused by the hook itself, as those of events, tools and timers are.
// Others are marked:
//
//	a command or key of a user, up to its first ctx.prompt
//	                                          Command.call
//	a key in a component                      component.HandleInput
//	what http.listen and fs.watch report      asOutside
//	timer.after, started by one of these      asFollowing
//
// What a program writes that the hook started is of the hook itself, whoever caused the start.
//
// The handlers that such a job reaches with pi.emit inherit its origin; those of an
// event that the agent emits at that time do not.

// originOf is the origin of what a job of the hook sends.
func (p *Program) originOf(ctx context.Context) agent.Origin {
	o, ok := causeOf(ctx)
	if !ok {
		o.Kind = agent.FromHook
	}
	o.Hook, o.Path, o.Limit = p.Hook.Name, p.Hook.Path, p.Limit
	return o
}

// causeOf is what has caused a job, if it was not the hook itself. A command of which a prompt
// was worked on goes on of itself, as a handler does, whoever gave it; and so does a timer, or a
// function of pi.async, that has sent something.
func causeOf(ctx context.Context) (o agent.Origin, ok bool) {
	o, ok = agent.OriginOf(ctx)
	c, _ := ctx.Value(commandKey{}).(*commandRun)
	f, _ := ctx.Value(followingKey{}).(*following)
	if o.Kind == agent.FromUser && c != nil && c.asked.Load() || o.Timer && f != nil && f.sent.Load() {
		return agent.Origin{}, false
	}
	return o, ok
}

// isOfUser reports whether a user has caused a job.
func isOfUser(ctx context.Context) bool {
	o, ok := agent.OriginOf(ctx)
	return ok && o.Kind == agent.FromUser
}

// asUser marks a job that a user caused, unless the context says otherwise.
func asUser(ctx context.Context) context.Context {
	if _, ok := agent.OriginOf(ctx); ok {
		return ctx
	}
	return agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromUser})
}

// asOutside marks a job that something outside of the program caused, which source
// names.
func asOutside(ctx context.Context, source string) context.Context {
	return agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromOutside, Source: source})
}

// asOwn marks a job that is about what a program of the hook writes.
func asOwn(ctx context.Context) context.Context {
	return agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromHook})
}

type ofToolKey struct{}

// IsOfTool reports whether a job with this context is about a call of a tool of a hook: its
// execute, or a timer or another callback that this left behind. What that starts may be
// what the model wants.
func IsOfTool(ctx context.Context) bool { return agent.InTool(ctx) || ctx.Value(ofToolKey{}) != nil }

// asOfTool marks a later job as about the call that cause is about, if it is about one.
func asOfTool(ctx, cause context.Context) context.Context {
	if !IsOfTool(cause) {
		return ctx
	}
	return context.WithValue(ctx, ofToolKey{}, true)
}

// followingKey is in the Go context of what follows another job, with its *following.
type followingKey struct{}

// following is the job of a timer, or of pi.async, that is about the same as the job that has
// started it.
type following struct{ sent atomic.Bool }

// asFollowing marks the job of a timer that a job with the context cause starts. One that is
// called once is about the same, to wait until a folder is quiet, or to remind somebody. Timers
// that it starts itself are not: they could start others for ever. What a call of a tool leaves
// behind is about that, whatever it starts.
func asFollowing(cause context.Context, again bool) func(context.Context) context.Context {
	o, ok := causeOf(cause)
	if again || !ok || cause.Value(followingKey{}) != nil {
		return func(ctx context.Context) context.Context { return asOfTool(ctx, cause) }
	}
	o.Timer = true
	return func(ctx context.Context) context.Context {
		return agent.WithOrigin(context.WithValue(asOfTool(ctx, cause), followingKey{}, &following{}), o)
	}
}
