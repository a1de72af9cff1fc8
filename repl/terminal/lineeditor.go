package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
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
