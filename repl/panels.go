package repl

import (
	"context"
	"slices"
	"time"

	"pi/repl/terminal"
)

// A panel has the keys in place of the line: a dialog, a picker. One that the person
// asked for has them at once. Any other takes none until no key has come for a while, so
// that nobody answers a question with what they were about to type: until then keys go
// to the line, which stays in view.

// quietBefore is how long no key comes before a panel that nobody asked for has the keys.
const quietBefore = 400 * time.Millisecond

// shownPanel is a panel that is open, or waits until the one before it is done.
type shownPanel struct {
	terminal.Panel
	quietFrom time.Time // when it was shown, or a key came before it had them
	ready     bool      // it has the keys
	byPerson  bool
	done      chan struct{}
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

// hasKeys reports whether the panel in view has the keys at this moment.
func (s *shownPanel) hasKeys(now time.Time) bool {
	if !s.ready && (s.byPerson || now.Sub(s.quietFrom) >= quietBefore) {
		s.ready = true
	}
	return s.ready
}

// open shows a panel: above another one, or if that is nil behind all, where it waits for
// those before it. The caller has the lock.
func (s *screen) open(p terminal.Panel, byPerson bool, above *shownPanel) *shownPanel {
	x := &shownPanel{Panel: p, byPerson: byPerson, done: make(chan struct{})}
	at := len(s.panels.all)
	if i := slices.Index(s.panels.all, above); i >= 0 {
		at = i
		if l, ok := above.Panel.(*list); ok {
			l.waiting = nil // typed before the question was there
		}
	}
	s.panels.all = slices.Insert(s.panels.all, at, x)
	if at == 0 {
		s.view(x)
	}
	return x
}

// view starts the time in which a panel takes no keys. The caller has the lock.
func (s *screen) view(x *shownPanel) {
	x.quietFrom = s.now()
	if !x.byPerson {
		s.repaintWhenQuiet(x)
	}
}

// repaintWhenQuiet has the zone painted when the panel has the keys.
func (s *screen) repaintWhenQuiet(x *shownPanel) {
	time.AfterFunc(quietBefore+time.Millisecond, func() { s.change(func() { x.hasKeys(s.now()) }) })
}

// closePanel removes a panel, and shows the next one. The caller has the lock.
func (s *screen) closePanel(x *shownPanel) {
	i := slices.Index(s.panels.all, x)
	if i < 0 {
		return
	}
	s.panels.all = slices.Delete(s.panels.all, i, i+1)
	close(x.done)
	if next := s.panels.top(); i == 0 && next != nil {
		s.view(next)
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
		x.quietFrom = s.now()
		s.repaintWhenQuiet(x)
		return false
	}
	x.Key(k)
	if x.Done() {
		s.closePanel(x)
	}
	return true
}

// personKey marks a context of something that the person began just now.
type personKey struct{}

// asPerson returns a context for what the person began: dialogs in it take keys at once.
func asPerson(ctx context.Context) context.Context {
	return context.WithValue(ctx, personKey{}, true)
}

func isByPerson(ctx context.Context) bool { return ctx.Value(personKey{}) != nil }
