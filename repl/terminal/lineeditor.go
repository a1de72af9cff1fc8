package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/peterh/liner"
	"golang.org/x/term"

	"pi/internal/cells"
)

// errCtrlC is the error of a line that was given up with Ctrl+C.
var errCtrlC = errors.New("ctrl+c")

// What switches bracketed paste on and off.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// cancelKeys make the editor hand its line to [lineEditor.complete], which
// keeps it and returns an empty one, and then end as at Ctrl+D, which prints
// nothing. The first sequence is a key nobody knows: it ends a search or a
// completion that is under way.
const cancelKeys = "\x1b[99~\t\x04"

// lineEditor is the [lineReader] of a terminal that can edit. The terminal is in raw
// mode from the opening of a prompt until rest; then it is in the mode it was found
// in, so that Ctrl+C is a signal. When a prompt is
// closed for a notice and opened again at once, raw mode is kept in between, so that
// keys that come meanwhile reach the editor as they are.
type lineEditor struct {
	state    *liner.State
	keyboard *keyboard // nil where the editor reads the console by itself
	sheet    *sheet
	feed     *os.File // where keys for liner are written
	source   *os.File // where liner reads them
	cooked   liner.ModeApplier
	raw      liner.ModeApplier
	result   chan line
	plain    plainEditor // for as long as the terminal is too narrow
	narrow   bool        // the open prompt is that of plain
	columns  int         // width of the terminal when state last asked for it

	mu       sync.Mutex
	resting  bool
	canceled bool
	kept     line // the line that was in the prompt when Cancel closed it
	closed   bool
}

// newLineEditor prepares to edit lines on the terminal, which must be the process's
// own, and leaves it in the mode it is in. k may be nil, where liner reads the console
// by itself.
func newLineEditor(k *keyboard, s *sheet) (*lineEditor, error) {
	e := &lineEditor{sheet: s, result: make(chan line, 1), plain: plainEditor{sheet: s, keys: k}}
	var err error
	if e.cooked, err = liner.TerminalMode(); err != nil {
		return nil, fmt.Errorf("read terminal mode: %w", err)
	}
	if canWait {
		e.keyboard = k
		if e.source, e.feed, err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("make the editor's input: %w", err)
		}
	}
	e.resting = true
	if err := e.begin(); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// begin makes the state of liner and stores the raw mode that liner puts the terminal
// in. It leaves the terminal in the mode in which newLineEditor found it.
func (e *lineEditor) begin() (err error) {
	e.state = e.newState()
	e.state.SetMultiLineMode(true)
	e.state.SetBeep(false)
	e.state.SetCtrlCAborts(true)
	e.state.SetTabCompletionStyle(liner.TabPrints)
	e.state.SetWordCompleter(e.complete)
	e.columns = width()
	e.raw, err = rawMode(os.Stdin)
	e.cook()
	return err
}

// beginAgain replaces the state of liner, with the same history, because the terminal
// was too narrow for a prompt before: liner asks for the size anew only where it was
// wide enough. After Close it returns io.EOF, since nobody would restore the terminal
// again.
func (e *lineEditor) beginAgain() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return io.EOF
	}
	var history bytes.Buffer
	_, _ = e.state.WriteHistory(&history) // a buffer takes everything
	e.state.Close()
	if err := e.begin(); err != nil {
		return err
	}
	_, _ = e.state.ReadHistory(&history)
	return nil
}

// rawMode is the mode that the editor has put the terminal in, without signals.
func rawMode(tty *os.File) (liner.ModeApplier, error) {
	if err := keysNotSignals(tty); err != nil {
		return nil, err
	}
	mode, err := liner.TerminalMode()
	if err != nil {
		return nil, fmt.Errorf("read terminal mode: %w", err)
	}
	return mode, nil
}

// newState makes the editor read from the feed: it takes whatever the standard
// input is at this moment.
func (e *lineEditor) newState() *liner.State {
	if e.source == nil {
		return liner.NewLiner()
	}
	stdin := os.Stdin
	os.Stdin = e.source
	defer func() { os.Stdin = stdin }()
	return liner.NewLiner()
}

// cook puts the terminal into the mode in which newLineEditor found it.
func (e *lineEditor) cook() {
	if err := e.cooked.ApplyMode(); err != nil {
		return // the terminal is gone, and reading it will say so
	}
}

