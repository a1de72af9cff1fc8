package terminal

// lineReader shows a prompt and reads a line. One prompt is open at a time. Where nothing
// else is said, the methods are for the one goroutine that opens prompts.
type lineReader interface {
	// open shows the prompt with text in it and the cursor before the rune at pos; -1 is the
	// end. The result comes through the channel, or as a line of the inbox if the channel is
	// nil.
	open(prompt, text string, pos int) <-chan line
	// cancel closes the open prompt without a trace and returns the text that was in it. It
	// reports false if that cannot be done: the prompt is still open, or ends by itself
	// with the result it has.
	cancel() (line, bool)
	// ended is called when a prompt has ended by itself, with the end of its line.
	ended()
	// rest brings the terminal into its mode between prompts. Any goroutine may call it while
	// no prompt is open, and more than once.
	rest()
	// reset brings the terminal into the mode that rest gives it, whatever another program
	// made of it.
	reset()
	// remember adds a line to those that can be called up again.
	remember(text string)
	// close restores the terminal. Any goroutine may call it, and more than once.
	close()
}

// line is how a prompt ended: the line, or an error.
type line struct {
	text string
	pos  int   // of the cursor, in runes; -1: at the end
	err  error // io.EOF, errCtrlC, or a failure of the terminal
}

// plainEditor serves a terminal that cannot edit, and input that is none: the prompt is
// printed and whole lines come through the inbox.
type plainEditor struct {
	sheet *sheet
	keys  *keyboard // shows what is typed; nil: the system does
	quiet bool      // nobody is there to be prompted
}

// open prints the prompt; its line comes through the inbox, so there is no channel. Where
// the system shows what is typed a line cannot begin with text, so that is shown above the
// prompt as not sent.
func (p *plainEditor) open(prompt, text string, _ int) <-chan line {
	if p.keys != nil && p.keys.typed != nil {
		p.keys.showTyped(prompt, text, p.sheet.prompt)
		return nil
	}
	if text != "" {
		p.sheet.print("not sent: " + text)
	}
	if !p.quiet {
		p.sheet.prompt(prompt)
	}
	return nil
}

// cancel ends the line of the prompt on the screen. Where the system has what was typed into it,
// that comes through the inbox, so there is no text to return.
func (p *plainEditor) cancel() (line, bool) {
	p.keys.hideTyped()
	if !p.quiet {
		p.sheet.endLine()
	}
	return line{text: p.keys.takeTyped(), pos: -1}, true
}

func (p *plainEditor) ended() {
	p.keys.hideTyped()
	if !p.quiet {
		p.sheet.lineEnded("")
	}
}

func (p *plainEditor) rest() { p.keys.hideTyped() }

func (p *plainEditor) reset() {}

func (p *plainEditor) remember(string) {}

func (p *plainEditor) close() {}
