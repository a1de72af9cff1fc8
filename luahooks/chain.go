package luahooks

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/internal/printable"
	"pi/luahooks/event"
	"pi/luahooks/record"
	"pi/luahooks/trust"
	"pi/luavm"
)

// Options are what a Chain is made of.
type Options struct {
	Places  trust.Places
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
	ApproveProject bool // the project's hooks run as they are now
	// AskProject asks whether hooks of the project may run; nil: nobody is asked.
	AskProject func(context.Context, trust.Question) trust.Answer
	// CommandEnv gives variables (NAME=value) that the programs which hooks start
	// get beside those of the process; nil: none.
	CommandEnv func() []string
	// Inactive are the program's own tools that the model does not get unless a
	// hook chooses them.
	Inactive []agent.Tool
	// Only are the names of the tools that the model may have at all, those of hooks
	// among them, whatever hooks choose; nil: any.
	Only []string
	// Overlay returns the provider below with what a hook says of it on top; a nil
	// below is one that only the hook has. nil: hooks cannot register providers.
	Overlay func(below *llm.ProviderSpec, settings llm.ProviderSettings) llm.ProviderSpec
	// CheckSwitches says what is wrong with the switches of a wire API, "" for the
	// one that is spoken already; nil: nothing.
	CheckSwitches func(api string, switches map[string]any) error
	// Flags are the values of flags that the command line gave for hooks.
	Flags map[string]string
	// Commands lists all commands of the program, those of hooks among them; nil
	// as long as there are none.
	Commands func() []command.Command
	// Reserved are the names of built-in commands, which hooks cannot take.
	Reserved []string
}

// Chain is the hooks of a program in their order. It is an [agent.Listener];
// all its methods may be called from any goroutine.
type Chain struct {
	opts   Options
	events map[agent.Kind]*event.Spec
	log    *hookLog
	behind *background // handlers that finish behind the agent, greetings, the watcher
	ending *background // what waits for the modules of hooks that were replaced
	lanes  luavm.Lanes // what handlers run on
	valid  record.ValidJSON

	host atomic.Pointer[Host]
	ui   atomic.Pointer[agent.UI]

	hooks   atomic.Pointer[[]*hook] // replaced, never changed
	wanted  [256]atomic.Int32       // handlers per agent.Kind
	changes sync.Mutex              // held while the list or a hook of it is replaced
	closed  atomic.Bool

	inForce   sync.Mutex // held while tools and providers of hooks are handed over
	providers registry
	choice    toolChoice
	dialogs   chan struct{} // holds one token: who takes it may ask the person

	abandoned atomic.Int32 // VMs that did not stop, in this process
	early     earlyReports
	warned    onceOnly
	watcher   atomic.Pointer[watcher]
	guard     *trust.Guard
	awaiting  atomic.Bool   // somebody waits for the processes of tools
	leaving   chan struct{} // closed when the chain ends
	builtins  []*builtin
}

// earlyReports holds what happened before there was a host to tell.
type earlyReports struct {
	mu    sync.Mutex
	lines []notice
	sent  []func(Host)
}

// keep takes what is to be sent; it is false when there is a host already.
func (r *earlyReports) keep(c *Chain, send func(Host)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.hostNow() != nil {
		return false
	}
	r.sent = append(r.sent, send)
	return true
}

type notice struct {
	level  agent.Level
	text   string            // "" is not shown
	failed *agent.HookFailed // of a hook; its level is error
}

func (n notice) tell(ctx context.Context, h Host) {
	if n.failed != nil {
		h.HookFailed(ctx, n.failed, n.text)
	} else {
		h.Notify(ctx, n.level, n.text)
	}
}

