package repl

import (
	"sync"

	"pi/repl/terminal"
)

// draft is the line that the next prompt begins with. Any goroutine may use it.
type draft struct {
	mu   sync.Mutex
	line terminal.Line
}

func (d *draft) put(e terminal.Line) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.line = e
}

func (d *draft) get() terminal.Line {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.line
}

// take returns the line and empties the draft.
func (d *draft) take() terminal.Line {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.line
	d.line = terminal.Line{}
	return e
}

// add appends text to the draft, on a line of its own.
func (d *draft) add(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.line.Text != "" {
		text = d.line.Text + "\n" + text
	}
	d.line = terminal.Line{Text: text, Pos: -1}
}
