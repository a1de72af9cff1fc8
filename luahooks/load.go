package luahooks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// API is the number that `-- pi-api:` in a hook pins.
const API = 1

// maxHook is far above any hook written by hand.
const maxHook = 1 << 20

// Load finds the hooks and runs their files. Errors are reported, never
// returned: a hook that does not load keeps none of the others from loading. It
// returns the project's hooks that were left out because nobody approved them.
func (c *Chain) Load(ctx context.Context) (skipped []Source) {
	c.changes.Lock()
	defer c.changes.Unlock()
	found := c.opts.Places.Discover()
	for _, err := range found.Problems {
		c.notify(ctx, agent.LevelError, err.Error())
	}
	hooks := make([]*hook, len(found.Sources))
	for i, s := range found.Sources {
		hooks[i] = &hook{Source: s}
	}
	c.hooks.Store(&hooks)
	for _, a := range c.attemptAll(ctx, hooks) {
		c.settle(ctx, a)
	}
	c.takeEffect(ctx)
	return found.Untrusted
}

// attempt is one try to load a hook's file.
type attempt struct {
	hook *hook
	code []byte
	in   *instance // nil if it did not load
	err  error
}

// attemptAll loads the files of hooks side by side. c.changes is held.
func (c *Chain) attemptAll(ctx context.Context, hooks []*hook) []attempt {
	attempts := make([]attempt, len(hooks))
	var loads sync.WaitGroup
	for i, h := range hooks {
		loads.Go(func() { attempts[i] = c.attempt(ctx, h) })
	}
	loads.Wait()
	return attempts
}

func (c *Chain) attempt(ctx context.Context, h *hook) attempt {
	code, err := readHook(h.resolve())
	h.sum = sumOf(code, err)
	if err != nil {
		return attempt{hook: h, err: err}
	}
	var state json.RawMessage
	if old := h.current(); old != nil {
		if state, err = old.encodeState(ctx); interrupted(ctx, err) {
			return attempt{hook: h, err: err}
		} else if err != nil {
			c.notify(ctx, agent.LevelWarning, "hook "+h.Name+": its state is not carried over: "+err.Error())
		}
	}
	in, err := c.run(ctx, h, code, state)
	h.tried = in
	if err != nil {
		in = nil
	}
	return attempt{h, code, in, err}
}

// settle puts what came of an attempt into the chain. Without a VM the last good
// version keeps running. It reports whether the hook runs new code now. c.changes
// is held.
func (c *Chain) settle(ctx context.Context, a attempt) bool {
	h, old := a.hook, a.hook.current()
	if interrupted(ctx, a.err) {
		h.sum = "" // the next look tries again
		return false
	}
	if a.err != nil {
		h.fault(a.err)
		c.log.write(h.Name, "load: "+fullText(a.err))
		c.notify(ctx, agent.LevelError, "hook "+h.Name+" did not load"+keeps(h, old)+": "+a.err.Error())
		return false
	}
	a.in.enter()
	h.now.Store(a.in)
	if old != nil {
		old.close()
	}
	c.openGates(h)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.code, h.disabled, h.lastError = a.code, false, ""
	return true
}

func keeps(h *hook, old *instance) string {
	switch {
	case old != nil:
		return ", the last good version keeps running"
	case h.shut.Load() != nil:
		return ", its gate stays shut"
	}
	return ""
}

// takeEffect brings what hooks registered in line with the chain.
func (c *Chain) takeEffect(ctx context.Context) {
	c.applyProviders()
	c.applyTools()
	c.warnCommands(ctx)
}

func readHook(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read hook: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxHook {
		return nil, fmt.Errorf("read hook %s: not a regular file of at most %d KiB", path, maxHook>>10)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read hook: %w", err)
	}
	return code, nil
}

// sumOf tells versions of a file apart; one that cannot be read is one too.
func sumOf(code []byte, err error) string {
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:])
}

// run makes a VM that runs code for h. state is pi.state of the version before.
// The instance of a failed run is closed; it still knows the files it wanted.
func (c *Chain) run(ctx context.Context, h *hook, code []byte, state json.RawMessage) (*instance, error) {
	in := c.newInstance(h)
	err := in.load(ctx, code, state)
	if err != nil {
		in.close()
	}
	return in, err
}

