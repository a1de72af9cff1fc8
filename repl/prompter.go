package repl

// prompter shows the prompt and lets a line be edited. One prompt is open at a
// time; all methods are called by the loop only.
type prompter interface {
	// open shows the prompt with text in it. The result comes through the
	// channel, or as a line of the inbox if the channel is nil.
	open(prompt, text string, pos int) <-chan edited
	// cancel closes the open prompt without a trace and returns what stood in
	// it. It reports false if that cannot be done: the prompt stays open, or
	// ends by itself with the result it has.
	cancel() (edited, bool)
	// ended is called when a prompt has ended by itself.
	ended()
	// rest gives the terminal to what goes on between prompts. Any goroutine
	// may call it while no prompt is open, and more than once.
	rest()
	// grab sends keys to a panel, one by one, while no prompt is open: pressed is
	// signalled when the keyboard has some, and out is called for Ctrl+C. It
	// reports false where only whole lines can be read.
	grab(out func()) (pressed <-chan struct{}, ok bool)
	// release ends grab.
	release()
	// reset brings the terminal into the mode that rest gives it, whatever
	// another program made of it.
	reset()
	// remember adds a line to what can be called up again.
	remember(line string)
	// close restores the terminal. It may be called more than once.
	close()
}

// edited is how a prompt ended: the line, or an error (io.EOF, errCtrlC).
type edited struct {
	text string
	pos  int
	err  error
}

// plainPrompter serves a terminal that cannot edit, and input that is none: the
// prompt is printed and whole lines come through the inbox.
type plainPrompter struct {
	screen *screen
	quiet  bool // nobody is there to be prompted
}

func (p *plainPrompter) open(prompt, text string, _ int) <-chan edited {
	if text != "" {
		p.screen.line(styleDim, "not sent: "+text)
	}
	if !p.quiet {
		p.screen.prompt(prompt)
	}
	return nil
}

func (p *plainPrompter) cancel() (edited, bool) {
	if !p.quiet {
		p.screen.endLine()
	}
	return edited{}, true
}

func (p *plainPrompter) ended() {
	if !p.quiet {
		p.screen.lineEnded("")
	}
}

func (p *plainPrompter) rest() {}

func (p *plainPrompter) grab(func()) (<-chan struct{}, bool) { return nil, false }

func (p *plainPrompter) release() {}

func (p *plainPrompter) reset() {}

func (p *plainPrompter) remember(string) {}

func (p *plainPrompter) close() {}
