package terminal

import (
	"os"
	"strings"
	"sync"
)

// Terminal is the terminal of a person while the program has it. Its methods may be called
// by any goroutine.
type Terminal struct {
	config Config

	mu     sync.Mutex
	closed bool
}

// Start takes the terminal over: keys are read one by one, and the live zone is painted
// below what is printed. In plain mode lines are read and nothing is painted. The caller
// closes the terminal.
func Start(c Config) (*Terminal, error) {
	if c.In == nil {
		c.In = os.Stdin
	}
	if c.Out == nil {
		c.Out = os.Stdout
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	return &Terminal{config: c}, nil
}

// Plain reports whether the terminal is in plain mode: because that was asked for, or because
// it has no keys or cannot be painted on.
func (t *Terminal) Plain() bool { return t.config.Plain || t.config.Dumb }

// Print adds whole rows to the transcript, in order. They are painted with the next frame.
// It waits while more was printed than the terminal can take.
func (t *Terminal) Print(rows ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.config.Out.WriteString(strings.Join(rows, "\r\n") + "\r\n")
}

// Changed has the zone painted with the next frame.
func (t *Terminal) Changed() {}

// Echo has the zone painted at once, for a key that was pressed.
func (t *Terminal) Echo() {}

// Flush waits until all that was printed before is written.
func (t *Terminal) Flush() {}

// Control sends the terminal a sequence that moves nothing: a title, a bell, a text for the
// clipboard.
func (t *Terminal) Control(sequence string) {}

// Lend gives the terminal to another program while run runs: the zone is removed, all modes
// are as they were before Start, and nothing is read. What is printed meanwhile waits. It
// returns the error of run.
func (t *Terminal) Lend(run func() error) error { return run() }

// Suspend stops the process and its group as Ctrl+Z does, with the terminal as it was
// before Start, and returns when the process runs again.
func (t *Terminal) Suspend() {}

// Reset sets all modes and paints the zone anew, for a terminal that another program may
// have changed.
func (t *Terminal) Reset() {}

// Releases says whether the release of keys is of use. Only some terminals tell it.
func (t *Terminal) Releases(wanted bool) {}

// Size is the size of the window in cells, or what is usual where it is not known.
func (t *Terminal) Size() (columns, rows int) {
	return Columns(t.config.Out), Rows(t.config.Out)
}

// Light reports whether the background is light. It waits for the terminal's answer, at most
// until 50 ms after the start.
func (t *Terminal) Light() bool { return t.config.Background == "light" }

// Prompt asks for a line, in plain mode only: sign is shown, and text is what is in the line
// already. The line that the person ends goes to [Handler.Line], after which no
// prompt is open.
func (t *Terminal) Prompt(sign, text string) {}

// Unprompt closes the open prompt without a trace and returns what was typed into it.
// It reports false if that cannot be done, or no prompt is open.
func (t *Terminal) Unprompt() (text string, ok bool) { return "", false }

// Close gives the terminal back as it was found: what was printed is written, the zone is
// removed, the cursor is at the start of a line. It may be called more than once. What is
// printed later is written at once.
func (t *Terminal) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}
