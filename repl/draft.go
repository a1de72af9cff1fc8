package repl

import "sync"

// draft is what the next prompt begins with.
type draft struct {
	mu sync.Mutex
	edited
}

func (d *draft) put(e edited) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.edited = e
}

func (d *draft) get() edited {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.edited
}

func (d *draft) take() edited {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.edited
	d.edited = edited{}
	return e
}

// add puts text behind what is there, on a line of its own.
func (d *draft) add(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text != "" {
		text = d.text + "\n" + text
	}
	d.edited = edited{text: text, pos: -1}
}
