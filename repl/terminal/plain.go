package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"unicode/utf8"

	"pi/internal/printable"
)

// plain is a terminal of lines: what is printed is written at once, and nothing is painted.
// While no prompt is open nothing is shown of what is typed, so that it does not appear in
// an answer. While one is open the line is edited, where that is possible.
//
// One goroutine opens and closes prompts, and hands lines on. Another reads: a key goes to the
// editor while that has a prompt open, else to the line that is typed without it.
type plain struct {
	config   Config
	writer   *lineWriter
	input    *input      // nil where the editor reads the console by itself
	editor   *lineEditor // nil where lines cannot be edited
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
	edits  bool // the editor gets the keys
	pastes pastes
	line   typedLine
	read   []byte    // of a line that has not ended, where the system sends whole lines
	lines  []typedIn // ended without the editor, and not handed on yet
	over   bool      // behind them there was Ctrl+D, or the end of the input
	lease  lease
	closed bool

	result <-chan line // of the open prompt, if the editor has it; the goroutine's own
}

// asked is a prompt.
type asked struct {
	sign, text string
	pos        int // of the cursor in the text, in runes; -1: at the end
}

// typed is what was in a prompt that was closed.
type typed struct {
	text string
	ok   bool
}

func startPlain(c Config) (*plain, error) {
	p := &plain{config: c, writer: &lineWriter{out: c.Out}, tty: isTerminal(c.In),
		pokes: make(chan struct{}, 1), signals: make(chan os.Signal, 4), quit: make(chan struct{}), done: make(chan struct{})}
	p.line.ended = func(line typedIn) { p.lineEnded(p.pastes.expand(line.text), line.shown) }
	p.line.over = p.noteOver
	var err error
	if p.tty {
		if p.before, err = readLineMode(c.In); err != nil {
			return nil, err
		}
	}
	edit := p.tty && !c.Dumb && c.In == os.Stdin && c.Out == os.Stdout && isTerminal(c.Out)
	p.brackets = edit && canWait
	p.silence()
	if edit {
		if p.editor, err = newLineEditor(c.In); err != nil {
			p.show()
			return nil, err
		}
	}
	if canWait || !edit {
		if err := p.startReading(); err != nil {
			p.show()
			return nil, err
		}
	}
	signal.Notify(p.signals, plainSignals()...)
	go p.run()
	return p, nil
}

// startReading reads the keys of a terminal that sends each, else whole lines.
func (p *plain) startReading() (err error) {
	if p.input, err = newInput(p.config.In, p.config.Getenv("SSH_CONNECTION") != ""); err != nil {
		return err
	}
	p.input.guard = func(f func()) bool { f(); return true }
	p.input.onKey, p.input.onFocus, p.input.onReply = p.key, func(bool) {}, func(string) {}
	p.input.end = p.inputEnds
	if p.tty && canWait {
		p.input.cooked = unread(p.config.In)
	} else {
		p.input.raw = p.readLines
	}
	go p.input.run()
	return nil
}

// key takes a key.
func (p *plain) key(k Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case k.Release:
	case k.Name == "ctrl+z":
		p.stops = true
		wake(p.pokes)
	case p.edits:
		p.edits = k.Name != "enter" && k.Name != "ctrl+c" // which end the prompt
		p.editor.press(p.pastes.forLiner(k))
	default:
		p.line.key(k)
	}
}

// readLines takes bytes of lines. The beginning of a line waits for its end.
func (p *plain) readLines(read []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = append(p.read, read...)
	for {
		i := bytes.IndexAny(p.read, "\r\n")
		if i < 0 {
			return
		}
		text := string(p.read[:i])
		if p.read[i] == '\r' && i+1 < len(p.read) && p.read[i+1] == '\n' {
			i++
		}
		p.read = p.read[i+1:]
		p.lineEnded(text, true)
	}
}

// inputEnds is called when there will be no more input. The last line may have no end.
func (p *plain) inputEnds() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.read) > 0 {
		p.lineEnded(string(p.read), true)
	}
	p.noteOver()
}

