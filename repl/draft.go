package repl

import "sync"

// draft is what the next prompt begins with.
type draft struct {
	mu   sync.Mutex
	line edited
}

func (d *draft) put(e edited) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.line = e
}

func (d *draft) get() edited {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.line
}

func (d *draft) take() edited {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.line
	d.line = edited{}
	return e
}

// add puts text behind what is there, on a line of its own.
func (d *draft) add(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.line.text != "" {
		text = d.line.text + "\n" + text
	}
	d.line = edited{text: text, pos: -1}
}
