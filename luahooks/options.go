package luahooks

import (
	"context"
	"encoding/json"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/internal/process"
	"pi/luahooks/api"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

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
	borrowsGuard   bool      // Guard is that of another chain, see [Chain.Rehearse]
	like           *roster   // of another chain, whose events this one has; nil: they are made
	ApproveProject bool      // the project's hooks run as they are now
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
	// Getenv is os.getenv of hooks, and what names their home directory; nil: the
	// environment of the process.
	Getenv func(name string) string
	// CommandEnv gives variables (NAME=value) that the programs which hooks start
	// get beside those of the process; nil: none.
	CommandEnv func() []string
	// Inactive are the program's own tools that the model does not get unless a
	// hook chooses them.
	Inactive []agent.Tool
	// MayHave reports whether the model may have the tool with a name at all, whatever hooks
	// choose; nil: it may have any.
	MayHave func(tool string) bool
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
	// Keys are the keys of the front end, which hooks cannot take either; without its
	// functions they can have any.
	Keys api.Keys
	// Confine is that of [api.Program]; nil: hooks get every function as it is.
	Confine func(vm *luavm.VM, L *lua.LState, name string, t *lua.LTable)
}
