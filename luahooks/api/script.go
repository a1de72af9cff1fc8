// Package api is what the Lua of a hook is given: pi, ctx and require. It knows one
// VM and what that needs of the program around it ([Program]); of other hooks and of
// the order in which they are asked it knows nothing.
//
//	script.go     a Script is one VM with the API in it; it puts the parts together
//	bridge.go     what every function uses: the VM, and the way to the program
//	jobs.go       calls of a hook from outside of its VM, and again after a reload
//	registered.go what a hook's file registered
//	context.go    ctx; the other files are its members and those of pi, by subject
//
// A part is a small type around the bridge, with what it keeps itself, and lists its
// functions by the names that Lua calls them by. To add a function: write it as a method of the
// part that it belongs to and name it in the list; it is one for [luavm.VM.Func], or
// works on the Lua stack where it takes tables of options.
//
// Misuse raises at the caller's line; what fails in ordinary life gives nil and a
// message. While a function waits, other functions of the hook may run
// (bridge.wait). While the file loads, functions that need a session raise
// (bridge.mustHost).
package api

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/internal/child"
	"pi/internal/filelock"
	"pi/internal/process"
	"pi/luahooks/exitwait"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"
	"pi/session/message"
	"pi/stdlib"
	"pi/stdlib/compat"

	lua "github.com/yuin/gopher-lua"
)

// Version is pi.api, the number that `-- pi-api:` in a hook pins.
const Version = 1

// HookInfo is pi.hook.
type HookInfo struct {
	Name, Path, Scope string
	Agent             *record.AgentInfo // the child in whose session it runs; nil: it is the user's own
}

// errInChild is why a hook cannot have what would be there twice.
var errInChild = errors.New("in a child: what lasts belongs to the session of the user")

// InChild reports whether the hook runs in the session of a child.
func (p *Program) InChild() bool { return p.Hook.Agent != nil }

// Paths is pi.paths: where things are.
type Paths struct {
	Agent    string  // the agent directory
	Sessions *string // the folder of the sessions; nil: none are kept
	Program  string  // the file that runs
	Project  string  // where the program works
}

// Machine is pi.host: what the program runs on. Home and Name are "" where they are not known.
type Machine struct {
	OS, Arch string // as Go calls them, such as linux and amd64
	PID      int
	Name     string
	Home     string
	Temp     string // the directory for temporary files
}

// machine is what the program runs on, with the environment that the hook sees.
func (p *Program) machine() Machine {
	getenv := p.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	name, _ := os.Hostname()
	home := getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, PID: os.Getpid(), Name: name, Home: home, Temp: os.TempDir()}
}

