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

	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luahooks/record"
	"pi/luahooks/text"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/stdlib/compat"

	lua "github.com/yuin/gopher-lua"
)

// instance is one VM that runs a hook's file. It is the [api.Owner] of the API in it.
type instance struct {
	*shared
	hook *hook
	real string // the file, with symbolic links resolved
	code []byte // the file's bytes
	vm   *luavm.VM

	records *record.Converter
	script  *api.Script // the API in the VM, and what the file registered
	events  *event.Source
	behind  *background // what modules do outside of the VM; ends with the instance

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

// shared is what all instances of a chain need.
type shared struct {
	names    *text.Names // that authors may have meant
	compiled *Compiled
	dir      workdir
	guard    *trust.Guard
	reports  *reporter
	keeper   instanceKeeper
	timeout  time.Duration // of loading
	ending   *background   // what waits for the modules of instances that were closed
	isEnding func() bool   // the chain has ended or is about to
}

// load runs the file's code in the VM, which has run nothing yet. state is pi.state of the
// version before; nil: empty. It fails for a hook that is for another version of the API.
func (in *instance) load(ctx context.Context, code []byte, state json.RawMessage) error {
	name := in.dir.shown(in.hook.Path)
	if err := checkAPI(name, code); err != nil {
		return err
	}
	proto, err := in.compiled.files.Compile(name, code)
	if err != nil {
		return err
	}
	return in.vm.Run(ctx, luavm.Job{Name: "load", Loading: true, Timeout: in.timeout, Run: func(L *lua.LState) error {
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
	if !in.isEnding() {
		in.script.Clear()
	}
	in.ending.run(in.behind.wg.Wait)
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
	in.keeper.revive(ctx, in.hook, in)
	return in.hook.registered()
}

// Ran is that of [api.Owner].
func (in *instance) Ran(ctx context.Context, what string, began time.Time, err error) {
	in.reports.ran(ctx, in.hook, what, "ran", time.Since(began), err)
}

// Failed is that of [api.Owner].
func (in *instance) Failed(ctx context.Context, what string, handler *lua.LFunction, err error, to api.Audience) {
	if to == api.Everybody {
		in.keeper.failed(ctx, in.hook, in, what, handler, err)
		return
	}
	if interrupted(ctx, err) {
		return
	}
	n := 1
	if to == api.OtherHooks {
		n = in.again(failure{handler, what, err.Error()})
		in.reports.tellFailed(ctx, failureOf(in.hook, what, err, n), "")
	}
	in.hook.fault(err, n)
	in.reports.log.write(in.hook.Name, what+": "+fullText(err))
	in.keeper.revive(ctx, in.hook, in)
}

// IsCutOff is that of [api.Owner].
func (in *instance) IsCutOff(ctx context.Context, what string) bool {
	if ctx.Err() == nil || !in.isEnding() {
		return false
	}
	in.reports.tellCutOff(in.hook, what, "the program has ended")
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
