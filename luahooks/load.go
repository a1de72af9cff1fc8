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
	found := c.opts.Places.Discover()
	for _, err := range found.Problems {
		c.notify(ctx, agent.LevelError, err.Error())
	}
	hooks := make([]*hook, len(found.Sources))
	var loads sync.WaitGroup
	for i, s := range found.Sources {
		hooks[i] = &hook{Source: s}
		loads.Go(func() { c.loadFirst(ctx, hooks[i]) })
	}
	loads.Wait()
	c.changes.Lock()
	defer c.changes.Unlock()
	c.hooks.Store(&hooks)
	for _, h := range hooks {
		c.install(ctx, h, h.current(), nil)
		if h.current() == nil {
			c.notify(ctx, agent.LevelError, "hook "+h.Name+" did not load: "+h.lastError)
		}
	}
	return found.Untrusted
}

// loadFirst loads a hook that has no earlier version.
func (c *Chain) loadFirst(ctx context.Context, h *hook) {
	code, err := readHook(h.Real)
	h.hash = hashOf(code)
	if err == nil {
		var in *instance
		if in, err = c.run(ctx, h, code, nil); err == nil {
			h.code, h.hash = code, hashOf(code)+moduleHash(in)
			h.now.Store(in)
			return
		}
	}
	h.fault(err)
	c.log.write(h.Name, "load: "+fullText(err))
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

func hashOf(code []byte) string {
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:])
}

// run makes a VM that runs code for h. state is pi.state of the version before.
func (c *Chain) run(ctx context.Context, h *hook, code []byte, state json.RawMessage) (*instance, error) {
	if err := checkAPI(c.shown(h.Path), code); err != nil {
		return nil, err
	}
	proto, err := luavm.Compile(c.shown(h.Path), code)
	if err != nil {
		return nil, err
	}
	in := c.newInstance(h)
	err = in.vm.Run(ctx, luavm.Job{Name: "load", Loading: true, Timeout: c.opts.Timeout, Run: func(L *lua.LState) error {
		pi, err := in.open(L, state)
		if err != nil {
			return err
		}
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 1)
		main, isFunction := L.Get(-1).(*lua.LFunction)
		L.Pop(1)
		if isFunction {
			L.Push(main)
			L.Push(pi)
			L.Call(1, 0)
		}
		return nil
	}})
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (c *Chain) newInstance(h *hook) *instance {
	in := &instance{chain: c, hook: h, handlers: map[string][]*registration{}, requires: map[string]*module{}}
	in.vm = luavm.New(luavm.Options{
		Print:         func(line string) { c.notify(context.Background(), agent.LevelInfo, h.Name+": "+line) },
		MemoryLimit:   c.opts.Memory,
		StrictGlobals: true,
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

// install makes a hook's new instance take part, in place of old. c.changes is
// held.
func (c *Chain) install(ctx context.Context, h *hook, in, old *instance) {
	if in != nil {
		in.enter()
	}
	h.now.Store(in)
	if old != nil {
		old.close()
	}
	c.applyProviders(in, old)
	c.applyTools()
	c.warnCommands(ctx)
}

// maxAbandoned bounds how many VMs that did not stop may pile up.
const (
	maxAbandonedHook    = 1
	maxAbandonedProcess = 2
)

// revive replaces a VM that had to be given up by a fresh one that runs the same
// bytes. The next time, the hook is disabled for the session.
func (c *Chain) revive(ctx context.Context, h *hook, dead *instance) {
	c.changes.Lock()
	defer c.changes.Unlock()
	if h.current() != dead {
		return
	}
	h.mu.Lock()
	h.abandoned++
	n, code := h.abandoned, h.code
	h.mu.Unlock()
	if total := c.abandoned.Add(1); n > maxAbandonedHook || total > maxAbandonedProcess {
		c.disable(ctx, h, dead)
		return
	}
	in, err := c.run(context.WithoutCancel(ctx), h, code, nil)
	if err != nil {
		h.fault(err)
		c.disable(ctx, h, dead)
		return
	}
	c.install(ctx, h, in, dead)
	c.notify(ctx, agent.LevelWarning, "hook "+h.Name+" did not stop; a fresh copy of it goes on")
}

// disable takes a hook out of the chain for the session. Its gates go on to
// block: a gate that is gone must not be an open one.
func (c *Chain) disable(ctx context.Context, h *hook, in *instance) {
	h.mu.Lock()
	h.disabled = true
	h.mu.Unlock()
	h.now.Store(nil)
	in.close()
	c.applyProviders(nil, in)
	c.applyTools()
	c.notify(ctx, agent.LevelError, "hook "+h.Name+" is disabled for this session: it did not stop again; change its file to load it anew")
}

var errNoHost = errors.New("not available while the hook loads; use session_start")