// lineEnded has a line handed on that was ended without the editor. p is locked.
func (p *plain) lineEnded(text string, shown bool) {
	p.lines = append(p.lines, typedIn{printable.Text(text), shown})
	wake(p.pokes)
}

// noteOver notes Ctrl+D, or the end of the input. p is locked.
func (p *plain) noteOver() {
	p.over = true
	wake(p.pokes)
}

// silence has the system send each key and show none.
func (p *plain) silence() {
	p.silent()
	if p.brackets {
		p.writer.control(pasteOn)
	}
}

// silent sets the mode of the terminal for when the editor has no prompt open.
func (p *plain) silent() {
	if p.tty {
		_ = p.before.silent().set(p.config.In) // if the terminal is gone, reading it will say so
	}
}

// show gives the terminal back as it was found.
func (p *plain) show() {
	if p.brackets {
		p.writer.control(pasteOff)
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
			p.handLinesOn()
		case came := <-p.signals:
			if came == os.Interrupt {
				p.interrupted()
			} else {
				p.again()
			}
		case ended := <-p.result:
			p.ended(ended)
			p.handLinesOn()
		case <-p.quit:
			return
		}
	}
}

// act does what is to be done: it closes the prompt, shows rows, opens a prompt.
func (p *plain) act() {
	p.mu.Lock()
	rows, next, closing, open, stops := p.rows, p.next, p.closes, p.open, p.stops
	p.rows, p.next, p.closes, p.stops = nil, nil, nil, false
	p.mu.Unlock()
	if open != nil && (len(rows) > 0 || next != nil || closing != nil || stops) {
		was, ok := p.cancel()
		switch {
		case !ok: // it ends by itself, or cannot be closed: rows and a stop wait for its end
			p.mu.Lock()
			p.rows, p.stops = append(rows, p.rows...), p.stops || stops
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
	} else if closing != nil {
		closing <- typed{}
	}
	p.writer.print(rows...)
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
	wake(p.pokes)
}

// begin opens a prompt. What was typed before that is in its line.
func (p *plain) begin(a *asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.open = a
	earlier := p.line.take()
	if p.editor != nil && p.editor.fits(a.sign) && len(p.lines) == 0 { // a line that is there ends this prompt
		text := []rune(a.text)
		at := a.pos
		if at < 0 || at > len(text) {
			at = len(text)
		}
		p.editor.open(a.sign, string(text[:at])+earlier+string(text[at:]), at+utf8.RuneCountInString(earlier))
		p.result, p.edits = p.editor.result, p.editor.feed != nil
		return
	}
	if p.tty && canWait {
		p.line.show = p.writer.prompt
		p.writer.prompt(a.sign)
		p.line.add(a.text + earlier)
		return
	}
	// The system shows what is typed, and a line cannot begin with text.
	if a.text != "" {
		p.writer.print("not sent: " + a.text)
	}
	if p.tty {
		p.writer.prompt(a.sign)
	}
}

// cancel closes the open prompt without a trace and returns what was in it. It reports false if
// that cannot be done: the prompt is still open, or ends by itself with the result it has.
func (p *plain) cancel() (was line, ok bool) {
	p.mu.Lock()
	edits := p.edits
	if edits {
		p.edits = false
		p.editor.press(cancelKeys)
	}
	p.mu.Unlock()
	switch {
	case edits:
		was = p.editor.cancelled()
		p.writer.control("\r\x1b[J")
		p.writer.lineEnded("")
	case p.result != nil:
		return line{}, false
	default:
		p.mu.Lock()
		was = line{text: p.line.take(), pos: -1}
		p.mu.Unlock()
		p.writer.endLine()
	}
	p.rest()
	return was, true
}

// rest ends what begin began, when the prompt is closed.
func (p *plain) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.result != nil && !p.closed {
		p.silent()
	}
	p.result, p.open, p.edits, p.line.show = nil, nil, false, nil
	if p.stops {
		wake(p.pokes)
	}
}