// open has liner show the prompt and read a line in the background. A terminal with
// fewer columns than liner wants behind the prompt gets the prompt of plain instead. If
// the terminal fails, the line is io.EOF.
func (e *lineEditor) open(prompt, text string, pos int) <-chan line {
	needed := cells.Width(prompt) + room
	if e.narrow = e.keyboard != nil && width() < needed; e.narrow {
		e.rest()
		return e.plain.open(prompt, text, pos)
	}
	if e.keyboard != nil && e.columns < needed && e.beginAgain() != nil {
		e.result <- line{err: io.EOF}
		return e.result
	}
	e.columns = width()
	e.mu.Lock()
	e.canceled, e.kept, e.resting = false, line{}, false
	e.mu.Unlock()
	var err error
	if e.keyboard == nil {
		err = e.raw.ApplyMode()
	} else {
		err = e.keyboard.edit(e.raw.ApplyMode, e.feed)
	}
	if err != nil {
		e.result <- line{err: io.EOF}
		return e.result
	}
	go func() { e.result <- e.prompt(prompt, text, pos) }()
	return e.result
}

// room is how many columns liner wants behind a prompt. Where there are fewer it
// reads whole lines, and waits for a line end that its keys do not have. Consoles
// without a size have none.
const room = 10

// width is the number of columns of the terminal, as liner asks for it; 0: it has none.
func width() int {
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return usualColumns // the terminal is gone, and reading it will say so
	}
	return columns
}

// prompt has liner read a line that begins as text, with the cursor at pos, and waits
// for its end. Ctrl+C gives errCtrlC, Ctrl+D io.EOF.
func (e *lineEditor) prompt(prompt, text string, pos int) line {
	typed, err := e.state.PromptWithSuggestion(prompt, toSigns(text), pos)
	switch {
	case errors.Is(err, liner.ErrPromptAborted):
		return line{err: errCtrlC}
	case err != nil:
		return line{err: err}
	}
	return line{text: fromSigns(typed)}
}

// cancel types cancelKeys into the prompt, erases it from the screen, and returns the
// line that complete has stored meanwhile. It reports false where liner reads the
// console by itself, or if the prompt has ended already.
func (e *lineEditor) cancel() (line, bool) {
	if e.narrow {
		return e.plain.cancel()
	}
	if e.keyboard == nil {
		return line{}, false
	}
	e.mu.Lock()
	e.canceled = true
	e.mu.Unlock()
	if !e.keyboard.inject(cancelKeys) {
		return line{}, false
	}
	<-e.result
	e.sheet.control("\r\x1b[J")
	e.sheet.lineEnded("")
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kept, true
}

// ended notes that the prompt has ended by itself.
func (e *lineEditor) ended() {
	if e.narrow {
		e.plain.ended()
	}
}

// rest puts the terminal back into the mode it was found in, and sends typed lines to
// the inbox, if that was not done since the last prompt.
func (e *lineEditor) rest() {
	e.plain.rest()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.resting || e.closed {
		return
	}
	e.resting = true
	e.cook()
	if e.keyboard != nil {
		e.keyboard.listen()
	}
}

// reset puts the terminal into the mode it was found in, also if it should be in it
// already: another program may have changed it.
func (e *lineEditor) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cook()
}

// complete is called by liner for Tab, and leaves the line as it is. While cancel is under way it
// stores the line in kept and replaces it by an empty one.
func (e *lineEditor) complete(text string, pos int) (string, []string, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.canceled {
		if e.kept.text == "" {
			e.kept = line{text: fromSigns(text), pos: pos}
		}
		return "", []string{""}, ""
	}
	return text, nil, ""
}

func (e *lineEditor) remember(text string) { e.state.AppendHistory(toSigns(text)) }

// close ends liner, which leaves the terminal as it was found. Later calls change nothing.
func (e *lineEditor) close() {
	e.rest()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.closed = true
	if e.state != nil {
		e.state.Close()
	}
	e.cook()
	if e.feed != nil {
		e.feed.Close()
		e.source.Close()
	}
}

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

