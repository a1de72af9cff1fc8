package repl

import (
	"maps"
	"slices"
	"sync"

	"pi/repl/terminal"
)

// widgetLines is how many lines of one widget are shown.
const widgetLines = 20

// widgets are the lines that hooks show above the prompt, by key.
type widgets struct {
	mu   sync.Mutex
	each map[string][]string
}

// set sets the lines under a key; nil removes them. It reports whether that changed
// something.
func (w *widgets) set(key string, lines []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	had, there := w.each[key]
	if lines == nil {
		delete(w.each, key)
		return there
	}
	if w.each == nil {
		w.each = map[string][]string{}
	}
	w.each[key] = slices.Clone(lines)
	return !there || !slices.Equal(had, lines)
}

// lines returns the lines of all widgets, in the order of their keys, each widget cut
// to widgetLines.
func (w *widgets) lines(p terminal.Palette, columns int) (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(w.each)) {
		lines := p.Painted(w.each[key], columns)
		all = append(all, lines[:min(len(lines), widgetLines)]...)
	}
	return all
}
