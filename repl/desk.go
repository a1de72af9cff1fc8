package repl

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/clipboard"
	"pi/repl/terminal"
)

// Copy copies a text to the clipboard of the user, for a hook.
func (p *user) Copy(ctx context.Context, text string) (way string, err error) {
	return clipboard.Clipboard{Terminal: p.Sequence}.Copy(ctx, text)
}

// Can reports whether the terminal can do something. One of lines shows components as lines.
func (p *user) Can(a agent.Ability) bool {
	switch a {
	case agent.CanDraw:
		return p.HasUI() && !p.term.Plain()
	case agent.CanRun:
		return p.HasUI() && isTerminal(p.opts.Out)
	}
	return p.HasUI()
}

var _ agent.Able = (*user)(nil)

// NotifyDesktop tells a user who looks at another window something, for a hook.
func (p *user) NotifyDesktop(title, body string) error {
	if body != "" {
		title += ": " + body
	}
	err := p.attract(title)
	if err == nil {
		p.screen.mu.Lock()
		p.screen.hookTold = p.screen.now()
		p.screen.mu.Unlock()
	}
	return err
}

// attractDone tells a user who looks at another window that a long run is done, unless a hook has
// just said more.
func (p *user) attractDone() {
	if !p.toldByHook() {
		_ = p.attract("done") // where that is off, nobody wants it
	}
}

// toldByHook reports whether a hook has just told the user something on the desktop.
func (p *user) toldByHook() bool {
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	return p.screen.now().Sub(p.screen.hookTold) < hookToldFor
}

// hookToldFor is how long after the notice of a hook the end of a run is not told.
const hookToldFor = 5 * time.Second

// attract tells a user who looks at another window, in the way of [ui] notify. The error says
// why nobody was told.
func (p *user) attract(text string) error {
	s := p.screen
	s.mu.Lock()
	inFront, way := s.window.known && s.window.inFront, s.notifyWith
	s.mu.Unlock()
	notice := terminal.Notice(way, text, os.Getenv("TMUX") != "")
	switch {
	case notice == "":
		return errors.New("[ui] notify is off")
	case inFront:
		return errors.New("the terminal is in front")
	case p.term == nil || p.opts.Dumb:
		return errors.New("there is no desktop here")
	}
	p.term.Control(notice)
	return nil
}

var _ agent.Desk = (*user)(nil)

// The terminal says whether its window is in front only while somebody wants to know: a hook
// that listens, or what attracts a user who looks elsewhere.

// focusing is what is known of the window, and who wants to know it.
type focusing struct {
	changed chan struct{} // the window has come to the front or left it, a buffer of one

	// The lock of the screen guards the rest.
	hooksListen bool
}

// focus notes whether the window is in front. It is called while keys are read, and waits for
// nobody.
func (p *user) focus(in bool) {
	p.screen.mu.Lock()
	p.screen.window = window{true, in}
	p.screen.mu.Unlock()
	wake(p.focusing.changed)
}

// ReportFocus notes whether a hook wants to know of the window.
func (p *user) ReportFocus(wanted bool) {
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	p.focusing.hooksListen = wanted
	p.applyFocus()
}

// wantsFocus reports whether anybody wants to know of the window. The caller has the lock of the
// screen.
func (p *user) wantsFocus() bool {
	return p.focusing.hooksListen || terminal.Notice(p.screen.notifyWith, "", false) != ""
}

// applyFocus has the terminal say what is wanted. What it said is forgotten when it says
// nothing any more. The caller has the lock of the screen.
func (p *user) applyFocus() {
	wanted := p.wantsFocus()
	if !wanted {
		p.screen.window = window{}
	}
	if p.term != nil && !p.screen.closed { // a closed terminal is as it was
		p.term.ReportFocus(wanted)
	}
}

// startFocusTeller starts to tell the listeners of the agent when the window comes to the front
// or leaves it, the last of what follows each other at once. The function that it returns ends
// that.
func (r *REPL) startFocusTeller(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var teller sync.WaitGroup
	teller.Go(func() {
		told := window{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-r.user.focusing.changed:
			}
			r.screen.mu.Lock()
			now := r.screen.window
			r.screen.mu.Unlock()
			if now.known && now != told {
				r.agent.TellFocus(ctx, now.inFront)
			}
			told = now
		}
	})
	return func() { cancel(); teller.Wait() }
}