func (in *instance) load(ctx context.Context, code []byte, state json.RawMessage) error {
	name := in.chain.shown(in.hook.Path)
	if err := checkAPI(name, code); err != nil {
		return err
	}
	proto, err := luavm.Compile(name, code)
	if err != nil {
		return err
	}
	return in.vm.Run(ctx, luavm.Job{Name: "load", Loading: true, Timeout: in.chain.opts.Timeout, Run: func(L *lua.LState) error {
		pi := in.open(L, state)
		if main, ok := callFunction(L, L.NewFunctionFromProto(proto)).(*lua.LFunction); ok {
			callFunction(L, main, pi)
		}
		return nil
	}})
}

func (c *Chain) newInstance(h *hook) *instance {
	in := &instance{chain: c, hook: h, real: h.resolve(), behind: newBackground(), handlers: map[string][]*registration{}, requires: map[string]*module{}, modules: map[string]string{}}
	in.vm = luavm.New(luavm.Options{
		Print:         func(line string) { c.notify(context.Background(), agent.LevelInfo, h.Name+": "+line) },
		MemoryLimit:   c.opts.Memory,
		StrictGlobals: true,
		Lanes:         &c.lanes,
		Panicked: func(function string, value any, stack []byte) {
			c.log.write(h.Name, fmt.Sprintf("panic in %s: %v\n%s", function, value, stack))
		},
	})
	return in
}

var apiPin = regexp.MustCompile(`(?m)^--\s*pi-api:\s*(\S+)\s*$`)

// checkAPI refuses a hook that was written for another version of the API.
func checkAPI(name string, code []byte) error {
	head := code
	for i, n := 0, 0; i < len(code); i++ {
		if code[i] == '\n' {
			if n++; n == 10 {
				head = code[:i]
				break
			}
		}
	}
	pin := apiPin.FindSubmatch(head)
	if pin == nil || string(pin[1]) == fmt.Sprint(API) {
		return nil
	}
	line := 1 + bytes.Count(head[:bytes.Index(head, pin[0])], []byte("\n"))
	return fmt.Errorf("%s:%d: the hook wants pi-api %s, this program has %d", name, line, pin[1], API)
}

// maxAbandoned bounds how many VMs that did not stop may pile up.
const (
	maxAbandonedHook    = 1
	maxAbandonedProcess = 2
)

// revive replaces a VM that had to be given up by a fresh one that runs the same
// bytes. The next time, the hook is disabled for the session. It does nothing for
// a VM that is well.
func (c *Chain) revive(ctx context.Context, h *hook, dead *instance) {
	if !dead.vm.Dead() {
		return
	}
	c.changes.Lock()
	defer c.changes.Unlock()
	if h.current() != dead || c.closed.Load() {
		return
	}
	ctx, cancel := c.behind.detach(ctx) // who is interrupted wants a working hook afterwards too
	defer cancel()
	h.mu.Lock()
	h.abandoned++
	n, code := h.abandoned, h.code
	h.mu.Unlock()
	if total := c.abandoned.Add(1); n > maxAbandonedHook || total > maxAbandonedProcess {
		c.disable(ctx, h, dead)
		return
	}
	in, err := c.run(ctx, h, code, nil)
	if err != nil {
		h.fault(err)
		c.disable(ctx, h, dead)
		return
	}
	in.enter()
	h.now.Store(in)
	dead.close()
	c.takeEffect(ctx)
	c.notify(ctx, agent.LevelWarning, "hook "+h.Name+" did not stop; a fresh copy of it goes on")
	c.greet(ctx, h)
}

// disable takes a hook out of the chain for the session. Its gates go on to
// block: a gate that is gone must not be an open one.
func (c *Chain) disable(ctx context.Context, h *hook, in *instance) {
	c.shutGates(h, in)
	h.mu.Lock()
	h.disabled = true
	h.mu.Unlock()
	h.now.Store(nil)
	in.close()
	c.takeEffect(ctx)
	c.notify(ctx, agent.LevelError, "hook "+h.Name+" is disabled for this session: it did not stop again; change its file to load it anew")
}

var errNoHost = errors.New("not available while the hook loads; use session_start")
