package terminal

import (
	"errors"
	"os"
	"os/signal"
	"sync"
)

// plain is a terminal of lines: what is printed is written at once, and nothing is painted.
// While no prompt is open the system sends whole lines and shows nothing of them, so that
// they do not appear in an answer. While one is open the line is edited, where that is possible.
//
// One goroutine has the editor, opens and closes prompts, and hands lines on.
type plain struct {
	config   Config
	screen   *Screen
	inbox    *Inbox
	keyboard *Keyboard // nil where the editor reads the console by itself
	editor   Editor
	before   lineMode
	tty      bool

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
	lent   bool
	closed bool

	// Only the goroutine uses these.
	result <-chan Line // of the open prompt, where lines do not come through the inbox
	over   bool        // there will be no more input
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
	p := &plain{config: c, screen: NewScreen(c.Out, c.Palette), inbox: NewInbox(), tty: isTerminal(c.In),
		pokes: make(chan struct{}, 1), signals: make(chan os.Signal, 4), quit: make(chan struct{}), done: make(chan struct{})}
	var err error
	if p.tty {
		if p.before, err = readLineMode(c.In); err != nil {
			return nil, err
		}
	}
	edit := p.tty && !c.Dumb && c.In == os.Stdin && c.Out == os.Stdout && isTerminal(c.Out)
	p.keyboard, p.editor, err = Open(Setup{In: c.In, Screen: p.screen, Inbox: p.inbox, Edit: edit,
		Complete: func(line string, pos int) (string, []string, string) { return line, nil, "" },
		Shortcut: func(key string) bool {
			if key == "ctrl+z" {
				p.suspend()
			}
			return key == "ctrl+z"
		}})
	if err != nil {
		return nil, err
	}
	p.silence()
	signal.Notify(p.signals, plainSignals()...)
	go p.run()
	return p, nil
}

// silence has the system show nothing of what is typed.
func (p *plain) silence() {
	if p.tty {
		_ = p.before.silent().set(p.config.In) // if the terminal is gone, reading it will say so
	}
}

// show has the system show what is typed.
func (p *plain) show() {
	if p.tty {
		_ = p.before.set(p.config.In)
	}
}

// run does what is asked for and hands lines on, until close is called.
func (p *plain) run() {
	defer close(p.done)
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
		case line := <-p.result:
			p.ended(line)
		case <-p.inbox.Ready():
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
		line, ok := p.editor.Cancel()
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
			closing <- typed{line.Text, true}
		case next == nil:
			next = &asked{open.sign, line.Text, line.Pos}
		}
		p.rest()
	} else if closing != nil {
		closing <- typed{}
	}
	for _, row := range rows {
		p.screen.Print(row)
	}
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
	p.show()
	p.result = p.editor.Open(a.sign, a.text, a.pos)
}

// rest ends what begin began.
func (p *plain) rest() {
	p.mu.Lock()
	p.open = nil
	p.mu.Unlock()
	p.result = nil
	p.editor.Rest()
	p.silence()
}

// ended takes the line of a prompt that has ended.
func (p *plain) ended(line Line) {
	if line.Err == nil || errors.Is(line.Err, ErrCtrlC) {
		p.editor.Ended()
	} else {
		p.screen.LineEnded("\n")
	}
	p.rest()
	p.flushRows()
	switch {
	case errors.Is(line.Err, ErrCtrlC):
		p.config.Handler.Interrupt()
	case line.Err != nil:
		p.end()
	default:
		p.hand(line.Text)
	}
}

// hand hands a line on, with what was pasted in place of its tokens.
func (p *plain) hand(line string) {
	if p.keyboard != nil {
		line = p.keyboard.Expand(line)
	}
	if line != "" {
		p.editor.Remember(line)
	}
	p.config.Handler.Line(line)
}

// lines takes the lines that the system has sent.
func (p *plain) lines() {
	for {
		line, ok, eof := p.inbox.Take()
		if !ok && !eof {
			return
		}
		p.mu.Lock()
		open := p.open != nil
		p.mu.Unlock()
		if open && p.result == nil {
			if ok {
				p.editor.Ended()
			} else { // nobody has ended the line of the prompt
				p.screen.EndLine()
			}
			p.rest()
			p.flushRows()
		}
		if !ok {
			p.end()
			return
		}
		p.config.Handler.Line(line)
	}
}

// end tells that the input has ended: once if it has for good, and for each Ctrl+D.
func (p *plain) end() {
	if !p.over {
		p.over = p.inbox.Waiting()
		p.config.Handler.End()
	}
}

// flushRows writes the rows that waited for the end of a prompt.
func (p *plain) flushRows() {
	p.mu.Lock()
	rows := p.rows
	p.rows = nil
	p.mu.Unlock()
	for _, row := range rows {
		p.screen.Print(row)
	}
}

// interrupted is called for Ctrl+C that came as a signal.
func (p *plain) interrupted() {
	p.mu.Lock()
	lent, open := p.lent, p.open != nil
	p.mu.Unlock()
	if lent {
		return
	}
	if open && p.tty { // the system has shown it
		p.screen.KeyEchoed()
	}
	p.config.Handler.Interrupt()
}

// again has the system show nothing, after a stop that a shell undid, which has set a mode
// of its own.
func (p *plain) again() {
	p.mu.Lock()
	lent, open := p.lent, p.open != nil
	p.mu.Unlock()
	if !lent && !open {
		p.silence()
	}
}

// print writes rows at once; while a prompt is open that is closed for them and opened
// again.
func (p *plain) print(rows []string) {
	p.mu.Lock()
	if p.open == nil || p.closed {
		defer p.mu.Unlock()
		for _, row := range rows {
			p.screen.Print(row)
		}
		return
	}
	p.rows = append(p.rows, rows...)
	p.mu.Unlock()
	p.poke()
}

// control writes a sequence that moves nothing.
func (p *plain) control(sequence string) {
	if !p.config.Dumb {
		p.screen.Control(sequence)
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
		defer p.keyboard.Lend()()
	}
	p.editor.Rest()
	p.show()
	defer func() {
		p.editor.Reset()
		p.silence()
	}()
	return run()
}

func (p *plain) setLent(lent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lent = lent
}

// close restores the terminal.
func (p *plain) close() {
	p.closing.Do(func() {
		signal.Stop(p.signals)
		close(p.quit)
		p.editor.Close()
		if p.keyboard != nil {
			p.keyboard.Stop()
		}
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.flushRows()
		p.screen.EndLine()
		p.show()
	})
}
