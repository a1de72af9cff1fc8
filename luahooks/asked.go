package luahooks

import (
	"sync/atomic"
	"time"
)

// askedLong is how long an event is on its way before the hook that is asked is named to
// the person.
const askedLong = time.Second

// asked is the event for whose answer the agent waits, the newest if there are several. It
// may be used from any goroutine.
type asked struct{ newest atomic.Pointer[journey] }

// journey is the way of one event.
type journey struct {
	began time.Time
	at    atomic.Pointer[hook] // the hook that is asked
}

// begin notes that an event is on its way.
func (a *asked) begin() *journey {
	j := &journey{began: time.Now()}
	a.newest.Store(j)
	return j
}

// end notes that the event has arrived.
func (a *asked) end(j *journey) { a.newest.CompareAndSwap(j, nil) }

// hook is the name of the hook that is asked, if the event has been on its way for long;
// else "".
func (a *asked) hook() string {
	j := a.newest.Load()
	if j == nil || time.Since(j.began) < askedLong {
		return ""
	}
	if h := j.at.Load(); h != nil {
		return h.Name
	}
	return ""
}

// Asked is the name of the hook whose answer the agent has been waiting for, a second and
// longer; "" if there is none.
func (c *Chain) Asked() string { return c.events.asked.hook() }