// New returns a chain without hooks; [Chain.Load] fills it.
func New(o Options) *Chain {
	c := &Chain{opts: o, events: map[agent.Kind]*event.Spec{}, log: &hookLog{path: o.LogPath}, behind: newBackground(),
		ending: newBackground(), dialogs: make(chan struct{}, 1), guard: o.Guard, leaving: make(chan struct{})}
	if c.guard == nil {
		c.guard = trust.NewForRun(o.Places.Cwd)
	}
	c.opts.Places.ProjectApproved = o.ApproveProject
	c.guard.NoteNamed(o.Places)
	c.providers.models, c.providers.overlay = o.Models, o.Overlay
	table := event.Table()
	for i := range table {
		table[i].InMode(o.Mode)
		c.events[table[i].Kind] = &table[i]
	}
	c.hooks.Store(&[]*hook{})
	return c
}

// Meet gives the chain its person before there is a front end.
func (c *Chain) Meet(ui agent.UI) { c.ui.Store(&ui) }

// Attach gives the chain its host and its person. Hooks get their events from
// now on, and the host the tools that hooks brought.
func (c *Chain) Attach(host Host, ui agent.UI) {
	c.ui.Store(&ui)
	c.early.mu.Lock()
	c.host.Store(&host)
	lines, sent := c.early.lines, c.early.sent
	c.early.lines, c.early.sent = nil, nil
	c.early.mu.Unlock()
	for _, n := range lines {
		n.tell(context.Background(), host)
	}
	c.applyTools("")
	for _, send := range sent {
		send(host)
	}
}

// Unheard takes what was to be told before there was anybody to tell it to, line
// by line. It is for a start that fails: why may stand there.
func (c *Chain) Unheard() []string {
	c.early.mu.Lock()
	defer c.early.mu.Unlock()
	var lines []string
	for _, n := range c.early.lines {
		if n.text == "" {
			continue
		}
		line := n.text
		if n.level != agent.LevelInfo {
			line = string(n.level) + ": " + line
		}
		lines = append(lines, line)
	}
	c.early.lines = nil
	return lines
}

func (c *Chain) hostNow() Host {
	if h := c.host.Load(); h != nil {
		return *h
	}
	return nil
}

func (c *Chain) uiNow() agent.UI {
	if u := c.ui.Load(); u != nil {
		return *u
	}
	return nil
}

// list returns the hooks as they stand; the caller must not change it.
func (c *Chain) list() []*hook { return *c.hooks.Load() }

// notify tells the person, or remembers it until there is one to tell.
func (c *Chain) notify(ctx context.Context, level agent.Level, text string) {
	c.say(ctx, notice{level: level, text: text})
}

func (c *Chain) say(ctx context.Context, n notice) {
	if h := c.hostNow(); h != nil {
		n.tell(ctx, h)
		return
	}
	c.early.mu.Lock()
	h := c.hostNow()
	if h == nil {
		c.early.lines = append(c.early.lines, n)
	}
	c.early.mu.Unlock()
	if h != nil { // it came just now
		n.tell(ctx, h)
	}
}

// absolute is a path that hooks give: relative ones begin in the working
// directory.
func (c *Chain) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.opts.Cwd, path)
}

