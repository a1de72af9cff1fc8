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
	ready  chan struct{}     // signalled when there is something to take, holds one
}

// answerLine is a line typed into a dialog, or its refusal by an end of input.
type answerLine struct {
	text string
	eof  bool
}

func newInbox() *inbox { return &inbox{ready: make(chan struct{}, 1)} }

func (b *inbox) signal() {
	select {
	case b.ready <- struct{}{}:
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
	b.signal()
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
	b.signal()
}

// end notes an end of input; the one that a person types at a terminal is over
// at once.
func (b *inbox) end(forGood bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eof = b.eof || forGood
	if !b.offer(answerLine{eof: true}) || forGood {
		b.over = true
		b.signal()
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
		b.signal()
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

// lend sends lines to a dialog from now on; nil ends that. After the end of
// input a dialog is refused at once.
func (b *inbox) lend(dialog chan<- answerLine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dialog = dialog
	if b.eof {
		b.offer(answerLine{eof: true})
	}
}