// typedLine is the line that is typed where no editor has it: in plain mode while something
// works, and at a prompt that cannot be edited. The terminal sends each key at once then, since
// the system itself keeps no more than 4,095 bytes of a line and knows little of characters.
// What is typed can be removed from its end, and is shown only at a prompt.
type typedLine struct {
	decoder decoder
	text    string
	show    func(text string) // nil: nothing of the line is shown
	ended   func(line typedIn)
	over    func() // Ctrl+D in an empty line
	suspend func() // Ctrl+Z
}

// feed takes bytes that were read.
func (l *typedLine) feed(p []byte) { l.decoder.feed(p) }

func (l *typedLine) focus(bool)   {}
func (l *typedLine) reply(string) {}

// key takes a key. Those that do nothing here are dropped.
func (l *typedLine) key(k Key) {
	switch k.Name {
	case "enter", "ctrl+j":
		line := l.text
		l.text = ""
		l.echo("\n")
		l.ended(typedIn{line, l.show != nil})
	case "backspace", "ctrl+h":
		l.cut(lastCluster(l.text))
	case "ctrl+w":
		words := strings.TrimRight(l.text, " \t\n")
		l.cut(strings.LastIndexAny(words, " \t\n") + 1)
	case "ctrl+u":
		l.cut(0)
	case "ctrl+z":
		l.suspend()
	case "ctrl+d":
		if l.text == "" {
			l.over()
		}
	case "paste":
		l.add(pastedText([]byte(k.Text)))
	case "tab":
		l.add("\t")
	default:
		l.add(k.Text)
	}
}

// add adds text to the end of the line.
func (l *typedLine) add(text string) {
	l.text += text
	l.echo(onOneRow(text))
}

// cut removes all of the line from a place on.
func (l *typedLine) cut(from int) {
	width := cells.Width(onOneRow(l.text[from:]))
	l.text = l.text[:from]
	l.echo(strings.Repeat("\b \b", width))
}

func (l *typedLine) echo(text string) {
	if l.show != nil && text != "" {
		l.show(text)
	}
}

// onOneRow is a text as it is shown while it is typed.
func onOneRow(text string) string { return strings.ReplaceAll(toSigns(text), signTab, " ") }

// lastCluster is where the last character of a text begins, with all that combines with it.
func lastCluster(text string) int {
	begin := 0
	for cluster := range cells.Clusters(text) {
		begin = len(text) - len(cluster)
	}
	return begin
}

// take removes and returns what has come of the line, as keys for an editor. pasting says
// that they end within a paste, of which pasted has come.
func (l *typedLine) take() (keys, pasted []byte, pasting bool) {
	d := &l.decoder
	keys, pasted, pasting = append([]byte(toSigns(l.text)), d.pending...), d.pasted, d.pasting
	l.text, l.decoder = "", decoder{handlers: l}
	return keys, pasted, pasting
}

// begin has the line begin with bytes that an editor did not use, in a paste or not.
func (l *typedLine) begin(keys, pasted []byte, pasting bool) {
	l.decoder.pasting, l.decoder.pasted = pasting, pasted
	l.feed(keys)
}

// inbox has the lines that were typed while no prompt was open. Any goroutine may use it.
type inbox struct {
	mu     sync.Mutex
	lines  []typedIn
	eof    bool          // there will be no more lines
	over   bool          // Ctrl+D, which counts once
	signal chan struct{} // there is something to take: a line, or an end; a buffer of one
}

// typedIn is a line that was typed. shown says that it was shown as it was typed.
type typedIn struct {
	text  string
	shown bool
}

// wake signals that there is something. It never waits: one signal is enough.
func (b *inbox) wake() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// push adds a typed line.
func (b *inbox) push(line typedIn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line)
	b.wake()
}

// end notes an end of the input. With forGood no more lines will come; otherwise a person has
// typed Ctrl+D.
func (b *inbox) end(forGood bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.eof, b.over = b.eof || forGood, true
	b.wake()
}

// take returns the oldest line; eof reports an end of input with no line before it, each end
// once.
func (b *inbox) take() (line typedIn, ok, eof bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) == 0 {
		eof = b.over
		b.over = false
		return typedIn{}, false, eof
	}
	line = b.lines[0]
	b.lines = b.lines[1:]
	return line, true, false
}
