package repl

import "sync"

// title is the name of the terminal's window, which is put back at the end.
type title struct {
	mu  sync.Mutex
	set bool
}

// name sets the title. The terminal is asked to remember the one from before; "" puts
// that back.
func (t *title) name(control func(string), text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text == "" {
		t.restoreLocked(control)
		return
	}
	if !t.set {
		control(titleSave)
		t.set = true
	}
	control("\x1b]2;" + text + "\x07")
}

// restore puts the title from before back.
func (t *title) restore(control func(string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.restoreLocked(control)
}

func (t *title) restoreLocked(control func(string)) {
	if t.set {
		control(titleBack)
		t.set = false
	}
}
