package agent

import (
	"encoding/json"
	"sync"
	"time"
)

// DrawnCall is a tool call at the moment at which somebody draws it for a user.
type DrawnCall struct {
	ID, Name string
	Input    json.RawMessage
	Running  bool // it is not over: what is drawn is shown until it is drawn again
	Failed   bool
	Started  time.Time     // when the call came, before the gate was asked
	Took     time.Duration // how long its tool has run by now, without waits for the user

	// Redraw has a running call drawn again soon, and one that is over never. It does not
	// wait, and any goroutine may call it.
	Redraw func()
	// Kept is the same for all drawings of a call: who draws it keeps there, under a key of
	// their own, what they want to have again.
	Kept *sync.Map
}
