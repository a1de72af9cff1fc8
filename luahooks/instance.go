package luahooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luahooks/record"
	"pi/luahooks/text"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/session"
	"pi/stdlib/compat"

	lua "github.com/yuin/gopher-lua"
)

// instance is one VM that runs a hook's file. It is the [api.Owner] of the API in it.
type instance struct {
	loader *loader
	hook   *hook
	real   string // the file, with symbolic links resolved
	code   []byte // the file's bytes
	vm     *luavm.VM

	records  *record.Converter
	script   *api.Script // the API in the VM, and what the file registered
	events   *event.Source
	behind   *background // what modules do outside of the VM; ends with the instance
	said     api.Settings
	of       *instance // in a child: that of the agent above which it is like
	found    foundModules
	mu       sync.Mutex // guards failures and places
	failures map[failure]int
	places   map[string]*failing // the places where it has failed
}

// handlers lists the handlers that in has for an event. in may be nil.
func (in *instance) handlers(event string) []*api.Handler {
	if in == nil {
		return nil
	}
	return in.script.Registered.Handlers.Of(event)
}

// mode returns the mode of a name that in has; nil if it has none. in may be nil.
func (in *instance) mode(name string) *api.Mode {
	if in == nil {
		return nil
	}
	mode, _ := in.script.Registered.Modes.Find(name)
	return mode
}

// Compiled is Lua files that chains have compiled: those that share it compile a file once.
// The zero value is ready, and may be used from any goroutine.
type Compiled struct {
	files  luavm.Code  // hooks and what they require
	compat compat.Code // modules for hooks of other programs
}

// load runs the file's code in the VM, which has run nothing yet. state is pi.state of the
// version before; nil: empty. It fails for a hook that is for another version of the API.
func (in *instance) load(ctx context.Context, code []byte, state json.RawMessage) error {
	name := in.loader.dir.shown(in.hook.Path)
	if err := checkAPI(name, code); err != nil {
		return err
	}
	proto, err := in.loader.compiled.files.Compile(name, code)
	if err != nil {
		return err
	}
	return in.vm.Run(ctx, luavm.Job{Name: "load", Loading: true, Timeout: in.loader.loadTime, Run: func(L *lua.LState) error {
		in.script.Run(L, proto, state)
		return nil
	}})
}

// close removes what the instance registered and shows. What runs in it finishes.
func (in *instance) close() {
	in.script.Registered.Handlers.Exit()
	in.vm.Close()
	in.end()
}

// end removes what the instance shows, unless the program ends, and tells what its modules do
// outside of the VM to stop. It does not wait for that; Chain.Close does.
func (in *instance) end() {
	in.behind.stop()
	in.endServers()
	if !in.loader.behind.isEnding() {
		in.script.Clear()
	}
	in.loader.ending.run(in.behind.wg.Wait)
}

// endServers ends the MCP servers of the instance, behind: their names are free at once.
func (in *instance) endServers() {
	if wait := in.script.EndServers(); !in.loader.ending.run(wait) {
		wait()
	}
}

// spawn runs f on a goroutine, with a context that ends when the instance is closed. It
// is false after that.
func (in *instance) spawn(f func(ctx context.Context)) bool {
	return in.behind.run(func() {
		ctx, cancel := in.behind.within(context.Background())
		defer cancel()
		f(ctx)
	})
}

// Current is that of [api.Owner].
func (in *instance) Current(ctx context.Context) *api.Registered {
	in.loader.revive(ctx, in.hook, in)
	return in.hook.registered()
}

// Ran is that of [api.Owner].
func (in *instance) Ran(ctx context.Context, what string, began time.Time, err error) {
	in.loader.audience.ran(ctx, in.hook, what, "ran", time.Since(began), err)
}

// Failed is that of [api.Owner].
func (in *instance) Failed(ctx context.Context, what string, handler *lua.LFunction, err error, to api.Audience) {
	if to == api.Everybody {
		in.loader.failed(ctx, in.hook, in, what, handler, err)
		return
	}
	if interrupted(ctx, err) {
		return
	}
	n := 1
	if to == api.OtherHooks {
		n = in.again(failure{handler, what, err.Error()})
		in.loader.audience.tellFailed(ctx, failureOf(in.hook, what, err, n), "")
	}
	in.hook.fault(err, n)
	in.loader.audience.log.write(in.hook.Name, what+": "+fullText(err))
	in.loader.revive(ctx, in.hook, in)
}

// IsCutOff is that of [api.Owner].
func (in *instance) IsCutOff(ctx context.Context, what string) bool {
	if ctx.Err() == nil || !in.loader.behind.isEnding() {
		return false
	}
	in.loader.audience.tellCutOff(in.hook, what, "the program has ended")
	return true
}

