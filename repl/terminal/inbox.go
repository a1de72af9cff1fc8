package terminal

import "sync"

// Inbox has the lines that were typed while no prompt was open. An open
// dialog gets them first. Any goroutine may use it.
type Inbox struct {
	mu     sync.Mutex
	lines  []string
	dialog chan<- Answer // of the open dialog, else nil
	eof    bool          // there will be no more lines
	over   bool          // Ctrl+D, which counts once
	signal chan struct{} // a buffer of one
}

// Answer is a line typed into a dialog, or its refusal by an end of input.
type Answer struct {
	Text string
	EOF  bool
}

// dialogAhead is how many lines a dialog may be behind; later ones are for the next
// reader.
const dialogAhead = 64

// NewInbox returns an empty inbox.
func NewInbox() *Inbox { return &Inbox{signal: make(chan struct{}, 1)} }

// Ready is signalled when there is something to take: a line, or an end of input.
func (b *Inbox) Ready() <-chan struct{} { return b.signal }

// wake signals Ready. It never waits: one signal is enough.
func (b *Inbox) wake() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// push gives a typed line to the open dialog, or else adds it to the lines. It never
// blocks.
func (b *Inbox) push(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.offer(Answer{Text: line}) {
		return
	}
	b.lines = append(b.lines, line)
	b.wake()
}

// offer gives an answer to the open dialog. It reports false if there is none, or if
// the dialog is too far behind.
func (b *Inbox) offer(a Answer) bool {
	if b.dialog == nil {
		return false
	}
	select {
	case b.dialog <- a:
		return true
	default:
		return false
	}
}

// Unread puts lines back in front.
func (b *Inbox) Unread(lines ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(lines, b.lines...)
	b.wake()
}

// end notes an end of the input. With forGood no more lines will come. Otherwise a
// person has typed Ctrl+D, which refuses an open dialog, or is reported to the next
// reader once.
func (b *Inbox) end(forGood bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eof = b.eof || forGood
	if !b.offer(Answer{EOF: true}) || forGood {
		b.over = true
		b.wake()
	}
}

// Take returns the oldest line; eof reports an end of input with no line before
// it.
func (b *Inbox) Take() (line string, ok, eof bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) == 0 {
		eof = b.eof || b.over
		b.over = false
		return "", false, eof
	}
	line = b.lines[0]
	b.lines = b.lines[1:]
	if len(b.lines) > 0 {
		b.wake()
	}
	return line, true, false
}

// Waiting reports whether there is something to take: a line, or the end of all.
func (b *Inbox) Waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.lines) > 0 || b.eof
}

// TakeAll removes and returns all lines, oldest first.
func (b *Inbox) TakeAll() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	return lines
}

// Lend sends typed lines to a dialog from now on, until back is called; those that came
// before stay for others. After the end of input a dialog is refused at once.
func (b *Inbox) Lend() (answers <-chan Answer, back func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dialog := make(chan Answer, dialogAhead)
	b.dialog = dialog
	if b.eof {
		b.offer(Answer{EOF: true})
	}
	return dialog, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.dialog = nil
	}
}
