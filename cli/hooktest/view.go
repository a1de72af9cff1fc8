package hooktest

import (
	"context"
	"strings"
	"sync"

	"pi/agent"
)

// view is what a hook draws and takes keys in, as the person sees it.
type view struct {
	component agent.Component
	from      string // the hook
	done      chan struct{}
	once      sync.Once
}

// RequestRender does nothing: a test looks when it wants to.
func (*view) RequestRender() {}

// Close takes the component away.
func (v *view) Close() { v.once.Do(func() { close(v.done) }) }

// Done is closed when the component is shown no more.
func (v *view) Done() <-chan struct{} { return v.done }

func (v *view) isClosed() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

// lines draws the component.
func (v *view) lines(width, height int) []string { return v.component.Render(width, height).Lines }

// press gives the component a key by its name. Esc closes it if it does not use that.
func (v *view) press(name string) (used bool) {
	k := agent.Key{Name: name}
	switch {
	case name == "space":
		k.Text = " "
	case len([]rune(name)) == 1:
		k.Text = name
	}
	used = v.component.HandleInput(k)
	if !used && name == "esc" {
		v.Close()
	}
	return used
}

// enter gives the component a text as a person would type it.
func (v *view) enter(text string) {
	for _, r := range text {
		name := string(r)
		if r == ' ' {
			name = "space"
		}
		v.press(name)
	}
}

// Custom shows a component to the person, if one is there. What the case has for it, plays
// with it on a goroutine of its own, because the hook may wait for its end.
func (p *person) Custom(c agent.Component, o agent.SurfaceOptions) (agent.Surface, error) {
	if !p.HasUI() {
		return nil, nil
	}
	v := &view{component: c, from: o.From, done: make(chan struct{})}
	p.mu.Lock()
	p.views = append(p.views, v)
	use := p.use
	p.mu.Unlock()
	if use != nil {
		go func() {
			use(v)
			if !v.isClosed() {
				v.press("esc")
			}
			v.Close()
		}()
	}
	return v, nil
}

// open returns the newest component that is shown; nil if none is.
func (p *person) open() *view {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.views) - 1; i >= 0; i-- {
		if !p.views[i].isClosed() {
			return p.views[i]
		}
	}
	return nil
}

// play sets what uses the components that hooks show; nil: nothing does.
func (p *person) play(use func(v *view)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use = use
}

// closeAll closes what is shown: the person is gone.
func (p *person) closeAll() {
	for v := p.open(); v != nil; v = p.open() {
		v.Close()
	}
}

// Lend runs no program, and says what would have run.
func (p *person) Lend(_ context.Context, program agent.Program) (agent.Exit, error) {
	p.witness.show(strings.Join(append([]string{program.Name}, program.Args...), " "))
	return agent.Exit{}, agent.ErrNoTerminal
}
