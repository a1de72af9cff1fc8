package luahooks

import (
	"context"
	"fmt"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Rehearsal says which hook of a chain is tried without effect, and where.
type Rehearsal struct {
	Hook string // its name, or its path
	Cwd  string
	// Confine replaces the functions that would have an effect, see [Options].
	Confine func(vm *luavm.VM, L *lua.LState, name string, t *lua.LTable)
}

// rehearsalTime is what a handler gets in a rehearsal, where it waits for nothing.
const rehearsalTime = 2 * time.Second

// Rehearse returns a chain of one hook of c, loaded: the version in force, in a VM of its own
// that begins without pi.state. What the hook registers has no effect on the program, and
// nothing is logged. The chain is closed before c. The error says that c has no such hook, or
// that no version of it runs.
func (c *Chain) Rehearse(ctx context.Context, r Rehearsal) (*Chain, error) {
	hooks, err := c.roster.named(r.Hook, c.dir)
	if err != nil {
		return nil, err
	}
	if len(hooks) > 1 {
		return nil, fmt.Errorf("%d hooks have the name %s; one is meant by its path, such as %s", len(hooks), r.Hook, c.dir.shown(hooks[0].Path))
	}
	code, err := hooks[0].inForce()
	if err != nil {
		return nil, err
	}
	o := c.opts
	o.Guard, o.LogPath, o.Confine = c.guard, "", r.Confine
	o.borrowsGuard, o.like = true, c.roster
	o.Timeout = min(o.Timeout, rehearsalTime)
	o.Commands, o.Overlay, o.AskProject, o.Mode = nil, nil, nil, "interactive"
	next := New(o)
	next.opts.Cwd = r.Cwd // of the hook; messages name files as seen from the directory of c
	h := newHook(hooks[0].Source)
	next.roster.replace([]*hook{h})
	in, err := next.loader.run(ctx, h, code, nil)
	if err != nil {
		next.Close(ctx)
		return nil, fmt.Errorf("hook %s did not load: %w", h.Name, err)
	}
	h.code = code
	h.replace(in)
	return next, nil
}

// inForce returns the bytes of the version that runs, or an error if none does.
func (h *hook) inForce() ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current() == nil {
		if h.lastError != "" {
			return nil, fmt.Errorf("hook %s does not run: %s", h.Name, h.lastError)
		}
		return nil, fmt.Errorf("hook %s does not run", h.Name)
	}
	return h.code, nil
}