// Program is what a script needs of the program around it. The functions may be called
// from any goroutine.
type Program struct {
	Hook    HookInfo
	Limit   *int // of the requests that the hook adds; nil: it has none of its own
	Answers bool // the hook may answer dialogs of other hooks
	Paths   Paths
	Cwd     string // where relative paths begin
	Mode    string // ctx.mode
	Version string
	Timeout time.Duration // of each call; hook_timeout
	Grace   time.Duration // for callbacks after which the program may end; hook_grace

	Settings Settings // what the settings file says of the hook

	Host   func() Host                                               // nil before there is a session
	UI     func() agent.UI                                           // nil before there is a front end
	Notify func(ctx context.Context, level agent.Level, text string) // to the user
	Log    func(text string)                                         // into the hook log
	// Later stores what is to be sent until there is a session; it is false when there
	// is one.
	Later    func(send func(ctx context.Context, host Host)) bool
	Dialogs  Dialogs
	Answerer Answerer
	Always   Memory
	Reload   func(ctx context.Context)

	Owner Owner
	Life  context.Context // ends with the VM
	// Spawn runs f on a goroutine of its own, with a context that ends with the VM; it
	// is false after that.
	Spawn func(f func(ctx context.Context)) bool

	CheckEvent    func(event string, allRoles bool, group *Group) error // misuse, if no event has that name, or it has no roles or groups
	CountHandlers func(key string, n int)
	// Emit gives an event of the hook to the others, and returns when they have
	// handled it.
	Emit func(ctx context.Context, event string, data json.RawMessage)

	Tools           Toolbox
	Commands        func() []command.Command // of the program and of all hooks
	Keys            Keys
	Places          *Places // of all hooks
	CommandsChanged func(ctx context.Context)
	Flags           func() []Flag     // of all hooks
	GivenFlags      map[string]string // on the command line, by name
	// NotifyOnce is Notify for what is told once in the life of the program; what names
	// it.
	NotifyOnce func(ctx context.Context, what string, level agent.Level, text string)

	// Servers returns the MCP servers of the session, nil where there are none; it may be nil.
	Servers func() Servers
	// Agents returns the agents that the session can use, nil where there are none; it may be nil.
	Agents func() Agents
	// AtWork notes that so many parts more of the tool call in ctx are at work, or fewer: none is
	// while all of them wait for other agents. nil: nobody wants to know.
	AtWork func(ctx context.Context, parts int)
	// EventTable returns what makes the table of an event as handlers get it, within a job of the
	// VM; nil: it is none that hooks listen to. The event must not be changed but by who emits it.
	EventTable func(e agent.Event) func(L *lua.LState) *lua.LTable

	Models           *llm.Models                                     // nil: nobody has any
	CheckSwitches    func(api string, switches map[string]any) error // of a wire API; nil: all are right
	CheckLogin       func(l llm.Login) error                         // that is data; nil: each can work
	ProvidersChanged func()

	Locks      *filelock.Locks          // of pi.fs and the tools; nil: those of the VM alone
	Reach      func(host string) error  // why pi.http does not connect to a host; nil: it may to all
	Clock      stdlib.Clock             // of pi.time, pi.timer, and all that waits for a time; nil: that of the machine
	Getenv     func(name string) string // of os.getenv; nil: that of the process
	Environ    func() []string          // variables for programs, besides those of the process
	Watcher    *process.Watcher         // ends what is started with this program; nil: nobody does
	FindModule FindModule
	// Starting is called before a job starts a process, and what it returns afterwards, with its
	// group, or 0 if there is none.
	Starting func(ctx context.Context) (started func(group int))
	// Code has the files that VMs share, compiled; nil: they are compiled for this VM.
	Code *luavm.Code
	// Compat has the modules for hooks of other programs, compiled; nil: they are compiled
	// for this VM.
	Compat *compat.Code

	Deferred *exitwait.List  // what the end of the program waits for
	Kept     *child.Kept     // programs that survive a version of the hook
	Survives func() bool     // whether a newer version of the hook runs
	Ends     context.Context // ends with the hooks

	// Confine, if it is set, may replace functions in a table that the hook is about to get:
	// "pi", "ctx", "ctx.ui", or a module such as "pi.fs". It is called within a job.
	Confine func(vm *luavm.VM, L *lua.LState, name string, t *lua.LTable)
}

// confine lets p replace functions of a table.
func (p *Program) confine(vm *luavm.VM, L *lua.LState, name string, t *lua.LTable) *lua.LTable {
	if p.Confine != nil {
		luavm.Materialise(L, t)
		p.Confine(vm, L, name, t)
	}
	return t
}

// Script is one VM with the API in it, and what the hook's file registered.
type Script struct {
	Registered Registered
	// ReturnsTable is set once the file has run and returned a table, which nobody looks at.
	ReturnsTable bool

	bridge   *bridge
	settings *settings
	events   *events
	messages *messages
	signals  *signals
	theme    *theme
	contexts *contexts
	display  *display
	programs *programs
	spawns   *spawns
	servers  *servers
	modules  *modules
	modes    *modes
}

