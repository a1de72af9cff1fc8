package repl

import (
	"context"
	"slices"
	"time"

	"pi/repl/terminal"
)

// A panel has the keys in place of the line: a dialog, a picker, and so does a component
// of a hook. One that the person asked for has them at once. Any other takes none until no
// key has come for a while, so that nobody answers a question with what they were about to
// type: until then keys go to the line, which stays in view.

// quietBefore is how long no key comes before what nobody asked for has the keys.
const quietBefore = 400 * time.Millisecond

// quiet is whether something has the keys. The lock of the screen guards it.
type quiet struct {
	quietFrom time.Time // when it was shown, or a key came before it had them
	ready     bool      // it has the keys
	byPerson  bool
}

// shownPanel is a panel that is open, or waits until the one before it is done.
type shownPanel struct {
	terminal.Panel
	quiet
	done chan struct{}
}

// panels are those that are open, the first with the keys. The lock of the screen guards
// them.
type panels struct {
	all        []*shownPanel
	components []*surface // the last has the keys, if no panel is open
}

// top is the panel in view; nil for none.
func (p *panels) top() *shownPanel {
	if len(p.all) == 0 {
		return nil
	}
	return p.all[0]
}

// component is the component in view; nil for none.
func (p *panels) component() *surface {
	if len(p.components) == 0 {
		return nil
	}
	return p.components[len(p.components)-1]
}

// hasKeys reports whether what is in view has the keys at this moment.
func (q *quiet) hasKeys(now time.Time) bool {
	if !q.ready && (q.byPerson || now.Sub(q.quietFrom) >= quietBefore) {
		q.ready = true
	}
	return q.ready
}

// open shows a panel: above another one, or if that is nil behind all, where it waits for
// those before it. The caller has the lock.
func (s *screen) open(p terminal.Panel, byPerson bool, above *shownPanel) *shownPanel {
	x := &shownPanel{Panel: p, quiet: quiet{byPerson: byPerson}, done: make(chan struct{})}
	at := len(s.panels.all)
	if i := slices.Index(s.panels.all, above); i >= 0 {
		at = i
		if l, ok := above.Panel.(*list); ok {
			l.waiting = nil // typed before the question was there
		}
	}
	s.panels.all = slices.Insert(s.panels.all, at, x)
	if at == 0 {
		s.view(&x.quiet)
	}
	return x
}

// view starts the time in which what is shown takes no keys, and has the zone painted when
// it does. The caller has the lock.
func (s *screen) view(q *quiet) {
	q.quietFrom = s.now()
	if !q.byPerson {
		time.AfterFunc(quietBefore+time.Millisecond, func() { s.change(func() { q.hasKeys(s.now()) }) })
	}
}

// closePanel removes a panel, and shows the next one. The caller has the lock.
func (s *screen) closePanel(x *shownPanel) {
	i := slices.Index(s.panels.all, x)
	if i < 0 {
		return
	}
	s.panels.all = slices.Delete(s.panels.all, i, i+1)
	s.busy.answered = s.now()
	close(x.done)
	if next := s.panels.top(); i == 0 && next != nil {
		s.view(&next.quiet)
	}
}

// panelKey gives a key to the panel in view. It reports false if there is none, or if it
// does not take keys yet. The caller has the lock.
func (s *screen) panelKey(k terminal.Key) bool {
	x := s.panels.top()
	if x == nil {
		return false
	}
	if !x.hasKeys(s.now()) {
		s.view(&x.quiet)
		return false
	}
	x.Key(k)
	if x.Done() {
		s.closePanel(x)
	}
	return true
}

// componentKey gives a key to the component in view. It reports false if there is none, or
// if it does not take that key. The caller has the lock.
func (s *screen) componentKey(k terminal.Key) bool {
	x := s.panels.component()
	switch {
	case x == nil || k.Release && !x.options.Releases:
		return false
	case x.hasKeys(s.now()):
		x.press(k)
		return true
	case !k.Release:
		s.view(&x.quiet)
	}
	return false
}

// personKey marks a context of something that the person began just now.
type personKey struct{}

// asPerson returns a context for what the person began: dialogs in it take keys at once.
func asPerson(ctx context.Context) context.Context {
	return context.WithValue(ctx, personKey{}, true)
}

func isByPerson(ctx context.Context) bool { return ctx.Value(personKey{}) != nil }
