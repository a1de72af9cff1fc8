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
	"pi/luahooks/foreign"
	"pi/luahooks/record"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/session"
)

// newInstance makes an instance for a hook, with a VM in which nothing ran yet.
func (l *loader) newInstance(h *hook) *instance {
	var now func() time.Time // nil: that of the machine
	if l.opts.Clock != nil {
		now = l.opts.Clock.Now
	}
	in := &instance{loader: l, hook: h, real: l.guard.RealPath(h.Source), behind: newBackground(), failures: map[failure]int{}, places: map[string]*failing{}}
	in.vm = luavm.New(luavm.Options{
		Print:         func(line string) { l.audience.notify(context.Background(), agent.LevelInfo, h.Name+": "+line) },
		MemoryLimit:   l.opts.Memory,
		StrictGlobals: true,
		Instead:       foreign.Instead,
		Fails:         l.roster.names.Fails,
		Elsewhere:     l.roster.names.Field,
		Modules:       l.roster.names.Modules,
		Getenv:        l.opts.Getenv,
		MaxLua:        l.opts.MaxLua,
		Now:           now,
		Lanes:         &l.dispatcher.lanes,
		Waits: func(job, function string) {
			// For its tools, models and timers waiting is nothing special.
			if l.roster.knows(job) || strings.HasPrefix(job, "/") || strings.HasPrefix(job, "shortcut ") {
				l.audience.notify(context.Background(), agent.LevelInfo, "hook "+h.Name+": "+job+" still waits for "+function)
			}
		},
		Panicked: func(function string, value any, stack []byte) {
			l.audience.log.write(h.Name, fmt.Sprintf("panic in %s: %v\n%s", function, value, stack))
		},
	})
	in.records = record.NewConverter(in.vm, &l.valid)
	in.script = api.NewScript(in.vm, in.records, l.program(in))
	in.events = event.NewSource(in.vm, in.records, h.Name, in.script.Signal, func() (branch []*session.Entry, known bool) {
		host := l.audience.hostNow()
		if host == nil {
			return nil, false
		}
		return host.Session().Branch(), true
	})
	return in
}

// program is what the API of an instance needs of the chain.
func (l *loader) program(in *instance) api.Program {
	h := in.hook
	o := l.opts.withDefaults(l.roster)
	return api.Program{
		Hook:  api.HookInfo{Name: h.Name, Path: h.Path, Scope: string(h.Scope)},
		Paths: l.opts.Paths,
		Cwd:   l.opts.Cwd, Mode: l.opts.Mode, Version: l.opts.Version, Timeout: l.opts.Timeout, Grace: l.opts.Grace,

		Host: l.audience.hostNow, UI: l.audience.uiNow, Notify: l.audience.notify, NotifyOnce: l.audience.notifyOnce,
		Log: func(text string) { l.audience.log.write(h.Name, text) },
		Later: func(send func(ctx context.Context, host api.Host)) bool {
			return l.audience.keep(func(host api.Host) {
				ctx, cancel := l.behind.within(context.Background())
				defer cancel()
				send(ctx, host)
			})
		},
		Dialogs: l.dialogs, Always: &l.always, Places: &l.audience.screen,
		Reload: func(ctx context.Context) { l.Reload(ctx, true) },

		Deferred: &l.dispatcher.deferred,

		Owner: in, Life: in.behind.life, Spawn: in.spawn,

		CheckEvent: l.roster.checkEvent, CountHandlers: l.roster.count,
		Emit: func(ctx context.Context, name string, data json.RawMessage) {
			if l.opts.Emitted != nil {
				l.opts.Emitted(ctx, name, data)
			}
			l.dispatcher.emitCustom(ctx, h, name, data)
		},

		Tools:    &l.tools,
		Commands: o.Commands, Reserved: o.Reserved, Keys: o.Keys, CommandsChanged: l.warnCommands,
		Flags: l.roster.Flags, GivenFlags: l.opts.Flags,
		Models: l.opts.Models, CheckSwitches: l.opts.CheckSwitches, ProvidersChanged: l.providers.refresh,

		Environ: o.CommandEnv, Getenv: l.opts.Getenv, Clock: l.opts.Clock, Reach: l.opts.Reach, Confine: l.opts.Confine,
		Starting: l.startingIn, Watcher: l.opts.Watcher,
		Code: &l.compiled.files, Compat: &l.compiled.compat, FindModule: l.modulesOf(in),

		Kept: &h.kept, Ends: l.ending.life,
		Survives: func() bool {
			now := h.current()
			return now != nil && now != in && !l.behind.isEnding()
		},
	}
}

// withDefaults gives the functions that nobody has set something to do.
func (o Options) withDefaults(r *roster) Options {
	if o.Commands == nil {
		o.Commands = r.Commands
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
func (l *loader) startingIn(ctx context.Context) (started func(group int)) {
	note := func(int) {} // what its handlers start is not the model's
	switch {
	case agent.InTool(ctx):
		note = l.guard.Starting() // what a hook's own tool starts
	case api.IsOfTool(ctx):
		note = l.startingLate(ctx) // what that left behind to be started
	}
	return func(group int) {
		note(group)
		if l.opts.Started != nil && group > 0 {
			l.opts.Started(group)
		}
	}
}

// modulesOf returns the function that finds the modules of an instance, by the guard.
func (l *loader) modulesOf(in *instance) func(name string, loading bool, looked func(path, sum string)) (string, []byte, error) {
	return func(name string, loading bool, looked func(path, sum string)) (string, []byte, error) {
		path, code, err := l.guard.FindModule(trust.Required{
			Hook: trust.Source{Path: in.hook.Path, Real: in.real, Scope: in.hook.Scope}, Name: name,
			Loading: loading, Shown: l.dir.shown, Looked: looked,
		})
		return l.dir.shown(path), code, err
	}
}