// files lists the hook's own file and those that require looked at.
func (in *instance) files() []string {
	return append(slices.Collect(maps.Keys(in.script.Files())), in.real)
}

// failure is an error of a hook that is shown once.
type failure struct {
	handler        *lua.LFunction // nil: event says where
	event, message string
}

// maxFailures is how many different ones of a hook are told apart.
const maxFailures = 1000

// again counts a failure and returns how often it has happened since the file was loaded.
// Beyond maxFailures different ones, all new ones count as the same.
func (in *instance) again(f failure) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, known := in.failures[f]; !known && len(in.failures) >= maxFailures {
		f = failure{}
	}
	in.failures[f]++
	return in.failures[f]
}

// failing is a place of a hook that has failed.
type failing struct {
	times   int      // since the file was loaded
	session string   // in which what follows was shown
	shown   []string // its rows
}

// shownPerPlace is how many failures of one line of a hook are shown in a session: their
// words may change each time, with what the model just wrote.
const shownPerPlace = 2

// failedAt counts a failure at a place, and returns how often that has failed. row is what to
// show of it in the session: text, or nothing if that stands there already, or as many others
// as may. The last one says that there may be more.
func (in *instance) failedAt(place, session, text string) (times int, row string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	p := in.places[place]
	if p == nil {
		p = new(failing)
		in.places[place] = p
	}
	if p.times++; p.session != session {
		p.session, p.shown = session, nil
	}
	if len(p.shown) == shownPerPlace || slices.Contains(p.shown, text) {
		return p.times, ""
	}
	if p.shown = append(p.shown, text); len(p.shown) == shownPerPlace {
		text += " (what else this line raises is only counted: /hooks)"
	}
	return p.times, text
}

// pinnedWithin is in how many lines of a hook's head the API may be pinned.
const pinnedWithin = 10

// checkAPI refuses a hook that was written for another version of the API.
func checkAPI(name string, code []byte) error {
	lines := bytes.SplitN(code, []byte("\n"), pinnedWithin+1)
	for i, line := range lines[:min(pinnedWithin, len(lines))] {
		pin := apiPin(string(line))
		if pin == fmt.Sprint(api.Version) {
			return nil
		}
		if pin != "" {
			return fmt.Errorf("%s:%d: the hook wants pi-api %s, this program has %d", name, i+1, pin, api.Version)
		}
	}
	return nil
}

// apiPin is the version that a line "-- pi-api: 1" names, "" for any other line.
func apiPin(line string) string {
	comment, isComment := strings.CutPrefix(line, "--")
	pin, pins := strings.CutPrefix(strings.TrimSpace(comment), "pi-api:")
	if words := strings.Fields(pin); isComment && pins && len(words) == 1 {
		return words[0]
	}
	return ""
}