// NewScript puts the API together for a VM that has run nothing yet.
func NewScript(vm *luavm.VM, records *record.Converter, p Program) *Script {
	s := &Script{}
	if p.Clock == nil {
		p.Clock = stdlib.MachineClock{}
	}
	s.Registered.Handlers.count = p.CountHandlers
	b := &bridge{Program: &p, vm: vm, records: records, jobs: &jobs{&p, vm}, registered: &s.Registered}
	s.bridge = b
	s.settings = &settings{bridge: b}
	s.events = &events{bridge: b}
	s.messages = &messages{bridge: b}
	s.signals = &signals{bridge: b}
	s.theme = &theme{bridge: b}
	s.contexts = &contexts{bridge: b, messages: s.messages, signals: s.signals}
	s.display = newDisplay(b)
	s.programs = &programs{b}
	s.spawns = &spawns{programs: s.programs, version: p.Kept.NewOwner(), mine: map[string]*spawned{}}
	s.servers = &servers{bridge: b}
	s.modules = &modules{bridge: b, env: newEnv(s.programs, s.servers, &agents{bridge: b}), required: map[string]*module{}, looked: map[string]string{}}
	s.modes = &modes{b}
	return s
}

// ofPi returns the members of pi, by their part of the API.
func (s *Script) ofPi() []part {
	b := s.bridge
	t := &tools{bridge: b, contexts: s.contexts, signals: s.signals, theme: s.theme}
	return []part{
		s.events.part(),
		(&sessionEdits{b, s.messages}).ofPi(),
		(&sender{b}).part(),
		t.part(),
		s.modes.ofPi(),
		(&commands{b, s.contexts}).part(),
		(&continuations{b, &dialogs{b}}).part(),
		(&flags{b}).part(),
		s.settings.part(),
		(&renderers{b, s.theme, t.resultTable}).part(),
		(&completions{b, s.contexts}).part(),
		(&resources{b}).part(),
		(&inventory{b}).ofPi(),
		(&providers{b}).part(),
		s.spawns.part(),
		(&promises{bridge: b}).part(),
		b.about(),
		{"all": (&atOnce{b}).all, "signal": s.signals.new, "defer_exit": (&deferrals{b}).deferExit, "exec": s.programs.exec, "log": s.log, "answer": (&answers{b}).answer},
	}
}

// about is what pi tells of the program and of the hook.
func (b *bridge) about() part {
	return part{
		"version": lua.LString(b.Version), "api": lua.LNumber(Version),
		"hook":  value(func() lua.LValue { return b.vm.Value(b.Hook) }),
		"paths": value(func() lua.LValue { return b.vm.Value(b.Paths) }),
		"host":  value(func() lua.LValue { return b.vm.Value(b.machine()) }),
	}
}

// ofUI are the members of ctx.ui.
func (s *Script) ofUI() []part {
	d := &dialogs{s.bridge}
	return []part{d.part(), s.display.part(), (&components{s.bridge, d, s.theme}).part(), {"run": (&terminalPrograms{s.bridge, d}).run}, (&inventory{s.bridge}).ofUI(),
		{"theme": value(func() lua.LValue { return s.theme.table() })}}
}

// ofContext are the members of ctx, but for those whose values are read when they are asked for.
func (s *Script) ofContext() []part {
	b := s.bridge
	return []part{
		s.contexts.part(),
		(&sessionEdits{b, s.messages}).ofContext(),
		models{b}.part(),
		(&inventory{b}).ofContext(),
		s.modes.ofContext(),
		(&switching{b}).part(),
		(&prompts{b}).part(),
		{"exec": s.programs.exec, "compact": (&compactions{b}).compact},
		{"session": value(func() lua.LValue {
			return b.newTable("ctx.session", func() []part { return []part{sessionView{b}.part()} })
		}),
			"ui": value(func() lua.LValue { return b.confine(b.vm, b.vm.State(), "ctx.ui", b.newTable("ctx.ui", s.ofUI)) })},
	}
}

