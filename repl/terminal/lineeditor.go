package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mattn/go-runewidth"
	"github.com/peterh/liner"
	"golang.org/x/term"
)

// ErrCtrlC is the error of a [Line] that was given up with Ctrl+C.
var ErrCtrlC = errors.New("ctrl+c")

// Bracketed paste is asked for only while a prompt or a panel is open.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// cancelKeys make the editor hand its line to [lineEditor.complete], which
// keeps it and returns an empty one, and then end as at Ctrl+D, which prints
// nothing. The first sequence is a key nobody knows: it ends a search or a
// completion that is under way.
const cancelKeys = "\x1b[99~\t\x04"

// lineEditor is the [Editor] of a terminal that can edit. The terminal is in raw
// mode from the opening of a prompt until Rest; then it is in the mode it was found
// in, so that Ctrl+C is a signal and the system shows typed keys. When a prompt is
// closed for a notice and opened again at once, raw mode is kept in between, so that
// keys that come meanwhile reach the editor as they are.
type lineEditor struct {
	state    *liner.State
	keyboard *Keyboard // nil where the editor reads the console by itself
	screen   *Screen
	feed     *os.File // where keys for liner are written
	source   *os.File // where liner reads them
	cooked   liner.ModeApplier
	raw      liner.ModeApplier
	suggest  Completer
	result   chan Line
	plain    plainEditor // for as long as the terminal is too narrow
	narrow   bool        // the open prompt is that of plain
	columns  int         // width of the terminal when state last asked for it

	mu       sync.Mutex
	resting  bool
	grabbed  bool // by a panel
	canceled bool
	kept     Line // the line that was in the prompt when Cancel closed it
	closed   bool
}

// Completer says what the word before pos, a number of runes of line, may become.
// Head and tail are the text of the line before and behind that word. It is called
// while the editor is locked and must not use it.
type Completer func(line string, pos int) (head string, words []string, tail string)

// newLineEditor prepares to edit lines on the terminal, which must be the process's
// own, and leaves it in the mode it is in. k may be nil, where liner reads the console
// by itself.
func newLineEditor(k *Keyboard, s *Screen, history []string, suggest Completer) (*lineEditor, error) {
	e := &lineEditor{screen: s, suggest: suggest, result: make(chan Line, 1), plain: plainEditor{screen: s}}
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
		e.Close()
		return nil, err
	}
	for _, line := range history {
		e.Remember(line)
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

// cook puts the terminal into the mode in which newLineEditor found it: the system
// edits lines, and Ctrl+C is a signal.
func (e *lineEditor) cook() {
	if err := e.cooked.ApplyMode(); err != nil {
		return // the terminal is gone, and reading it will say so
	}
}

// Open has liner show the prompt and read a line in the background. A terminal with
// fewer columns than liner wants behind the prompt gets the prompt of plain instead. If
// the terminal fails, the line is io.EOF.
func (e *lineEditor) Open(prompt, text string, pos int) <-chan Line {
	needed := runewidth.StringWidth(prompt) + room
	if e.narrow = e.keyboard != nil && width() < needed; e.narrow {
		e.Rest()
		return e.plain.Open(prompt, text, pos)
	}
	if e.keyboard != nil && e.columns < needed && e.beginAgain() != nil {
		e.result <- Line{Err: io.EOF}
		return e.result
	}
	e.columns = width()
	e.mu.Lock()
	e.canceled, e.kept, e.resting = false, Line{}, false
	e.mu.Unlock()
	if err := e.acquireKeys(); err != nil {
		e.result <- Line{Err: io.EOF}
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

// acquireKeys puts the terminal into raw mode and has the keys sent to the editor.
func (e *lineEditor) acquireKeys() error {
	if e.keyboard == nil {
		return e.raw.ApplyMode()
	}
	err := e.keyboard.edit(e.raw.ApplyMode, e.feed)
	if err == nil {
		e.screen.Control(pasteOn)
	}
	return err
}

// prompt has liner read a line that begins as text, with the cursor at pos, and waits
// for its end. Ctrl+C gives ErrCtrlC, Ctrl+D io.EOF.
func (e *lineEditor) prompt(prompt, text string, pos int) Line {
	line, err := e.state.PromptWithSuggestion(prompt, toSigns(text), pos)
	switch {
	case errors.Is(err, liner.ErrPromptAborted):
		return Line{Err: ErrCtrlC}
	case err != nil:
		return Line{Err: err}
	}
	return Line{Text: fromSigns(line)}
}

// Cancel types cancelKeys into the prompt, erases it from the screen, and returns the
// line that complete has stored meanwhile. It reports false where liner reads the
// console by itself, or if the prompt has ended already.
func (e *lineEditor) Cancel() (Line, bool) {
	if e.narrow {
		return e.plain.Cancel()
	}
	if e.keyboard == nil {
		return Line{}, false
	}
	e.mu.Lock()
	e.canceled = true
	e.mu.Unlock()
	if !e.keyboard.inject(cancelKeys) {
		return Line{}, false
	}
	<-e.result
	e.screen.Control("\r\x1b[J")
	e.screen.LineEnded("")
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kept, true
}

// Ended makes the lines above the prompt a part of the text that stays.
func (e *lineEditor) Ended() {
	if e.narrow {
		e.plain.Ended()
		return
	}
	e.screen.ReleaseFooter()
}

// Rest puts the terminal back into the mode it was found in, and sends typed lines to
// the inbox. While a panel has the keys it does nothing: Release will do that.
func (e *lineEditor) Rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.grabbed {
		e.restoreMode()
	}
}

// restoreMode does what Rest promises, if it was not done since the last prompt or
// panel. e.mu is locked.
func (e *lineEditor) restoreMode() {
	if e.resting || e.closed {
		return
	}
	e.resting = true
	if e.keyboard != nil {
		e.screen.Control(pasteOff)
	}
	e.cook()
	if e.keyboard != nil {
		e.keyboard.listen()
	}
}

// Grab puts the terminal into raw mode and sends the keys to a panel. It reports false
// after Close, where liner reads the console by itself, and at the end of the input.
func (e *lineEditor) Grab(out func()) (pressed <-chan struct{}, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.keyboard == nil {
		return nil, false
	}
	e.restoreMode()
	if pressed, ok = e.keyboard.grab(e.raw.ApplyMode, out); ok {
		e.grabbed, e.resting = true, false
		e.screen.Control(pasteOn)
	}
	return pressed, ok
}

// Release ends what Grab began, and puts the terminal back into the mode it was found
// in.
func (e *lineEditor) Release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.grabbed = false
	e.restoreMode()
}

// Reset puts the terminal into the mode it was found in, also if it should be in it
// already: another program may have changed it.
func (e *lineEditor) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cook()
}

// complete is called by liner for Tab, and returns what may replace the word before
// pos, between the texts before and behind it. While Cancel is under way it stores the
// line in kept instead and replaces it by an empty one.
func (e *lineEditor) complete(line string, pos int) (string, []string, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.canceled {
		if e.kept.Text == "" {
			e.kept = Line{Text: fromSigns(line), Pos: pos}
		}
		return "", []string{""}, ""
	}
	head, words, tail := e.suggest(fromSigns(line), pos)
	for i, w := range words {
		words[i] = toSigns(w)
	}
	return toSigns(head), words, toSigns(tail)
}

func (e *lineEditor) Remember(line string) { e.state.AppendHistory(toSigns(line)) }

// Close ends what Grab began, and ends liner, which leaves the terminal as it was
// found. Later calls change nothing.
func (e *lineEditor) Close() {
	e.Release()
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
