package repl

import (
	"context"
	"slices"
	"time"

	"pi/repl/terminal"
)

// A panel has the keys in place of the line: a dialog, a picker, and so does a component
// of a hook. The first one of what the person began has them at once, if it comes soon. Any
// other takes none until no key has come for a while, so that nobody answers a question
// with what they were about to type: until then keys go to the line, which stays in view.

// quietBefore is how long no key comes before a question has the keys, and how long after
// the key that began it the first one of a command has them at once.
const quietBefore = 400 * time.Millisecond

// quiet is whether something has the keys. The lock of the screen guards it.
type quiet struct {
	quietFrom time.Time // when it was shown, or a key came before it had them
	ready     bool      // it has the keys
	atOnce    bool      // it has them from its beginning
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
	if !q.ready && (q.atOnce || now.Sub(q.quietFrom) >= quietBefore) {
		q.ready = true
	}
	return q.ready
}

// open shows a panel: above another one, or if that is nil behind all, where it waits for
// those before it. The caller has the lock.
func (s *screen) open(p terminal.Panel, atOnce bool, above *shownPanel) *shownPanel {
	x := &shownPanel{Panel: p, quiet: quiet{atOnce: atOnce}, done: make(chan struct{})}
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
	if !q.atOnce {
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

// initiative is something that the person began with a key: its first question, if it comes
// soon, is what they look for. The lock of the screen guards it.
type initiative struct {
	at    time.Time // of the key
	asked bool      // it has asked a question
}

// asksAtOnce notes a question, and reports whether that has the keys at once. There may be
// no initiative.
func (i *initiative) asksAtOnce(now time.Time) bool {
	if i == nil || i.asked {
		return false
	}
	i.asked = true
	return now.Sub(i.at) < quietBefore
}

// initiativeKey is for the initiative that a context is part of.
type initiativeKey struct{}

// asPerson returns a context for what the person began with a key at that time.
func asPerson(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, initiativeKey{}, &initiative{at: at})
}

// initiativeOf is that of a context; nil for none.
func initiativeOf(ctx context.Context) *initiative {
	i, _ := ctx.Value(initiativeKey{}).(*initiative)
	return i
}
