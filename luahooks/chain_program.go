package luahooks

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"pi/internal/suggest"
	"pi/luahooks/trust"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// program is what the API of an instance needs of the chain.
func (c *Chain) program(in *instance) Program {
	h := in.hook
	commands := c.opts.Commands
	if commands == nil {
		commands = c.Commands
	}
	return Program{
		Hook: HookInfo{h.Name, h.Path, string(h.Scope)},
		Cwd:  c.opts.Cwd, Mode: c.opts.Mode, Version: c.opts.Version, Timeout: c.opts.Timeout, Grace: c.opts.Grace,

		Host: c.audience.hostNow, UI: c.audience.uiNow, Notify: c.audience.notify, NotifyOnce: c.audience.notifyOnce,
		Log:     func(text string) { c.reports.log.write(h.Name, text) },
		Later:   c.sendLater,
		Dialogs: c.dialogs,
		Reload:  func(ctx context.Context) { c.Reload(ctx, true) },

		Owner: in, Life: in.behind.life, Spawn: in.spawn,

		CheckEvent: c.roster.checkEvent, CountHandlers: c.roster.count,
		Emit: func(ctx context.Context, name string, data json.RawMessage) { c.events.emitCustom(ctx, h, name, data) },

		Tools:    &c.tools,
		Commands: commands, Reserved: c.opts.Reserved, CommandsChanged: c.warnCommands,
		Flags: c.Flags, GivenFlags: c.opts.Flags,
		Models: c.opts.Models, CheckSwitches: c.opts.CheckSwitches, ProvidersChanged: c.applyProviders,

		Environ: c.commandEnv, Started: c.startedBy,
		FindModule: func(name string, loading bool, looked func(path, sum string)) (string, []byte, error) {
			path, code, err := c.guard.FindModule(trust.Required{
				Hook: trust.Source{Path: h.Path, Real: in.real, Scope: h.Scope}, Name: name,
				Loading: loading, Shown: c.dir.shown, Looked: looked,
			})
			return c.dir.shown(path), code, err
		},
	}
}

// sendLater stores what is to be sent until there is a session; it is false when there
// is one.
func (c *Chain) sendLater(send func(ctx context.Context, host Host)) bool {
	return c.audience.keep(func(host Host) {
		ctx, cancel := c.behind.within(context.Background())
		defer cancel()
		send(ctx, host)
	})
}

// spawn runs f until the instance is closed; it is false after that.
func (in *instance) spawn(f func(ctx context.Context)) bool {
	return in.behind.run(func() {
		ctx, cancel := in.behind.within(context.Background())
		defer cancel()
		f(ctx)
	})
}

// Current is that of [Owner].
func (in *instance) Current(ctx context.Context) *Registered {
	in.chain.loader.revive(ctx, in.hook, in)
	return in.hook.registered()
}

// Ran is that of [Owner].
func (in *instance) Ran(ctx context.Context, what string, began time.Time, err error) {
	in.chain.reports.ran(ctx, in.hook, what, began, err)
}

// Failed is that of [Owner].
func (in *instance) Failed(ctx context.Context, what string, handler *lua.LFunction, err error, to Audience) {
	if to == Everybody {
		in.chain.loader.failed(ctx, in.hook, in, what, handler, err)
		return
	}
	if interrupted(ctx, err) {
		return
	}
	n := 1
	if to == OtherHooks {
		n = in.again(failure{handler, what, err.Error()})
		in.chain.reports.tellFailed(ctx, failureOf(in.hook, what, err, n), "")
	}
	in.fault(ctx, what, err, n)
}

// IsCutOff is that of [Owner].
func (in *instance) IsCutOff(ctx context.Context, what string) bool {
	if ctx.Err() == nil || !in.chain.behind.isEnding() {
		return false
	}
	in.chain.reports.tellCutOff(in.hook, what, "the program has ended")
	return true
}

// modulesChanged reports whether a file that require looked at is another now.
func (in *instance) modulesChanged() bool {
	for path, sum := range in.script.Files() {
		if in.chain.guard.Read(path).Sum != sum {
			return true
		}
	}
	return false
}

// files lists the hook's own file and those that require looked at.
func (in *instance) files() []string {
	return append(slices.Collect(maps.Keys(in.script.Files())), in.real)
}

// checkEvent says what is wrong with the name of an event.
func (r *roster) checkEvent(name string) error {
	if r.knows(name) {
		return nil
	}
	names := r.eventNames()
	if hint := suggest.Hint(name, names); hint != "" {
		return luavm.Misusef("unknown event %q%s", name, hint)
	}
	return luavm.Misusef("unknown event %q; one that hooks emit has a colon in its name; others are %s", name, strings.Join(names, ", "))
}
