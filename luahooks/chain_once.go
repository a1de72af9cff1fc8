package luahooks

import "sync"

// onceOnly remembers what was said, so that it is said once.
type onceOnly struct {
	mu   sync.Mutex
	said map[string]bool
}

// add reports whether what is new.
func (o *onceOnly) add(what string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.said[what] {
		return false
	}
	if o.said == nil {
		o.said = map[string]bool{}
	}
	o.said[what] = true
	return true
}
