package repl

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/peterh/liner"
)

// errCtrlC ends a prompt that was cleared.
var errCtrlC = errors.New("ctrl+c")

// Bracketed paste is asked for only while a prompt or a panel is open.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// cancelKeys make the editor hand its line to [lineEditor.complete], which
// keeps it and leaves an empty one, and then end as at Ctrl+D, which prints
// nothing. The first sequence is a key nobody knows: it ends a search or a
// completion that is under way.
const cancelKeys = "\x1b[99~\t\x04"

// lineEditor is the prompt of a terminal that can edit. The terminal is in raw
// mode from the opening of a prompt until something else goes on; then it is as
// it was found, so that Ctrl+C is a signal and the system shows what is typed. A
// prompt that only makes room for a notice stays in raw mode, and so keys that
// come meanwhile lose nothing.
type lineEditor struct {
	state    *liner.State
	keyboard *keyboard // nil where the editor reads the console alone
	screen   *screen
	feed     *os.File // the editor reads what is written here
	source   *os.File
	cooked   liner.ModeApplier
	raw      liner.ModeApplier
	suggest  completer
	result   chan edited

	mu       sync.Mutex
	resting  bool
	grabbed  bool // by a panel
	canceled bool
	kept     edited // what stood in the line that was canceled
	closed   bool
}

// completer says what the word before pos, a number of runes of line, may become:
// head and tail are what stands before and behind it.
type completer func(line string, pos int) (head string, words []string, tail string)

// newLineEditor takes over the terminal, which must be the process's own.
func newLineEditor(k *keyboard, s *screen, history []string, suggest completer) (*lineEditor, error) {
	e := &lineEditor{screen: s, suggest: suggest, result: make(chan edited, 1)}
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
	e.state = e.newState()
	e.resting = true
	if e.raw, err = rawMode(os.Stdin); err != nil {
		e.close()
		return nil, err
	}
	e.state.SetMultiLineMode(true)
	e.state.SetBeep(false)
	e.state.SetCtrlCAborts(true)
	e.state.SetTabCompletionStyle(liner.TabPrints)
	e.state.SetWordCompleter(e.complete)
	for _, line := range history {
		e.state.AppendHistory(toSigns(line))
	}
	e.cook()
	return e, nil
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

func (e *lineEditor) cook() {
	if err := e.cooked.ApplyMode(); err != nil {
		return // the terminal is gone, and reading it will say so
	}
}

func (e *lineEditor) open(prompt, text string, pos int) <-chan edited {
	e.mu.Lock()
	e.canceled, e.kept, e.resting = false, edited{}, false
	e.mu.Unlock()
	if err := e.takeKeys(); err != nil {
		e.result <- edited{err: io.EOF}
		return e.result
	}
	go func() { e.result <- e.prompt(prompt, text, pos) }()
	return e.result
}

// takeKeys puts the terminal into raw mode and has the editor take the keys.
func (e *lineEditor) takeKeys() error {
	if e.keyboard == nil {
		return e.raw.ApplyMode()
	}
	err := e.keyboard.edit(e.raw.ApplyMode, e.feed)
	if err == nil {
		e.screen.control(pasteOn)
	}
	return err
}

func (e *lineEditor) prompt(prompt, text string, pos int) edited {
	line, err := e.state.PromptWithSuggestion(prompt, toSigns(text), pos)
	switch {
	case errors.Is(err, liner.ErrPromptAborted):
		return edited{err: errCtrlC}
	case err != nil:
		return edited{err: err}
	}
	return edited{text: fromSigns(line)}
}

func (e *lineEditor) cancel() (edited, bool) {
	if e.keyboard == nil {
		return edited{}, false
	}
	e.mu.Lock()
	e.canceled = true
	e.mu.Unlock()
	if !e.keyboard.inject(cancelKeys) {
		return edited{}, false
	}
	<-e.result
	e.screen.control("\r\x1b[J")
	e.screen.lineEnded("")
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kept, true
}

func (e *lineEditor) ended() { e.screen.keepFooter() }

func (e *lineEditor) rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.grabbed {
		e.settle()
	}
}

// settle brings the terminal into the mode it was found in.
func (e *lineEditor) settle() {
	if e.resting || e.closed {
		return
	}
	e.resting = true
	if e.keyboard != nil {
		e.screen.control(pasteOff)
	}
	e.cook()
	if e.keyboard != nil {
		e.keyboard.listen()
	}
}

func (e *lineEditor) grab(out func()) (pressed <-chan struct{}, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.keyboard == nil {
		return nil, false
	}
	e.settle()
	if pressed, ok = e.keyboard.grab(e.raw.ApplyMode, out); ok {
		e.grabbed, e.resting = true, false
		e.screen.control(pasteOn)
	}
	return pressed, ok
}

func (e *lineEditor) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.grabbed = false
	e.settle()
}

func (e *lineEditor) reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cook()
}

// complete is called by the editor for Tab, and by way of cancelKeys.
func (e *lineEditor) complete(line string, pos int) (string, []string, string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.canceled {
		if e.kept.text == "" {
			e.kept = edited{text: fromSigns(line), pos: pos}
		}
		return "", []string{""}, ""
	}
	head, words, tail := e.suggest(fromSigns(line), pos)
	for i, w := range words {
		words[i] = toSigns(w)
	}
	return toSigns(head), words, toSigns(tail)
}

func (e *lineEditor) remember(line string) { e.state.AppendHistory(toSigns(line)) }

func (e *lineEditor) close() {
	e.release()
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

func toSigns(s string) string {
	return strings.NewReplacer("\r\n", signNewline, "\n", signNewline, "\t", signTab).Replace(s)
}

func fromSigns(s string) string {
	return strings.NewReplacer(signNewline, "\n", signTab, "\t").Replace(s)
}
