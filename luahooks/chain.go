package luahooks

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/internal/filelock"
	"pi/internal/printable"
	"pi/internal/process"
	"pi/luahooks/api"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// Chain is the hooks of a program in their order. It is an [agent.Listener];
// all its methods may be called from any goroutine.
//
// Its parts stand on each other: which hooks there are (roster) and whom they talk to
// (audience), how events pass along them (dispatcher), and how files become what runs
// (loader).
type Chain struct {
	*loader
	watcher atomic.Pointer[watcher]
}

// New returns a chain without hooks; [Chain.Load] fills it.
func New(o Options) *Chain {
	return newChain(o, nil)
}

// newChain is New; above is the chain of the agent that uses the one of this chain, nil for none.
func newChain(o Options, above *loader) *Chain {
	roster := newRoster(o.Mode, o.like)
	roster.reserved = o.Reserved
	d := &dispatcher{roster: roster, audience: &audience{log: hookLog{path: o.LogPath}},
		behind: newBackground(), timeout: o.Timeout, grace: o.Grace}
	d.keeper = newLoader(o, d, above)
	return &Chain{loader: d.keeper}
}

// Meet gives the chain its user before there is a front end.
func (c *Chain) Meet(ui agent.UI) { c.audience.ui.Store(&ui) }

// Attach gives the chain its host and its user. Hooks get their events from
// now on, and the host the tools that hooks brought; that of a child is in the mode of its parent.
func (c *Chain) Attach(host api.Host, ui agent.UI) {
	if c.above == nil {
		c.dialogs.attach(ui)
	}
	sends := c.audience.attach(host, ui)
	c.tellFocusWanted()
	c.tools.Apply("")
	c.follow(context.Background())
	for _, send := range sends {
		send(host)
	}
}

// ApplyTools gives the agent the tools as they are now, when those of servers are others.
func (c *Chain) ApplyTools() { c.tools.Apply("") }

// AskTrust asks the hooks that are not of the project about files of it that are no hooks, and approves
// for this run what they trust. decided is false if none had an opinion.
func (c *Chain) AskTrust(ctx context.Context, files []trust.ProjectFile) (decided bool) {
	decided, _ = c.project.askHooks(ctx, files)
	return decided
}

// Watch makes changes of hook files take effect until [Chain.Close] or the end
// of ctx. Without it only [Chain.Reload] does. It is called once, after Load.
func (c *Chain) Watch(ctx context.Context) error {
	w, err := startWatcher(ctx, c.loader, &c.opts.Places, c.behind)
	if err == nil {
		c.watcher.Store(w)
	}
	return err
}

// WatchFrom is Watch from the moment on in which begin says something: what was saved before
// takes effect then. failed is told if the files cannot be watched.
func (c *Chain) WatchFrom(ctx context.Context, begin <-chan time.Time, failed func(error)) {
	c.watcher.Store(startWatcherLater(ctx, c.loader, &c.opts.Places, c.behind, begin, failed))
}

// ToolWatch is the listener that opens and closes the window in which a change of a
// hook's file may be that of a tool, one for the whole tree. It listens before hooks do.
func (c *Chain) ToolWatch() agent.Listener {
	return c.watch
}

// NoteClientWrites notes that a client writes the file at path for a tool. It is called
// before the write and after it.
func (c *Chain) NoteClientWrites(path string) { c.guard.NoteClientWrites(path) }

// Close ends the hooks: handlers in flight finish, or are cut off when ctx ends.
func (c *Chain) Close(ctx context.Context) {
	if !c.behind.announceEnd() {
		return
	}
	if w := c.watcher.Load(); w != nil {
		w.end()
		<-w.done
	}
	c.behind.close(ctx)
	c.endAll()
	c.ending.stop()
	c.ending.wg.Wait()
	c.workers.Close()
	if c.above != nil {
		c.tree.window.leave(ctx, c.watch)
	}
	if !c.opts.borrowsGuard {
		c.guard.Close()
	}
	c.log.close()
}

// Pending lists the files of the chain that wait for approval.
func (c *Chain) Pending() []trust.Pending { return c.guard.ShowPending() }

// Alerts are what a user must know of the hooks at this moment, in few words each: whose gates
// are shut, and how much waits for approval.
func (c *Chain) Alerts() (all []string) {
	for _, h := range c.roster.list() {
		switch closed := h.closed.Load(); {
		case closed == nil:
		case closed.unloaded:
			all = append(all, "tools are shut: hook "+h.Name+" did not load")
		default:
			all = append(all, "the gate of hook "+h.Name+" is shut")
		}
	}
	if n := c.guard.CountPending(); n > 0 {
		all = append(all, printable.Count(n, "change")+" of hooks to approve: /hooks approve")
	}
	return all
}

// Approve puts what p describes in force, which [Chain.Pending] listed and a user
// was shown, and loads what is made of it. It fails for what changed since.
func (c *Chain) Approve(ctx context.Context, p trust.Pending) error {
	err := c.edits.accept(ctx, &p)
	if err == nil {
		c.Reload(ctx, false)
	}
	return err
}

// UnapprovedPackages lists what lies among the packages and that nobody approved.
func (c *Chain) UnapprovedPackages() []trust.Source { return c.guard.UnapprovedPackages(c.opts.Places) }

// ReadDraft reads the draft of a hook that is called name.
func (c *Chain) ReadDraft(name string) (*trust.Draft, error) {
	return c.guard.ReadDraft(c.opts.Places, name)
}

// DraftOf is a draft of a hook and its test that came with the program.
func (c *Chain) DraftOf(name, hook, test string) (*trust.Draft, error) {
	return c.guard.DraftOf(c.opts.Places, name, hook, test)
}