// newInstance makes an instance for a hook, with a VM in which nothing ran yet.
func (l *loader) newInstance(h *hook) *instance {
	var now func() time.Time // nil: that of the machine
	if l.opts.Clock != nil {
		now = l.opts.Clock.Now
	}
	in := &instance{loader: l, hook: h, real: l.guard.RealPath(h.Source), behind: newBackground(), of: h.of, said: l.settingsOf(h), failures: map[failure]int{}, places: map[string]*failing{}}
	in.vm = luavm.New(luavm.Options{
		Print:         func(line string) { l.audience.notify(context.Background(), agent.LevelInfo, h.Name+": "+line) },
		MemoryLimit:   l.opts.Memory,
		Sharers:       l.tree.window.countWorking,
		StrictGlobals: true,
		Instead:       text.Instead,
		Fails:         l.roster.names.Fails,
		Elsewhere:     l.roster.names.Field,
		Modules:       l.roster.names.Modules,
		Getenv:        l.opts.Getenv,
		MaxLua:        l.opts.MaxLua,
		Now:           now,
		Workers:       &l.dispatcher.workers,
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
	program := l.program(in)
	in.script = api.NewScript(in.vm, in.records, program)
	in.events = event.NewSource(in.vm, in.records, agent.Origin{Kind: agent.FromHook, Hook: h.Name, Path: h.Path, Limit: program.Limit}, l.opts.Agent, in.script.Signal, func() (branch []*session.Entry, known bool) {
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
	o, said := l.opts.withDefaults(l.roster), in.said
	return api.Program{
		Hook: l.hookInfo(h), Settings: said, Limit: said.MaxContinuations, Answers: said.Answers,
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
		Dialogs: l.dialogsOf(), Answerer: &l.dialogs.prompts, Always: l.memory(), Places: &l.audience.screen,
		Reload: func(ctx context.Context) { l.Reload(ctx, true) },

		Deferred: &l.dispatcher.deferred,

		Owner: in, Life: in.behind.life, Spawn: in.spawn,

		CheckEvent: l.roster.checkEvent, CountHandlers: l.countHandlers,
		Emit: func(ctx context.Context, name string, data json.RawMessage) {
			if l.opts.Emitted != nil {
				l.opts.Emitted(ctx, name, data)
			}
			l.dispatcher.emitCustom(ctx, h, name, data)
		},

		Tools:    &l.tools,
		Commands: o.Commands, Keys: o.Keys, CommandsChanged: l.warnCommands,
		Flags: l.roster.Flags, GivenFlags: l.opts.Flags,
		Servers: l.opts.Servers, Agents: l.agents, AtWork: l.watch.add,
		EventTable: func(e agent.Event) func(L *lua.LState) *lua.LTable {
			return l.roster.events[e.Kind()].Look(in.events, e)
		},
		Models: l.opts.Models, CheckSwitches: l.opts.CheckSwitches, CheckLogin: l.opts.CheckLogin, ProvidersChanged: l.providers.refresh,

		Environ: o.CommandEnv, Getenv: l.opts.Getenv, Clock: l.opts.Clock, Reach: l.opts.Reach, Locks: l.opts.Locks, Confine: l.opts.Confine,
		Starting: l.startingIn, Watcher: l.opts.Watcher,
		Code: &l.compiled.files, Compat: &l.compiled.compat, FindModule: l.modulesOf(in),

		Kept: &h.kept, Ends: l.ending.life,
		Survives: func() bool {
			now := h.current()
			return now != nil && now != in && !l.behind.isEnding()
		},
	}
}

// hookInfo is pi.hook of a hook.
func (l *loader) hookInfo(h *hook) api.HookInfo {
	info := api.HookInfo{Name: h.Name, Path: h.Path, Scope: string(h.Scope)}
	if i := l.opts.Agent; i != nil {
		info.Agent = record.NewAgentInfo(i.Name, i.Depth, i.Parent)
	}
	return info
}

// focusReporter is a front end whose window can say whether it is in front.
type focusReporter interface {
	// ReportFocus has it say so, or no longer, because a hook listens. It may be called by any
	// goroutine.
	ReportFocus(wanted bool)
}

// countHandlers counts handlers of an event that come into force or go.
func (l *loader) countHandlers(event string, n int) {
	l.roster.count(event, n)
	if event == agent.KindFocus.String() {
		l.tellFocusWanted()
	}
}

// tellFocusWanted tells the front end whether a hook listens to the event focus.
func (l *loader) tellFocusWanted() {
	if ui, ok := l.audience.uiNow().(focusReporter); ok {
		ui.ReportFocus(l.roster.wants(agent.KindFocus))
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
		note = l.root().startingLate(ctx) // what that left behind to be started
	}
	return func(group int) {
		note(group)
		if l.opts.Started != nil && group > 0 {
			l.opts.Started(group)
		}
	}
}

// foundModules are the modules of the folder of a hook that an instance has required, by their names,
// so that those of children are the same.
type foundModules struct {
	mu     sync.Mutex // guards byName
	byName map[string]foundModule
}

type foundModule struct {
	path   string
	code   []byte
	looked map[string]string // files that were looked at, with the sums of their bytes
}

func (f *foundModules) get(name string) (m foundModule, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, ok = f.byName[name]
	return m, ok
}

func (f *foundModules) put(name string, m foundModule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byName == nil {
		f.byName = map[string]foundModule{}
	}
	f.byName[name] = m
}

// modulesOf returns the function that finds the modules of an instance, by the guard. In a child they
// are those of the agent above, as far as that has required them.
func (l *loader) modulesOf(in *instance) func(name string, loading bool, looked func(path, sum string)) (string, []byte, error) {
	hook := in.hook.Source
	hook.Real = in.real
	return func(name string, loading bool, looked func(path, sum string)) (string, []byte, error) {
		if in.of != nil {
			if m, ok := in.of.found.get(name); ok {
				for path, sum := range m.looked {
					looked(path, sum)
				}
				in.found.put(name, m)
				return l.dir.shown(m.path), m.code, nil
			}
		}
		m := foundModule{looked: map[string]string{}}
		var err error
		m.path, m.code, err = l.guard.FindModule(trust.Required{
			Hook: hook, Name: name,
			Loading: loading, Shown: l.dir.shown, Looked: func(path, sum string) {
				m.looked[path] = sum
				looked(path, sum)
			},
		})
		if err == nil {
			in.found.put(name, m)
		}
		return l.dir.shown(m.path), m.code, err
	}
}
