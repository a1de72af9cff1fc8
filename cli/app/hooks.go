package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/cli/config"
	"pi/luahooks"
	"pi/luahooks/api"
	"pi/luahooks/trust"
	"pi/repl/terminal/keymap"
	"pi/session/message"
	"pi/stdlib"
)

// loadHooks loads the hooks. It fails if the command line names flags or tools that there
// are not, or if hooks are required that are not approved.
func (r *run) loadHooks(ctx context.Context, mode string) error {
	p := r.place
	if p.Config.HookEdits == "ask" {
		p.Guard.AskEdits()
	}
	r.hookTables = p.newHookTables(p.hookSecret)
	o := r.hookOptions(p.Places(), mode)
	if p.Attended() && !p.Hooks.NoApprove {
		o.AskProject = r.startUser().AskProject
		o.FetchPackages = func(ctx context.Context, wants []trust.TeamPackage) error { return p.FetchTeam(ctx, wants, r.tellNow) }
	}
	if err := p.Packages().Recover(); err != nil {
		r.later.warn(err.Error())
	}
	p.tellUnapproved(&r.later)
	r.chain = luahooks.New(o)
	r.registerTour()
	if p.Attended() {
		r.chain.Meet(r.hooksUser())
	}
	r.skipped = r.chain.Load(ctx)
	if err := errors.Join(p.checkHookFlags(r.chain.Flags()), p.checkTools(r.chain.ToolNames(), &r.later), p.checkModeName(r.chain.ModeNames())); err != nil {
		return err
	}
	return errors.Join(p.reportSkipped(r.skipped, &r.later), r.reportAgents(ctx))
}

// registerTour registers the demo, whose script runs beside the hooks.
func (r *run) registerTour() {
	r.models.Register(llm.ProviderSpec{Name: "demo", ByNameOnly: true, Models: llm.Listed(TourModel()), Stream: r.chain.Builtin("demo/tour", stdlib.Tour())})
}

// hookOptions are those of the hooks of a session that a front end with the name mode serves.
func (r *run) hookOptions(places trust.Places, mode string) luahooks.Options {
	p := r.place
	o := p.chainOptions(places, r.models)
	o.Mode, o.LogPath = mode, p.hookLog()
	o.Settings = r.hookTables.of
	o.ApproveProject = p.Hooks.Approve
	if s := r.script; s != nil {
		o.Clock, o.Reach, o.MaxLua, o.Emitted, o.Started = s.Clock, s.Reach, s.MaxLua, s.Emitted, s.Started
	}
	o.Watcher, o.Locks = p.Watcher, p.Locks
	o.CommandEnv, o.Grace = p.commandEnv, time.Duration(p.Config.HookGrace)*time.Millisecond
	o.Tools, o.Inactive = p.tools(r.toolOptions())
	o.ServerTools, o.Servers = r.mcp.tools, r.forHooks
	o.MayHave, o.Flags = p.Tools.mayHave, p.Hooks.Given.Values
	o.Keys = p.hookKeys()
	o.Commands, o.Agents = r.allCommands, r.agents
	return o
}

// hookKeys are the keys of the front end as hooks see them, in this session and in those of children.
func (p *Place) hookKeys() api.Keys {
	var parsed parsedKeys
	return api.Keys{Chord: keymap.ParseChord, IsReserved: func(chord string) bool {
		return parsed.of(p.Config.Bindings()).Reserved(chord)
	}, InForce: func() map[string][]string {
		table, inForce := parsed.of(p.Config.Bindings()), map[string][]string{}
		for _, a := range keymap.Actions() {
			inForce[a.Name] = table.Keys(a.Name)
		}
		return inForce
	}}
}

// parsedKeys is the table of keys that was made last: each hook of each child asks for the same. The
// zero value is ready, and may be used from any goroutine.
type parsedKeys struct {
	mu       sync.Mutex // guards what follows
	bindings map[string][]string
	table    *keymap.Map // nil: nobody has asked
}

// of returns the table that [keys] of the settings makes.
func (k *parsedKeys) of(bindings map[string][]string) *keymap.Map {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.table == nil || !maps.EqualFunc(k.bindings, bindings, slices.Equal[[]string]) {
		k.bindings = bindings
		k.table, _ = keymap.Parse(bindings)
	}
	return k.table
}

// allCommands are the commands that there are: those of hooks alone before there is a front end.
func (r *run) allCommands() []command.Command {
	if r.commands == nil {
		return r.chain.Commands()
	}
	return r.commands.All()
}

// tellNow tells the user what is under way: at once, be it that there is no front end yet.
func (r *run) tellNow(lines ...string) {
	text := strings.Join(lines, "\n")
	if r.agent == nil {
		r.startUser().notify(text, agent.LevelInfo)
		return
	}
	r.agent.Notify(context.Background(), agent.LevelInfo, text)
}

// beforeSession emits the events that come before there is a session, and uses the session
// directory that a hook wants, unless the command line names one. Failures of hooks are
// shown by the chain, so they do not end the start.
func (r *run) beforeSession(ctx context.Context) error {
	p := r.place
	if r.chain.Wants(agent.KindAppStart) {
		_ = r.chain.Handle(ctx, &agent.AppStart{})
	}
	if p.Session.Dir != "" || p.Session.None || !r.chain.Wants(agent.KindSessionDirectory) {
		return ctx.Err()
	}
	e := &agent.SessionDirectory{Cwd: p.Cwd}
	_ = r.chain.Handle(ctx, e)
	if e.Dir != "" {
		dir := absolute(p.Cwd, config.Expand(e.Dir, p.Env.home()))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			r.later.warn(fmt.Sprintf("the session directory that a hook wants: %v; the usual one is used", err))
		} else {
			r.sessions.Root = dir
		}
	}
	return ctx.Err()
}

// watchHooks begins to watch the files of the hooks, so that a change that the user
// saves takes effect at once.
func (r *run) watchHooks(ctx context.Context) {
	if err := r.chain.Watch(ctx); err != nil {
		r.tellUnwatched(ctx, err)
	}
}

func (r *run) tellUnwatched(ctx context.Context, err error) {
	r.agent.Notify(ctx, agent.LevelWarning, fmt.Sprintf("hooks are not watched: %v; /reload loads them anew", err))
}

// unwatched is how long a run that answers prompts and ends goes on before its hooks are
// watched. To end a watch takes the system 10 ms, more than all else that the end of a
// short run takes.
const unwatched = time.Second

// watchLater is the listener that begins to watch the hooks behind the first
// request, where nobody could have saved one before: a start pays nothing for it.
type watchLater struct {
	begin func()
	once  sync.Once
}

// Wants reports whether k may be the first of an answer.
func (*watchLater) Wants(k agent.Kind) bool { return k == agent.KindMessageStart }

// Handle begins the watching at the first answer of the model. It never fails.
func (w *watchLater) Handle(_ context.Context, e agent.Event) error {
	if m, ok := e.(*agent.MessageStart); ok && m.Message.Role == message.RoleAssistant {
		w.once.Do(w.begin)
	}
	return nil
}