// Drafts lists the names of the drafts that there are.
func (c *Chain) Drafts() []string { return c.opts.Places.Drafts() }

// Adopt makes a hook of a draft that a user was shown, and loads it.
func (c *Chain) Adopt(ctx context.Context, d *trust.Draft) error {
	err := c.guard.Adopt(d)
	if err == nil {
		c.Reload(ctx, false)
	}
	return err
}

// Trace turns on or off that each event that hooks of a name handle is told to
// the user and written to the hook log.
func (c *Chain) Trace(name string, on bool) error {
	hooks, err := c.roster.named(name, c.dir)
	for _, h := range hooks {
		h.traced.Store(on)
	}
	return err
}

// Hooks describes the chain in its order.
func (c *Chain) Hooks() []Info {
	var infos []Info
	for _, h := range c.roster.list() {
		infos = append(infos, h.info(c.dir, c.guard))
	}
	return infos
}

// Options are what a Chain is made of.
type Options struct {
	Places  trust.Places
	Paths   api.Paths // what hooks are told of them
	Cwd     string
	Mode    string // interactive print json rpc acp
	Version string
	LogPath string        // file that pi.log writes to; "" for none
	Timeout time.Duration // hook_timeout
	// testOnlyLoadTime bounds loading instead of Timeout, for tests of handlers that
	// are late: on a busy machine they would be late to load.
	testOnlyLoadTime time.Duration
	Grace            time.Duration // hook_grace
	Memory           int64         // hook_memory, bytes
	Models           *llm.Models   // where pi.provider registers
	Tools            []agent.Tool  // the program's own; hooks may replace them by name
	// Guard knows which version of each file is in force; nil: one that remembers
	// nothing beyond this run. A Guard serves one chain.
	Guard          *trust.Guard
	Compiled       *Compiled // of several chains, such as those of an editor's sessions; nil: of this one alone
	borrowsGuard   bool      // Guard is that of another chain, see [Chain.Rehearse] and [Chain.Child]
	like           *roster   // of another chain, whose events this one has; nil: they are made
	ApproveProject bool      // the project's hooks run as they are now
	// FetchPackages brings the packages that a project names and a user agreed to; nil: nobody does.
	FetchPackages func(context.Context, []trust.TeamPackage) error
	// AskProject asks whether hooks of the project may run; nil: nobody is asked.
	AskProject func(context.Context, trust.Question) trust.Answer
	// MaxLua is how long the Lua of one handler may run, without what it waits for; 0: as
	// long as Timeout.
	MaxLua time.Duration
	// Clock is what hooks take for the time; nil: the clock of the machine.
	Clock stdlib.Clock
	// Started is told the process group of each program that a hook waits for; nil: nobody is.
	Started func(group int)
	// Watcher ends what hooks have started when this program is killed, and what pi.exec left
	// behind with it in any case; nil: nobody does.
	Watcher *process.Watcher
	// Reach returns an error for a host to which hooks do not connect with pi.http; nil: they
	// may to all.
	Reach func(host string) error
	// Emitted is told of each event that a hook emits for others, before they get it; nil:
	// nobody is.
	Emitted func(ctx context.Context, name string, data json.RawMessage)
	// Locks are those of files, which the tools have too; nil: each hook has its own.
	Locks *filelock.Locks
	// Getenv is os.getenv of hooks, and what names their home directory; nil: the
	// environment of the process.
	Getenv func(name string) string
	// CommandEnv gives variables (NAME=value) that the programs which hooks start
	// get beside those of the process; nil: none.
	CommandEnv func() []string
	// Inactive are the program's own tools that the model does not get unless a
	// hook chooses them.
	Inactive []agent.Tool
	// ServerTools returns the tools by which the model comes to those of servers; nil: there
	// are none. It is asked whenever the tools are put together.
	ServerTools func() []agent.Tool
	// Servers returns the servers of the session, as hooks use them beside the model; nil, or a
	// nil of it: there are none.
	Servers func() api.Servers
	// Agents returns the agents that hooks can use; nil, or a nil of it: there are none.
	Agents func() api.Agents
	// Agent is that in whose session the hooks run; nil: it is the user's own.
	Agent *agent.Identity
	// MayHave reports whether the model may have the tool with a name at all, whatever hooks
	// choose; nil: it may have any.
	MayHave func(tool string) bool
	// Overlay returns the provider below with what a hook says of it on top; a nil
	// below is one that only the hook has. nil: hooks cannot register providers.
	Overlay func(below *llm.ProviderSpec, settings llm.ProviderSettings) llm.ProviderSpec
	// CheckSwitches says what is wrong with the switches of a wire API, "" for the
	// one that is spoken already; nil: nothing.
	CheckSwitches func(api string, switches map[string]any) error
	// CheckLogin says what is wrong with a login that is data; nil: nothing.
	CheckLogin func(l llm.Login) error
	// Settings returns what the settings in force say of a hook, by its name; ofProject: what
	// those of the project say of a hook of it. nil: nothing is said of any.
	Settings func(name string, ofProject bool) api.Settings
	// Flags are the values of flags that the command line gave for hooks.
	Flags map[string]string
	// Commands lists all commands of the program, those of hooks among them; nil
	// as long as there are none.
	Commands func() []command.Command
	// Reserved are the names of built-in commands, which those of hooks come behind.
	Reserved []string
	// Keys are the keys of the front end, which hooks cannot take either; without its
	// functions they can have any.
	Keys api.Keys
	// Confine is that of [api.Program]; nil: hooks get every function as it is.
	Confine func(vm *luavm.VM, L *lua.LState, name string, t *lua.LTable)
}
