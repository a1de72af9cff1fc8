package terminal

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
)

// plain is a terminal of lines: what is printed is written at once, and nothing is painted.
// While no prompt is open nothing is shown of what is typed, so that it does not appear in
// an answer. While one is open the line is edited, where that is possible.
//
// One goroutine has the editor, opens and closes prompts, and hands lines on.
type plain struct {
	config   Config
	sheet    *sheet
	inbox    *inbox
	keyboard *keyboard // nil where the editor reads the console by itself
	editor   lineReader
	before   lineMode
	tty      bool
	brackets bool // pastes are asked to be told from keys

	pokes   chan struct{} // something is to be done, a buffer of one
	signals chan os.Signal
	quit    chan struct{}
	done    chan struct{}
	closing sync.Once

	mu     sync.Mutex
	rows   []string // printed while a prompt was open
	next   *asked   // the prompt to open
	closes chan typed
	stops  bool // the process is to be stopped
	open   *asked
	lease  lease
	closed bool

	result <-chan line // of the open prompt, where lines do not come through the inbox; the goroutine's own
}

// asked is a prompt.
type asked struct {
	sign, text string
	pos        int
}

// typed is what was in a prompt that was closed.
type typed struct {
	text string
	ok   bool
}

func startPlain(c Config) (*plain, error) {
	p := &plain{config: c, sheet: &sheet{out: c.Out}, inbox: &inbox{signal: make(chan struct{}, 1)}, tty: isTerminal(c.In),
		pokes: make(chan struct{}, 1), signals: make(chan os.Signal, 4), quit: make(chan struct{}), done: make(chan struct{})}
	var err error
	if p.tty {
		if p.before, err = readLineMode(c.In); err != nil {
			return nil, err
		}
	}
	edit := p.tty && !c.Dumb && c.In == os.Stdin && c.Out == os.Stdout && isTerminal(c.Out)
	p.brackets = edit && canWait
	p.silence()
	if err := p.read(edit); err != nil {
		p.show()
		return nil, err
	}
	signal.Notify(p.signals, plainSignals()...)
	go p.run()
	return p, nil
}

// read begins to read. edit says that lines can be edited: the terminal is the process's own.
func (p *plain) read(edit bool) (err error) {
	if canWait || !edit {
		if p.keyboard, err = newKeyboard(p.config.In, p.inbox, p.suspend); err != nil {
			return err
		}
	}
	p.editor = &plainEditor{sheet: p.sheet, keys: p.keyboard, quiet: !p.tty}
	if !edit {
		return nil
	}
	editor, err := newLineEditor(p.keyboard, p.sheet)
	if err != nil {
		if p.keyboard != nil {
			p.keyboard.stop()
		}
		return err
	}
	p.editor = editor
	return nil
}

// silence has the system send each key and show none.
func (p *plain) silence() {
	if p.tty {
		_ = p.before.silent().set(p.config.In) // if the terminal is gone, reading it will say so
	}
	if p.brackets {
		p.sheet.control(pasteOn)
	}
}

// show gives the terminal back as it was found.
func (p *plain) show() {
	if p.brackets {
		p.sheet.control(pasteOff)
	}
	if p.tty {
		_ = p.before.set(p.config.In)
	}
}

// run does what is asked for and hands lines on, until close is called or the front end
// panics.
func (p *plain) run() {
	defer close(p.done)
	defer func() {
		if f := p.config.Handler.Panicked; f != nil {
			if value := recover(); value != nil {
				f(value, debug.Stack())
			}
		}
	}()
	for {
		select {
		case <-p.pokes:
			p.act()
		case came := <-p.signals:
			if came == os.Interrupt {
				p.interrupted()
			} else {
				p.again()
			}
		case ended := <-p.result:
			p.ended(ended)
		case <-p.inbox.signal:
			p.lines()
		case <-p.quit:
			return
		}
	}
}

// poke has the goroutine look what is to be done.
func (p *plain) poke() {
	select {
	case p.pokes <- struct{}{}:
	default:
	}
}

// act does what is to be done: it closes the prompt, shows rows, opens a prompt.
func (p *plain) act() {
	p.mu.Lock()
	rows, next, closing, open, stops := p.rows, p.next, p.closes, p.open, p.stops
	p.rows, p.next, p.closes, p.stops = nil, nil, nil, false
	p.mu.Unlock()
	if open != nil && (len(rows) > 0 || next != nil || closing != nil || stops) {
		was, ok := p.editor.cancel()
		switch {
		case !ok: // it ends by itself, or cannot be closed: rows wait for its end
			p.mu.Lock()
			p.rows = append(rows, p.rows...)
			p.mu.Unlock()
			if closing != nil {
				closing <- typed{}
			}
			return
		case closing != nil:
			closing <- typed{was.text, true}
		case next == nil:
			next = &asked{open.sign, was.text, was.pos}
		}
		p.rest()
	} else if closing != nil {
		closing <- typed{}
	}
	p.sheet.print(rows...)
	if stops {
		p.show()
		stopGroup(nil)
		p.silence()
		p.config.Handler.Resumed()
	}
	if next != nil {
		p.begin(next)
	}
}

// suspend has the goroutine stop the process, with the prompt closed meanwhile.
func (p *plain) suspend() {
	p.mu.Lock()
	p.stops = true
	p.mu.Unlock()
	p.poke()
}

// begin opens a prompt.
func (p *plain) begin(a *asked) {
	p.mu.Lock()
	p.open = a
	p.mu.Unlock()
	p.result = p.editor.open(a.sign, a.text, a.pos)
}

