package terminal

// Editor shows the prompt and lets a line be edited. One prompt is open at a
// time. Where nothing else is said, the methods are for the one goroutine that
// opens prompts.
type Editor interface {
	// Open shows the prompt with text in it and the cursor before the rune at pos;
	// -1 is the end. The result comes through the channel, or as a line of the
	// inbox if the channel is nil.
	Open(prompt, text string, pos int) <-chan Line
	// Cancel closes the open prompt without a trace and returns the text that was
	// in it. It reports false if that cannot be done: the prompt is still open, or
	// ends by itself with the result it has.
	Cancel() (Line, bool)
	// Ended is called when a prompt has ended by itself.
	Ended()
	// Rest brings the terminal into its mode between prompts. Any goroutine
	// may call it while no prompt is open, and more than once.
	Rest()
	// Grab sends keys to a panel, one by one, while no prompt is open: pressed is
	// signalled when the keyboard has some, and out is called for Ctrl+C, with the
	// keyboard locked. It reports false where only whole lines can be read. Any
	// goroutine may call it, one at a time.
	Grab(out func()) (pressed <-chan struct{}, ok bool)
	// Release ends what Grab began.
	Release()
	// Reset brings the terminal into the mode that Rest gives it, whatever
	// another program made of it.
	Reset()
	// Remember adds a line to those that can be called up again.
	Remember(line string)
	// Close restores the terminal. Any goroutine may call it, and more than once.
	Close()
}

// Line is how a prompt ended: the line, or an error.
type Line struct {
	Text string
	Pos  int   // of the cursor, in runes; -1: at the end
	Err  error // io.EOF, ErrCtrlC, or a failure of the terminal
}

// plainEditor serves a terminal that cannot edit, and input that is none: the
// prompt is printed and whole lines come through the inbox.
type plainEditor struct {
	screen *Screen
	quiet  bool // nobody is there to be prompted
}

// Open prints the prompt; its line comes through the inbox, so there is no channel. A
// line cannot begin with text here, so text is shown above the prompt as not sent.
func (p *plainEditor) Open(prompt, text string, _ int) <-chan Line {
	if text != "" {
		p.screen.Line(StyleDim, "not sent: "+text)
	}
	if !p.quiet {
		p.screen.prompt(prompt)
	}
	return nil
}

// Cancel ends the line of the prompt on the screen. What was typed into it comes
// through the inbox, so there is no text to return.
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
