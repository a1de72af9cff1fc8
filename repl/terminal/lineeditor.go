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

// lineEditor is liner, which edits a line on the process's own terminal. It reads its keys from
// a pipe where the terminal can be read without it, so that a line can be typed while no prompt
// is open; else it reads the console by itself. But for close and complete, one goroutine calls
// its methods.
type lineEditor struct {
	state   *liner.State
	in      *os.File
	feed    *os.File // where keys for liner are written; nil where it reads the console
	source  *os.File // where it reads them
	raw     lineMode // of the terminal while a prompt is open
	columns int      // of the terminal when state last asked for them
	result  chan line
	reading sync.WaitGroup // liner reads a line

	mu     sync.Mutex
	kept   *line // what was in the prompt that cancel closes
	closed bool
}

// line is how a prompt ended: the line, or an error.
type line struct {
	text string
	pos  int   // of the cursor, in runes; -1: at the end
	err  error // io.EOF, errCtrlC, or a failure of the terminal
}

// newLineEditor prepares to edit lines, and leaves the terminal in the mode it is in.
func newLineEditor(in *os.File) (_ *lineEditor, err error) {
	e := &lineEditor{in: in, result: make(chan line, 1)}
	if canWait {
		if e.source, e.feed, err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("make the editor's input: %w", err)
		}
	}
	if err := e.begin(); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// begin makes the state of liner, which puts the terminal into a mode of its own.
func (e *lineEditor) begin() error {
	before, err := readLineMode(e.in)
	if err != nil {
		return err
	}
	if e.source == nil {
		e.state = liner.NewLiner()
	} else {
		stdin := os.Stdin
		os.Stdin = e.source // liner reads what is the standard input at this moment
		e.state = liner.NewLiner()
		os.Stdin = stdin
	}
	e.state.SetMultiLineMode(true)
	e.state.SetBeep(false)
	e.state.SetCtrlCAborts(true)
	e.state.SetTabCompletionStyle(liner.TabPrints)
	e.state.SetWordCompleter(e.complete)
	e.columns = width()
	its, err := readLineMode(e.in)
	e.raw = its.keys()
	return errors.Join(err, before.set(e.in))
}

// beginAgain replaces the state of liner, with the same history, because the terminal was too
// narrow for a prompt before: liner asks for the size anew only where it was wide enough.
func (e *lineEditor) beginAgain() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed { // nobody would give the terminal back again
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

// fits reports whether liner can edit behind a prompt. Where it has fewer columns than it wants
// it reads whole lines, and waits for a line end that its keys do not have. Consoles without a
// size have none.
func (e *lineEditor) fits(prompt string) bool { return e.feed == nil || width() >= needed(prompt) }

// needed is how many columns liner wants for a prompt.
func needed(prompt string) int { return cells.Width(prompt) + 10 }

// width is the number of columns of the terminal, as liner asks for it; 0: it has none.
func width() int {
	columns, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return usualColumns // the terminal is gone, and reading it will say so
	}
	return columns
}

// open has liner show a prompt and read a line in the background, which begins as text with the
// cursor before the rune at pos; -1 is the end. Ctrl+C gives errCtrlC; Ctrl+D, or a terminal that
// fails, io.EOF.
func (e *lineEditor) open(prompt, text string, pos int) {
	if e.feed != nil && e.columns < needed(prompt) && e.beginAgain() != nil {
		e.result <- line{err: io.EOF}
		return
	}
	e.columns = width()
	e.mu.Lock()
	e.kept = nil
	e.mu.Unlock()
	if err := e.raw.set(e.in); err != nil {
		e.result <- line{err: io.EOF}
		return
	}
	e.reading.Go(func() {
		typed, err := e.state.PromptWithSuggestion(prompt, toSigns(text), pos)
		if errors.Is(err, liner.ErrPromptAborted) {
			err = errCtrlC
		}
		e.columns = width() // the window may have changed meanwhile
		e.result <- line{text: fromSigns(typed), err: err}
	})
}

// press gives liner keys. Its end of the pipe is closed only after the last prompt.
func (e *lineEditor) press(keys string) { _, _ = io.WriteString(e.feed, keys) }

// cancelKeys make liner hand its line to complete, which keeps it and returns an empty one, and
// then end as at Ctrl+D, which prints nothing. The first sequence is a key nobody knows: it ends
// a search that is under way.
const cancelKeys = "\x1b[99~\t\x04"

// cancelled waits for the end of a prompt that was given cancelKeys, and returns what was in it.
func (e *lineEditor) cancelled() line {
	<-e.result
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kept == nil {
		return line{}
	}
	return *e.kept
}

// complete is called by liner for Tab. That comes from a user only where liner reads the
// console, and then the line stays as it is.
func (e *lineEditor) complete(text string, pos int) (string, []string, string) {
	if e.feed == nil {
		return text, nil, ""
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kept == nil {
		e.kept = &line{text: fromSigns(text), pos: pos}
	}
	return "", []string{""}, ""
}

func (e *lineEditor) remember(text string) { e.state.AppendHistory(toSigns(text)) }

// close ends liner. Any goroutine may call it, and more than once.
func (e *lineEditor) close() {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.closed = true
	e.mu.Unlock()
	if e.feed != nil {
		e.feed.Close()
		e.reading.Wait() // it sets the terminal's mode at its end
		e.source.Close()
	}
	if e.state != nil {
		e.state.Close()
	}
}

// forLiner is what liner reads for a key: a paste is text of one line, or a token; "" for a key
// that it does not know.
func (p *pastes) forLiner(k Key) string {
	switch k.Name {
	case "paste":
		return p.paste(pastedText([]byte(k.Text)))
	case "ctrl+j", "alt+enter", "shift+enter":
		return signNewline
	case "enter":
		return "\r"
	case "backspace":
		return "\x7f"
	case "tab", "esc", "ctrl+i", "ctrl+m":
		return ""
	case "alt+backspace":
		return "\x1b\x7f"
	case "alt+b", "alt+d", "alt+f", "alt+y":
		return "\x1b" + k.Name[len("alt+"):]
	}
	sequences := map[string]string{
		"up": "A", "down": "B", "right": "C", "left": "D", "end": "F", "home": "H", "shift+tab": "Z",
		"ctrl+right": "1;5C", "ctrl+left": "1;5D", "insert": "2~", "delete": "3~", "pageup": "5~", "pagedown": "6~",
	}
	if s, ok := sequences[k.Name]; ok {
		return "\x1b[" + s
	}
	if letter, ok := strings.CutPrefix(k.Name, "ctrl+"); ok && len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z' {
		return string(rune(letter[0] & 0x1f))
	}
	return k.Text
}
