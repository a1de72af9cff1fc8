package terminal

import "sync"

// inbox has the lines that were typed while no prompt was open. Any goroutine may use it.
type inbox struct {
	mu     sync.Mutex
	lines  []typedIn
	eof    bool          // there will be no more lines
	over   bool          // Ctrl+D, which counts once
	signal chan struct{} // there is something to take: a line, or an end; a buffer of one
}

// typedIn is a line that was typed. shown says that it was shown as it was typed.
type typedIn struct {
	text  string
	shown bool
}

// wake signals that there is something. It never waits: one signal is enough.
func (b *inbox) wake() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// push adds a typed line.
func (b *inbox) push(line typedIn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line)
	b.wake()
}

// end notes an end of the input. With forGood no more lines will come; otherwise a person has
// typed Ctrl+D.
func (b *inbox) end(forGood bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eof, b.over = b.eof || forGood, true
	b.wake()
}

// take returns the oldest line; eof reports an end of input with no line before it, each end
// once.
func (b *inbox) take() (line typedIn, ok, eof bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) == 0 {
		eof = b.over
		b.over = false
		return typedIn{}, false, eof
	}
	line = b.lines[0]
	b.lines = b.lines[1:]
	return line, true, false
}