// Run gives the VM pi, ctx and require, and runs the hook's file in it. state is
// pi.state of the version before. It is called within a job.
func (s *Script) Run(L *lua.LState, file *lua.FunctionProto, state json.RawMessage) {
	s.modules.noteText(file)
	vm := s.bridge.vm
	pi := s.bridge.newTable("pi", func() []part {
		return append(s.ofPi(), part{"state": value(func() lua.LValue { return s.stateFrom(state) })})
	})
	s.settings.pi = pi
	vm.SetGlobal("pi", s.bridge.confine(vm, L, "pi", pi))
	vm.SetRequire(s.modules.require)
	s.contexts.open(s.ofContext)
	s.bridge.confine(vm, L, "ctx", s.contexts.table)

	switch returned := callLua(L, vm.NewChunk(L, file)).(type) {
	case *lua.LFunction:
		callLua(L, returned, pi)
	case *lua.LTable:
		s.ReturnsTable = true
	}
}

// stateFrom is pi.state as the version before has left it: an empty table where that left none.
func (s *Script) stateFrom(before json.RawMessage) lua.LValue {
	if state, ok := s.bridge.records.JSON(before).(*lua.LTable); ok {
		return state
	}
	return luavm.NewRecord(s.bridge.vm.State(), 0)
}

// Call calls a handler with an event and ctx and returns its first result. It is called
// within a job.
func (s *Script) Call(L *lua.LState, fn *lua.LFunction, event lua.LValue) lua.LValue {
	result := callLua(L, fn, event, s.contexts.table)
	s.messages.drop()
	return result
}

// Emitted is the table of an event that another hook emitted.
func (s *Script) Emitted(L *lua.LState, name string, data json.RawMessage) *lua.LTable {
	return s.events.table(L, name, data)
}

// Signal is ctx.signal of the job that runs.
func (s *Script) Signal(*lua.LState) lua.LValue { return s.signals.current() }

// State is pi.state as JSON, for the next version of the hook. What cannot be JSON is
// left out; lost describes that.
func (s *Script) State(ctx context.Context) (state json.RawMessage, lost, err error) {
	return encodeState(ctx, s.bridge.vm, s.bridge.records, s.bridge.Timeout)
}

// Files are those that require looked at, with the sum of their bytes.
func (s *Script) Files() map[string]string { return s.modules.files() }

// HasText reports whether a text stands as a string in a file of the hook. It may be called from
// any goroutine.
func (s *Script) HasText(text string) bool { return s.modules.hasText(text) }

// EndUnclaimed ends the programs that the version before has kept and that this one did not
// take up. It returns when they have ended.
func (s *Script) EndUnclaimed() { s.spawns.endUnclaimed() }

// EndServers takes the MCP servers that the hook has put there out of the session, and lets no
// others in. The function that it returns has to be called, and returns when they have ended.
func (s *Script) EndServers() (wait func()) { return s.servers.end() }

// Clear removes what the hook shows outside of the transcript.
func (s *Script) Clear() { s.display.clear() }

// log is pi.log(…): a line in the hook log. Tables and values that are data are JSON.
func (s *Script) log(L *lua.LState, values ...lua.LValue) {
	var parts []string
	for _, v := range values {
		if v.Type() == lua.LTTable || v.Type() == lua.LTUserData {
			if raw, err := luavm.EncodeJSON(s.bridge.vm.State(), v, luavm.JSON{}); err == nil {
				parts = append(parts, string(raw))
				continue
			}
		}
		parts = append(parts, L.ToStringMeta(v).String())
	}
	s.bridge.Log(strings.Join(parts, " "))
}

