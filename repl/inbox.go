package repl

import "sync"

// inbox holds the lines that were typed while no prompt was open. An open
// dialog gets them first.
type inbox struct {
	mu     sync.Mutex
	lines  []string
	dialog chan<- answerLine // of the open dialog, else nil
	eof    bool              // there will be no more lines
	over   bool              // Ctrl+D, which counts once
	signal chan struct{}     // holds one
}

// answerLine is a line typed into a dialog, or its refusal by an end of input.
type answerLine struct {
	text string
	eof  bool
}

// dialogAhead is how many lines a dialog may be behind; those after them are for
// whoever reads next.
const dialogAhead = 64

func newInbox() *inbox { return &inbox{signal: make(chan struct{}, 1)} }

// Ready is signalled when there is something to take: a line, or an end of input.
func (b *inbox) Ready() <-chan struct{} { return b.signal }

func (b *inbox) wake() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// push takes a typed line. It never blocks.
func (b *inbox) push(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.offer(answerLine{text: line}) {
		return
	}
	b.lines = append(b.lines, line)
	b.wake()
}

// offer gives an answer to the open dialog, if it still waits for one.
func (b *inbox) offer(a answerLine) bool {
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

// unread puts lines back in front.
func (b *inbox) unread(lines ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(lines, b.lines...)
	b.wake()
}

// end notes an end of input; the one that a person types at a terminal is over
// at once.
func (b *inbox) end(forGood bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eof = b.eof || forGood
	if !b.offer(answerLine{eof: true}) || forGood {
		b.over = true
		b.wake()
	}
}

// take returns the oldest line; eof reports an end of input with no line before
// it.
func (b *inbox) take() (line string, ok, eof bool) {
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

// waiting reports whether there is something to take: a line, or the end of all.
func (b *inbox) waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.lines) > 0 || b.eof
}

// takeAll empties the inbox.
func (b *inbox) takeAll() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	return lines
}

// lend sends lines to a dialog from now on, until back is called. After the end
// of input a dialog is refused at once.
func (b *inbox) lend() (answers <-chan answerLine, back func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dialog := make(chan answerLine, dialogAhead)
	b.dialog = dialog
	if b.eof {
		b.offer(answerLine{eof: true})
	}
	return dialog, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.dialog = nil
	}
}
