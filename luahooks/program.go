package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luahooks/record"
	"pi/luahooks/text"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/session"
)

// newInstance makes an instance for a hook, with a VM in which nothing ran yet.
func (c *Chain) newInstance(h *hook) *instance {
	in := &instance{shared: c.shared, hook: h, real: c.guard.RealPath(h.Source), behind: newBackground(), failures: map[failure]int{}, places: map[string]*failing{}}
	in.vm = luavm.New(luavm.Options{
		Print:         func(line string) { c.audience.notify(context.Background(), agent.LevelInfo, h.Name+": "+line) },
		MemoryLimit:   c.opts.Memory,
		StrictGlobals: true,
		Instead:       text.Instead,
		Fails:         c.shared.names.Fails,
		Elsewhere:     c.shared.names.Field,
		Modules:       c.shared.names.Modules,
		Getenv:        c.opts.Getenv,
		MaxLua:        c.opts.MaxLua,
		Now:           c.now(),
		Lanes:         &c.lanes,
		Waits: func(job, function string) {
			// For its tools, models and timers waiting is nothing special.
			if c.roster.knows(job) || strings.HasPrefix(job, "/") || strings.HasPrefix(job, "shortcut ") {
				c.audience.notify(context.Background(), agent.LevelInfo, "hook "+h.Name+": "+job+" still waits for "+function)
			}
		},
		Panicked: func(function string, value any, stack []byte) {
			c.reports.log.write(h.Name, fmt.Sprintf("panic in %s: %v\n%s", function, value, stack))
		},
	})
	in.records = record.NewConverter(in.vm, &c.valid)
	in.script = api.NewScript(in.vm, in.records, c.program(in))
	in.events = event.NewSource(in.vm, in.records, h.Name, in.script.Signal, func() (branch []*session.Entry, known bool) {
		host := c.audience.hostNow()
		if host == nil {
			return nil, false
		}
		return host.Session().Branch(), true
	})
	return in
}

// now is the time that hooks take for now; nil: that of the machine.
func (c *Chain) now() func() time.Time {
	if c.opts.Clock == nil {
		return nil
	}
	return c.opts.Clock.Now
}

// program is what the API of an instance needs of the chain.
func (c *Chain) program(in *instance) api.Program {
	h := in.hook
	o := c.opts.withDefaults(c)
	return api.Program{
		Hook:  api.HookInfo{Name: h.Name, Path: h.Path, Scope: string(h.Scope)},
		Paths: c.opts.Paths,
		Cwd:   c.opts.Cwd, Mode: c.opts.Mode, Version: c.opts.Version, Timeout: c.opts.Timeout, Grace: c.opts.Grace,

		Host: c.audience.hostNow, UI: c.audience.uiNow, Notify: c.audience.notify, NotifyOnce: c.audience.notifyOnce,
		Log: func(text string) { c.reports.log.write(h.Name, text) },
		Later: func(send func(ctx context.Context, host api.Host)) bool {
			return c.audience.keep(func(host api.Host) {
				ctx, cancel := c.behind.within(context.Background())
				defer cancel()
				send(ctx, host)
			})
		},
		Dialogs: c.dialogs, Always: &c.always, Places: &c.audience.places,
		Reload: func(ctx context.Context) { c.Reload(ctx, true) },

		Deferred: c.events.deferred,

		Owner: in, Life: in.behind.life, Spawn: in.spawn,

		CheckEvent: c.roster.checkEvent, CountHandlers: c.roster.count,
		Emit: func(ctx context.Context, name string, data json.RawMessage) {
			if c.opts.Emitted != nil {
				c.opts.Emitted(ctx, name, data)
			}
			c.events.emitCustom(ctx, h, name, data)
		},

		Tools:    &c.tools,
		Commands: o.Commands, Reserved: o.Reserved, Keys: o.Keys, CommandsChanged: c.warnCommands,
		Flags: c.Flags, GivenFlags: c.opts.Flags,
		Models: c.opts.Models, CheckSwitches: c.opts.CheckSwitches, ProvidersChanged: c.providers.refresh,

		Environ: o.CommandEnv, Getenv: c.opts.Getenv, Clock: c.opts.Clock, Reach: c.opts.Reach, Confine: c.opts.Confine,
		Starting: c.startingIn, Watcher: c.opts.Watcher,
		Code: &c.shared.compiled.files, Compat: &c.shared.compiled.compat, FindModule: c.modulesOf(in),

		Kept: &h.kept, Ends: c.shared.ending.life,
		Survives: func() bool {
			now := h.current()
			return now != nil && now != in && !c.behind.isEnding()
		},
	}
}

// withDefaults gives the functions that nobody has set something to do.
func (o Options) withDefaults(c *Chain) Options {
	if o.Commands == nil {
		o.Commands = c.Commands
	}
	if o.Keys.Chord == nil {
		o.Keys.Chord = func(key string) (string, error) { return strings.ToLower(key), nil }
	}
	if o.Keys.IsReserved == nil {
		o.Keys.IsReserved = func(string) bool { return false }
	}
	if o.CommandEnv == nil {
		o.CommandEnv = func() []string { return nil }
	}
	return o
}

// startingIn is called before a job of ctx starts a process. The function that it returns is
// told the group of that, or 0 if there is none.
func (c *Chain) startingIn(ctx context.Context) (started func(group int)) {
	note := func(int) {} // what its handlers start is not the model's
	switch {
	case agent.InTool(ctx):
		note = c.guard.Starting() // what a hook's own tool starts
	case api.IsOfTool(ctx):
		note = c.loader.startingLate(ctx) // what that left behind to be started
	}
	return func(group int) {
		note(group)
		if c.opts.Started != nil && group > 0 {
			c.opts.Started(group)
		}
	}
}

// modulesOf returns the function that finds the modules of an instance, by the guard.
func (c *Chain) modulesOf(in *instance) func(name string, loading bool, looked func(path, sum string)) (string, []byte, error) {
	return func(name string, loading bool, looked func(path, sum string)) (string, []byte, error) {
		path, code, err := c.guard.FindModule(trust.Required{
			Hook: trust.Source{Path: in.hook.Path, Real: in.real, Scope: in.hook.Scope}, Name: name,
			Loading: loading, Shown: c.dir.shown, Looked: looked,
		})
		return c.dir.shown(path), code, err
	}
}