// Host is what hooks may ask of the program; *agent.Agent is one.
type Host interface {
	// What there is.
	Session() *session.Session
	Context(ctx context.Context) []session.Item // runs the context chain
	Seen() []session.Item
	Model() *llm.Model
	Models() *llm.Models
	Thinking() string
	Modes() *agent.Modes
	Tools() []agent.Tool // the active ones
	SystemPrompt() string
	PromptParts() []agent.Section
	ScopedModels() []llm.Choice
	Totals() agent.Totals
	IsIdle() bool
	Pending() int

	// What hooks do.
	Notify(ctx context.Context, level agent.Level, text string)
	HookFailed(ctx context.Context, f *agent.HookFailed, text string)
	Submit(ctx context.Context, p agent.Prompt) error
	SendCustom(ctx context.Context, p agent.Prompt, d agent.Delivery, trigger bool) error
	ResetBrake(o agent.Origin)
	AllowContinuations(ctx context.Context, o agent.Origin, n int) error
	SendUser(ctx context.Context, p agent.Prompt, d agent.Delivery) error
	EditContext(ctx context.Context, id string, r *session.Replacement) (string, error)
	SetSessionName(ctx context.Context, name string) error
	SetLabel(ctx context.Context, id, label string) error
	SetTools(tools []agent.Tool, by string)
	CallTool(ctx context.Context, name string, input json.RawMessage) agent.Result
	CallGiven(ctx context.Context, tool agent.Tool, input json.RawMessage) agent.Result
	Complete(ctx context.Context, c agent.Completion) (*message.Message, error)
	RequestCompact(o agent.CompactOptions, done func(*agent.Compacted, error))
	Abort()
	Shutdown()

	// What only commands do; it waits for the end of a run.
	Select(ctx context.Context, model *llm.Model, level, source string) error
	Replace(was, now *llm.Model)
	SetThinking(ctx context.Context, level string) error
	WaitIdle(ctx context.Context) error
	Await(ctx context.Context, p agent.Prompt) (agent.Settled, error)
	NewSession(ctx context.Context, o agent.NewSessionOptions) error
	SwitchSession(ctx context.Context, path string) error
	Branch(ctx context.Context, id string) (agent.Recalled, error)
	Navigate(ctx context.Context, id string, o agent.NavigateOptions) (agent.Moved, error)
}

// encodeState returns pi.state as JSON, for the next version of the hook. Fields that cannot
// be JSON are left out, and lost says which. err is for a VM that could not be asked.
func encodeState(ctx context.Context, vm *luavm.VM, records *record.Converter, timeout time.Duration) (state json.RawMessage, lost, err error) {
	found := new(foundState)
	err = vm.Run(ctx, luavm.Job{Name: "state", Timeout: timeout, Run: func(L *lua.LState) error {
		pi, _ := L.GetGlobal("pi").(*lua.LTable)
		if pi == nil {
			return nil
		}
		if table, ok := luavm.Stored(pi, "state").(*lua.LTable); ok {
			table, found.lost = encodable(L, records, table)
			found.json, found.err = records.Encode(table, "pi.state")
		}
		return found.err
	}})
	if err != nil {
		return nil, nil, err
	}
	return found.json, found.lost, nil
}

// foundState is what a job found that may still run when nobody waits for it.
type foundState struct {
	json      json.RawMessage
	lost, err error
}

// encodable returns the fields of a state that can be JSON, and what is wrong with
// the others.
func encodable(L *lua.LState, records *record.Converter, state *lua.LTable) (*lua.LTable, error) {
	luavm.Materialise(L, state)
	if _, err := records.Encode(state, "pi.state"); err == nil {
		return state, nil
	}
	var errs []error
	fields := luavm.NewRecord(L, 0) // the version that runs uses its own on if the next one does not load
	state.ForEach(func(k, v lua.LValue) {
		one := luavm.NewRecord(L, 1)
		one.RawSet(k, v)
		if _, err := records.Encode(one, "pi.state"); err != nil {
			errs = append(errs, err)
			return
		}
		fields.RawSet(k, v)
	})
	return fields, errors.Join(errs...)
}