// shown is how a path is written in messages: relative below the working
// directory, whole elsewhere.
func (c *Chain) shown(path string) string {
	if rel, err := filepath.Rel(c.opts.Cwd, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return path
}

// Wants reports whether a hook listens to k.
func (c *Chain) Wants(k agent.Kind) bool { return c.wanted[k].Load() > 0 }

// Handle passes e along the chain. The error is only ever that of a chain whose
// context ended at a gate. After Close gates block, and nothing else happens.
func (c *Chain) Handle(ctx context.Context, e agent.Event) error {
	spec := c.events[e.Kind()]
	if spec == nil {
		return nil
	}
	if c.closed.Load() {
		afterTheEnd(e)
		return nil
	}
	switch e := e.(type) {
	case *agent.ToolCall:
		return c.gate(ctx, spec, e)
	case *agent.UserBash:
		return c.bash(ctx, spec, e)
	case *agent.MessageUpdate:
		c.streamed(ctx, spec, e)
		return nil
	case *agent.HookFailed:
		c.tellError(ctx, spec, e)
		return nil
	}
	if spec.Asking {
		c.offer(ctx, c.askedAbout(spec), spec, e)
	} else {
		c.tell(ctx, spec, c.list(), e)
	}
	return nil
}

// afterTheEnd blocks at gates.
func afterTheEnd(e agent.Event) {
	const reason = "the hooks have ended, so nobody can be asked"
	switch e := e.(type) {
	case *agent.ToolCall:
		e.Block, e.Reason = true, reason
	case *agent.UserBash:
		e.Blocked = reason
	}
}

// askedAbout lists the hooks that may hear of an event.
func (c *Chain) askedAbout(spec *event.Spec) []*hook {
	if !spec.OwnOnly {
		return c.list()
	}
	return slices.DeleteFunc(slices.Clone(c.list()), func(h *hook) bool { return !h.isOwn() })
}

// Close ends the hooks: handlers in flight finish, or are cut off when ctx ends.
func (c *Chain) Close(ctx context.Context) {
	if c.closed.Swap(true) {
		return
	}
	close(c.leaving)
	if w := c.watcher.Load(); w != nil {
		w.close()
	}
	c.behind.close(ctx)
	c.endAll()
	c.ending.wait()
	c.lanes.Close()
	c.guard.Close()
	c.log.close()
}

// endAll ends what runs of the hooks. Nothing is waited for here: who is to end may be
// about to change the chain.
func (c *Chain) endAll() {
	c.changes.Lock()
	defer c.changes.Unlock()
	for _, h := range c.list() {
		if in := h.current(); in != nil {
			in.vm.Close() // it stays in its place, so that its gates are not open
			in.end()
		}
	}
	for _, b := range c.builtins {
		b.close()
	}
}

// Info is the state of one hook, for a person.
type Info struct {
	Name, Path string
	Scope      trust.Scope
	State      string // active, failed, pending, disabled
	Events     []string
	Commands   []string
	Tools      []string
	Others     []string // providers, flags, shortcuts and renderers, such as "provider acme"
	LastError  string
	LastErrors int    // how often that came
	Rejected   string // why the version saved last does not run, where another does
	Shuts      bool   // most tools, because it never loaded
	Dropped    int    // telling events that came faster than the hook handled them

	Calls, Errors int // of handlers, since the program began
	P50, P99      time.Duration
	Stats         []EventStats // of each event, by name
}

// Hooks describes the chain in its order.
func (c *Chain) Hooks() []Info {
	var infos []Info
	for _, h := range c.list() {
		infos = append(infos, h.info(c))
	}
	return infos
}

// Summary is one phrase for the first line of a front end, such as "2 hooks".
func (c *Chain) Summary() string {
	loaded, failed := 0, 0
	for _, h := range c.list() {
		if h.current() != nil {
			loaded++
		} else {
			failed++
		}
	}
	summary := printable.Count(loaded, "hook")
	if failed > 0 {
		summary += fmt.Sprintf(", %d failed", failed)
	}
	return summary
}

func (c *Chain) knows(event string) bool {
	if isCustom(event) {
		return true
	}
	for _, spec := range c.events {
		if spec.Name == event {
			return true
		}
	}
	return false
}

func (c *Chain) eventNames() []string {
	var names []string
	for _, spec := range c.events {
		names = append(names, spec.Name)
	}
	sort.Strings(names)
	return names
}

// count keeps the number of handlers per event.
func (c *Chain) count(event string, n int) {
	for kind, spec := range c.events {
		if spec.Name == event {
			c.wanted[kind].Add(int32(n))
		}
	}
}

func (c *Chain) commandEnv() []string {
	if c.opts.CommandEnv == nil {
		return nil
	}
	return c.opts.CommandEnv()
}