// ended takes the line of a prompt that the editor has ended.
func (p *plain) ended(l line) {
	if l.err != nil && !errors.Is(l.err, errCtrlC) {
		p.writer.lineEnded("\n")
	}
	p.rest()
	p.flushRows()
	switch {
	case errors.Is(l.err, errCtrlC):
		p.config.Handler.Interrupt()
	case l.err != nil:
		p.config.Handler.End()
	default:
		p.mu.Lock()
		text := p.pastes.expand(l.text)
		p.mu.Unlock()
		if text != "" {
			p.editor.remember(text)
		}
		p.config.Handler.Line(text)
	}
}

// handLinesOn hands on the lines that were ended without the editor. One that the editor has
// ended is before them.
func (p *plain) handLinesOn() {
	for {
		p.mu.Lock()
		if p.result != nil && p.input != nil && !p.edits {
			p.mu.Unlock()
			return
		}
		var line typedIn
		over, open := p.over, p.open != nil
		ended := len(p.lines) > 0
		if ended {
			line, p.lines = p.lines[0], p.lines[1:]
		} else {
			p.over = false // which counts once
		}
		p.mu.Unlock()
		if !ended && !over {
			return
		}
		if open && p.result == nil {
			switch {
			case !ended: // nobody has ended the line of the prompt
				p.writer.endLine()
			case line.shown:
				p.writer.lineEnded("")
			default: // it was typed before the prompt was open
				p.writer.lineEnded(onOneRow(line.text) + "\n")
			}
			p.rest()
			p.flushRows()
		}
		if !ended {
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
	p.writer.print(rows...)
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
		p.writer.prompt("^C")
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
		p.writer.print(rows...)
		return
	}
	p.rows = append(p.rows, rows...)
	p.mu.Unlock()
	wake(p.pokes)
}

// control writes a sequence that moves nothing.
func (p *plain) control(sequence string) {
	if !p.config.Dumb {
		p.writer.control(sequence)
	}
}

// prompt opens a prompt; one that is open is replaced.
func (p *plain) prompt(sign, text string) {
	p.mu.Lock()
	p.next = &asked{sign, text, -1}
	p.mu.Unlock()
	wake(p.pokes)
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
	wake(p.pokes)
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
	if p.input != nil {
		p.input.pause()
		defer p.input.resume()
	}
	p.show()
	defer p.silence()
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
		p.mu.Lock()
		p.closed, p.edits = true, false
		p.mu.Unlock()
		if p.editor != nil {
			p.editor.close()
		}
		if p.input != nil && canWait {
			p.input.stop(closePatience)
		}
		p.flushRows()
		p.writer.endLine()
		p.show()
	})
}

// lineWriter is the output of a terminal of lines: it is only ever added to. Any goroutine may
// use it.
type lineWriter struct {
	mu      sync.Mutex
	out     io.Writer
	midLine bool // the last byte written was not a line end
}

// write writes text. If the terminal is gone there is nobody to tell.
func (w *lineWriter) write(text string, midLine bool) {
	_, _ = io.WriteString(w.out, text)
	w.midLine = midLine
}

// print writes rows, each on a line of its own.
func (w *lineWriter) print(rows ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, row := range rows {
		w.endLineLocked()
		w.write(row+"\n", false)
	}
}

// prompt writes text without a line end.
func (w *lineWriter) prompt(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(text, true)
}

// endLine ends the line that is under way, if there is one.
func (w *lineWriter) endLine() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endLineLocked()
}

func (w *lineWriter) endLineLocked() {
	if w.midLine {
		w.write("\n", false)
	}
}

// lineEnded writes text and takes the cursor to be at the start of a line, as it is once
// the user has ended what they type.
func (w *lineWriter) lineEnded(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(text, false)
}

// control writes a sequence that does not move the cursor.
func (w *lineWriter) control(sequence string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(sequence, w.midLine)
}
