package terminal

// Editor shows the prompt and lets a line be edited. One prompt is open at a
// time; all methods are called by the loop only.
type Editor interface {
	// open shows the prompt with text in it. The result comes through the
	// channel, or as a line of the inbox if the channel is nil.
	Open(prompt, text string, pos int) <-chan Line
	// cancel closes the open prompt without a trace and returns what stood in
	// it. It reports false if that cannot be done: the prompt stays open, or
	// ends by itself with the result it has.
	Cancel() (Line, bool)
	// ended is called when a prompt has ended by itself.
	Ended()
	// rest gives the terminal to what goes on between prompts. Any goroutine
	// may call it while no prompt is open, and more than once.
	Rest()
	// grab sends keys to a panel, one by one, while no prompt is open: pressed is
	// signalled when the keyboard has some, and out is called for Ctrl+C. It
	// reports false where only whole lines can be read.
	Grab(out func()) (pressed <-chan struct{}, ok bool)
	// release ends grab.
	Release()
	// reset brings the terminal into the mode that rest gives it, whatever
	// another program made of it.
	Reset()
	// remember adds a line to what can be called up again.
	Remember(line string)
	// close restores the terminal. It may be called more than once.
	Close()
}

// Line is how a prompt ended: the line, or an error (io.EOF, errCtrlC).
type Line struct {
	Text string
	Pos  int
	Err  error
}

// plainEditor serves a terminal that cannot edit, and input that is none: the
// prompt is printed and whole lines come through the inbox.
type plainEditor struct {
	screen *Screen
	quiet  bool // nobody is there to be prompted
}

func (p *plainEditor) Open(prompt, text string, _ int) <-chan Line {
	if text != "" {
		p.screen.Line(StyleDim, "not sent: "+text)
	}
	if !p.quiet {
		p.screen.prompt(prompt)
	}
	return nil
}

func (p *plainEditor) Cancel() (Line, bool) {
	if !p.quiet {
		p.screen.EndLine()
	}
	return Line{}, true
}

func (p *plainEditor) Ended() {
	if !p.quiet {
		p.screen.LineEnded("")
	}
}

func (p *plainEditor) Rest() {}

func (p *plainEditor) Grab(func()) (<-chan struct{}, bool) { return nil, false }

func (p *plainEditor) Release() {}

func (p *plainEditor) Reset() {}

func (p *plainEditor) Remember(string) {}

func (p *plainEditor) Close() {}