// rest ends what begin began.
func (p *plain) rest() {
	p.mu.Lock()
	p.open = nil
	p.mu.Unlock()
	p.result = nil
	p.editor.rest()
}

// ended takes the line of a prompt that has ended.
func (p *plain) ended(l line) {
	if l.err == nil || errors.Is(l.err, errCtrlC) {
		p.editor.ended()
	} else {
		p.sheet.lineEnded("\n")
	}
	p.rest()
	p.flushRows()
	switch {
	case errors.Is(l.err, errCtrlC):
		p.config.Handler.Interrupt()
	case l.err != nil:
		p.config.Handler.End()
	default:
		text := l.text
		if p.keyboard != nil {
			text = p.keyboard.expand(text) // what was pasted, in place of its tokens
		}
		if text != "" {
			p.editor.remember(text)
		}
		p.config.Handler.Line(text)
	}
}

// lines takes the lines that the system has sent.
func (p *plain) lines() {
	for {
		line, ok, eof := p.inbox.take()
		if !ok && !eof {
			return
		}
		p.mu.Lock()
		open := p.open != nil
		p.mu.Unlock()
		if open && p.result == nil {
			if ok {
				if !line.shown { // it was typed before the prompt was open
					p.sheet.lineEnded(onOneRow(line.text) + "\n")
				}
				p.editor.ended()
			} else { // nobody has ended the line of the prompt
				p.sheet.endLine()
			}
			p.rest()
			p.flushRows()
		}
		if !ok {
			p.config.Handler.End()
			return
		}
		p.config.Handler.Line(line.text)
	}
}

// flushRows writes the rows that waited for the end of a prompt.
func (p *plain) flushRows() {
	p.mu.Lock()
	rows := p.rows
	p.rows = nil
	p.mu.Unlock()
	p.sheet.print(rows...)
}

// interrupted is called for Ctrl+C that came as a signal.
func (p *plain) interrupted() {
	p.mu.Lock()
	theirs, open := p.lease.takesInterrupts(), p.open != nil
	p.mu.Unlock()
	if theirs {
		return
	}
	if open && p.tty && p.result == nil {
		p.sheet.prompt("^C")
	}
	p.config.Handler.Interrupt()
}

// again has the system show nothing, after a stop that a shell undid, which has set a mode
// of its own.
func (p *plain) again() {
	p.mu.Lock()
	lent, open := p.lease.lent, p.open != nil
	p.mu.Unlock()
	if !lent && (!open || p.result == nil) {
		p.silence()
	}
}

// print writes rows at once; while a prompt is open that is closed for them and opened
// again.
func (p *plain) print(rows []string) {
	p.mu.Lock()
	if p.open == nil || p.closed {
		defer p.mu.Unlock()
		p.sheet.print(rows...)
		return
	}
	p.rows = append(p.rows, rows...)
	p.mu.Unlock()
	p.poke()
}

// control writes a sequence that moves nothing.
func (p *plain) control(sequence string) {
	if !p.config.Dumb {
		p.sheet.control(sequence)
	}
}

// prompt opens a prompt; one that is open is replaced.
func (p *plain) prompt(sign, text string) {
	p.mu.Lock()
	p.next = &asked{sign, text, -1}
	p.mu.Unlock()
	p.poke()
}

// unprompt closes the open prompt and returns what was in it.
func (p *plain) unprompt() (text string, ok bool) {
	p.mu.Lock()
	if p.open == nil && p.next != nil { // it is not open yet
		text, p.next = p.next.text, nil
		p.mu.Unlock()
		return text, true
	}
	if p.open == nil || p.closes != nil {
		p.mu.Unlock()
		return "", false
	}
	closed := make(chan typed, 1)
	p.closes = closed
	p.mu.Unlock()
	p.poke()
	select {
	case was := <-closed:
		return was.text, was.ok
	case <-p.done:
		return "", false
	}
}

// lend gives the terminal to another program while run runs.
func (p *plain) lend(run func() error) error {
	p.setLent(true)
	defer p.setLent(false)
	if p.keyboard != nil {
		defer p.keyboard.lend()()
	}
	p.editor.rest()
	p.show()
	defer func() {
		p.editor.reset()
		p.silence()
	}()
	return run()
}

func (p *plain) setLent(lent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lease.set(lent)
}

// close restores the terminal.
func (p *plain) close() {
	p.closing.Do(func() {
		signal.Stop(p.signals)
		close(p.quit)
		p.editor.close()
		if p.keyboard != nil {
			p.keyboard.stop()
		}
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.flushRows()
		p.sheet.endLine()
		p.show()
	})
}

// sheet is the output of a terminal of lines: it is only ever added to. Any goroutine may
// use it.
type sheet struct {
	mu      sync.Mutex
	out     io.Writer
	midLine bool // the last byte written was not a line end
}

// write writes text. If the terminal is gone there is nobody to tell.
func (s *sheet) write(text string, midLine bool) {
	_, _ = io.WriteString(s.out, text)
	s.midLine = midLine
}

// print writes rows, each on a line of its own.
func (s *sheet) print(rows ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		s.endLineLocked()
		s.write(row+"\n", false)
	}
}

// prompt writes text without a line end.
func (s *sheet) prompt(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(text, true)
}

// endLine ends the line that is under way, if there is one.
func (s *sheet) endLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLineLocked()
}

func (s *sheet) endLineLocked() {
	if s.midLine {
		s.write("\n", false)
	}
}

// lineEnded writes text and takes the cursor to be at the start of a line, as it is once
// the person has ended what they type.
func (s *sheet) lineEnded(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(text, false)
}

// control writes a sequence that does not move the cursor.
func (s *sheet) control(sequence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(sequence, s.midLine)
}
