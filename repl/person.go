package repl

import (
	"errors"
	"sync"

	"pi/agent"
	"pi/repl/terminal"
)

// person is whoever sits at the terminal: asked and told by hooks, commands and the
// agent. It has the terminal, which it takes over when it is first needed. It may be used
// by any goroutine.
type person struct {
	opts   Options
	screen *screen
	work   *work
	keys   *keyboard
	plain  plainLines
	title  title

	start    sync.Once
	startErr error
	stop     sync.Once
	term     *terminal.Terminal
	closed   chan struct{} // the terminal was given back
	ended    chan struct{} // the terminal is gone: nothing more will be typed
}

// hasEnded reports whether nothing more will be typed.
func (p *person) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// begin takes over the terminal on its first call, and returns the error of that on
// each. After Close it fails.
func (p *person) begin() error {
	p.start.Do(func() { p.startErr = p.open() })
	return p.startErr
}

// open takes the terminal over.
func (p *person) open() error {
	if err := p.takeOver(); err != nil {
		return err
	}
	light := p.term.Light()
	p.screen.change(func() { p.screen.setLight(light) })
	for _, problem := range p.keys.problems {
		p.Notify(problem, agent.LevelWarning)
	}
	return nil
}

// palette is that of the terminal, which is taken over for it: only then its background is
// known.
func (p *person) palette() terminal.Palette {
	_ = p.begin() // without a terminal nobody sees the colours
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	return p.screen.palette
}

// takeOver starts the terminal. Keys may come at once: they wait until everything that they
// work on is there.
func (p *person) takeOver() error {
	s := p.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := terminal.Start(terminal.Config{
		In: p.opts.In, Out: p.opts.Out, Palette: p.screen.palette, Background: p.opts.Background,
		Plain: p.screen.plain, Dumb: p.opts.Dumb,
		Handler: terminal.Handler{
			Key: p.keys.key, Zone: p.screen.frame, Line: p.keys.lineTyped, Interrupt: p.keys.plainInterrupt, End: p.keys.inputHasEnded, Focus: p.focus,
			UsesAlt: p.keys.usesAlt, Panicked: p.opts.Broke,
		},
	})
	if err != nil {
		return err
	}
	p.term, s.term, s.plain = t, t, t.Plain()
	return nil
}

// lend gives the terminal to a program while run runs. What was said before is above what
// that shows.
func (p *person) lend(run func() error) error {
	p.screen.mu.Lock()
	p.term.Print(p.screen.take()...)
	p.screen.mu.Unlock()
	return p.term.Lend(run)
}

// close gives the terminal back.
func (p *person) close() {
	p.stop.Do(func() {
		p.start.Do(func() { p.startErr = errors.New("the terminal is closed") })
		close(p.closed)
		if p.startErr != nil {
			return
		}
		p.screen.close()
		p.title.restore(p.term.Control)
		p.term.Close()
	})
}

// focus notes whether the window is in front.
func (p *person) focus(in bool) {
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	p.screen.window = window{true, in}
}
