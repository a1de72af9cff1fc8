// Package terminal is the terminal of a user: keys come in, rows go out. It knows no
// agent and no session.
//
// [Start] takes the terminal over. The transcript is only ever added to, by
// [Terminal.Print]; below it is the live zone, the rows that may still change, which the front
// end returns when it is asked ([Handler.Zone]). One goroutine, the painter, writes both: what
// has changed since the last frame is one write, and nothing is written while nothing
// changes. [Terminal.Changed] asks for a frame, [Terminal.Echo] for one at once.
//
// Another goroutine reads, makes a [Key] of each key and paste however the terminal sends it,
// and keeps its answers and reports out of them ([Handler.Key]). The terminal is lent to
// other programs ([Terminal.Lend]), survives a stop ([Terminal.Suspend]), and is given back as
// it was found ([Terminal.Close]).
//
// In plain mode there are neither keys nor a zone: whole lines are read, and rows are written
// at once. [Terminal.Prompt] asks for a line, which is edited where that is possible.
//
// A [Palette] colours text, and [Palette.Painted] makes lines that others drew fit to be
// shown.
package terminal

import (
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Terminal is the terminal of a user while the program has it. Its methods may be called
// by any goroutine, but none that waits by a function of the [Handler], unless it says so.
type Terminal struct {
	config Config
	began  time.Time
	plain  *plain // nil: keys are read and the zone is painted

	painter *painter
	input   *input
	signals *signals
	before  lineMode // as it was found
	keys    lineMode // as it is now

	lending   sync.Mutex // locked while another program has the terminal
	switching sync.Mutex // locked while the modes change from one state to another
	closed    bool

	mu       sync.Mutex // guards the rest
	modes    modes
	replies  replies
	lease    lease
	answered chan struct{} // closed when no answer to the first questions is to be expected
	known    chan struct{} // closed when the background is known, or never will be
	told     chan struct{} // is closed by the next answer that says what the background is; nil: nobody waits for one
}

// Start takes the terminal over: keys are read one by one, and the live zone is painted
// below what is printed. In plain mode lines are read and nothing is painted. The caller
// closes the terminal. Functions of the handler may be called before Start returns.
func Start(c Config) (*Terminal, error) {
	c = c.withDefaults()
	t := &Terminal{config: c, began: time.Now(), answered: make(chan struct{}), known: make(chan struct{})}
	if c.Plain {
		var err error
		t.plain, err = startPlain(c)
		return t, err
	}
	var err error
	if t.before, err = readLineMode(c.In); err != nil {
		return nil, err
	}
	t.keys = t.before.keys()
	if t.input, err = newInput(c.In, c.Getenv("SSH_CONNECTION") != ""); err != nil {
		return nil, err
	}
	t.input.guard, t.input.end = t.guarded, c.Handler.End
	t.input.onKey, t.input.onFocus, t.input.onReply = c.Handler.Key, c.Handler.Focus, t.replied
	t.painter = newPainter(c.Out, c.Handler)
	t.painter.guard, t.painter.reflows = t.guardedFrame, t.reflows
	t.painter.answers = t.answers
	if uses := c.Handler.UsesAlt; uses != nil {
		t.input.decoder.usesAlt = func(name string) (used bool) {
			t.guarded(func() { used = uses(name) })
			return used
		}
	}
	t.input.early, t.input.decoder.located = t.painter.unseen, t.painter.locating
	if err := t.takeOver(); err != nil {
		t.input.waker.wake()
		return nil, err
	}
	go t.painter.run()
	go t.input.run()
	t.signals = watchSignals(t)
	return t, nil
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	if c.In == nil {
		c.In = os.Stdin
	}
	if c.Out == nil {
		c.Out = os.Stdout
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	kind := c.Getenv("TERM")
	c.Dumb = c.Dumb || canWait && (kind == "dumb" || kind == "")
	c.Plain = c.Plain || c.Dumb || !canWait || !isTerminal(c.In) || !isTerminal(c.Out)
	h := &c.Handler
	if h.Key == nil {
		h.Key = func(Key) {}
	}
	if h.Focus == nil {
		h.Focus = func(bool) {}
	}
	if h.Line == nil {
		h.Line = func(string) {}
	}
	for _, f := range []*func(){&h.Interrupt, &h.End, &h.Resized, &h.Resumed} {
		if *f == nil {
			*f = func() {}
		}
	}
	return c
}

// isMute reports whether the terminal is the console, which has no answers.
func (c Config) isMute() bool { return strings.HasPrefix(c.Getenv("TERM"), "linux") }

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// takeOver sets the modes and asks the terminal what it is. What was typed before and not
// read yet is counted.
func (t *Terminal) takeOver() error {
	t.input.pause()
	err := t.keys.set(t.config.In)
	t.input.resume()
	if err != nil {
		return err
	}
	t.modes = modes{focus: t.config.Focus}
	first := t.modes.on()
	if t.config.isMute() {
		t.replies.all = true
		close(t.answered)
	} else {
		first += askName + askVersion + askPasteMode + askKeyboard
		if t.config.Background == "" {
			first += askBackground
		}
		first += askKind
	}
	if t.config.Background != "" || t.replies.all {
		t.replies.background, t.replies.light = true, t.config.Background == "light"
		close(t.known)
	}
	t.painter.ask(func(w *wants) { w.controls = append(w.controls, first...) })
	return nil
}

// replied takes an answer of the terminal. It runs on the goroutine that reads.
func (t *Terminal) replied(answer string) {
	if isPosition(answer) {
		t.painter.located(answer)
		return
	}
	set, leave := t.noteReply(answer)
	if set != "" {
		t.Control(set)
	}
	if leave != "" {
		t.painter.call(0, func() { t.painter.restart(leave) })
	}
}

// noteReply remembers an answer. It returns the sequences that set what the terminal turns out to
// know, and those that leave the alternate screen, if it shows the one that another program
// entered.
func (t *Terminal) noteReply(answer string) (set, leave string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	had := t.replies
	t.replies.note(answer)
	now := t.replies
	t.input.burst.on = now.noPaste
	t.replies.alternate = false
	if now.all && !had.all {
		close(t.answered)
	}
	if t.told != nil && strings.HasPrefix(answer, askedBackground) {
		close(t.told)
		t.told = nil
	}
	if t.replies.background = now.background || now.all; t.replies.background && !had.background {
		close(t.known)
	}
	if kitty, other := now.kitty, now.all && !now.kitty; kitty != t.modes.kitty || other != t.modes.other {
		t.modes.kitty, t.modes.other = kitty, other
		if !t.lease.lent {
			set = t.modes.keyboardOn()
		}
	}
	if now.alternate && !t.lease.lent {
		leave = t.modes.onMain()
	}
	return set, leave
}

// Plain reports whether the terminal is in plain mode: because that was asked for, or because
// it has no keys or cannot be painted on.
func (t *Terminal) Plain() bool { return t.plain != nil }

// KeysWait reports whether something was typed that no function of the handler got yet. It is
// always false in plain mode, and where a system does not tell.
func (t *Terminal) KeysWait() bool { return t.plain == nil && t.input.waiting() }

// Print adds whole rows to the transcript, in order. They are painted with the next frame.
// It waits while more was printed than the terminal can take, but never while the zone is
// asked for, so the caller may have locked what [Handler.Zone] locks.
func (t *Terminal) Print(rows ...string) {
	if t.plain != nil {
		t.plain.print(rows)
		return
	}
	t.painter.print(rows)
}

// Changed has the zone painted with the next frame.
func (t *Terminal) Changed() {
	if t.plain == nil {
		t.painter.ask(func(w *wants) { w.changed = true })
	}
}

// Echo has the zone painted at once, for a key that was pressed.
func (t *Terminal) Echo() {
	if t.plain == nil {
		t.painter.ask(func(w *wants) { w.changed, w.urgent = true, true })
	}
}

// Flush waits until all that was printed before is written. While another program has the
// terminal it does not wait.
func (t *Terminal) Flush() {
	if t.plain == nil {
		t.painter.flush()
	}
}

// Control sends the terminal a sequence that moves nothing: a title, a bell, a text for the
// clipboard. A dumb terminal gets none.
func (t *Terminal) Control(sequence string) {
	if t.plain != nil {
		t.plain.control(sequence)
		return
	}
	t.painter.ask(func(w *wants) { w.controls = append(w.controls, sequence...) })
}

// Releases says whether the release of keys is of use. Only some terminals tell it.
func (t *Terminal) Releases(wanted bool) {
	if t.plain != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.modes.releases == wanted {
		return
	}
	t.modes.releases = wanted
	if t.modes.kitty && !t.lease.lent {
		sequence := kittyUsual
		if wanted {
			sequence = kittyRelease
		}
		t.painter.ask(func(w *wants) { w.controls = append(w.controls, sequence...) })
	}
}

// ReportFocus has the terminal say when its window comes to the front or leaves it, or no
// longer.
func (t *Terminal) ReportFocus(wanted bool) {
	if t.plain != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.modes.focus == wanted {
		return
	}
	t.modes.focus = wanted
	if !t.lease.lent {
		sequence := focusOff
		if wanted {
			sequence = focusOn
		}
		t.painter.ask(func(w *wants) { w.controls = append(w.controls, sequence...) })
	}
}

// Size is the size of the window in cells, or what is usual where it is not known.
func (t *Terminal) Size() (columns, rows int) {
	return size(t.config.Out)
}

// size is the size of a terminal. One that does not know it says 0; it may have any.
func size(f *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		columns = usualColumns
	}
	if err != nil || rows <= 0 {
		rows = usualRows
	}
	return columns, rows
}

// lightPatience is how long the terminal has to answer what its background is.
const lightPatience = 50 * time.Millisecond

// Light reports whether the background is light. It waits for the terminal's answer, at most
// until 50 ms after the start; without one it is dark.
func (t *Terminal) Light() bool {
	if t.plain != nil {
		return t.config.Background == "light"
	}
	select {
	case <-t.known:
	case <-time.After(lightPatience - time.Since(t.began)):
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.replies.light
}

// AskLight is Light for a terminal that may have changed since it was asked, or was not
// asked at the start: it is asked now. Without an answer it is what it said last, or dark.
func (t *Terminal) AskLight() bool {
	if t.plain != nil || t.config.isMute() {
		return false
	}
	told := make(chan struct{})
	t.mu.Lock()
	t.told = told
	if t.config.Background != "" { // nobody has asked it
		t.config.Background, t.replies.light = "", false
	}
	t.mu.Unlock()
	t.Control(askBackground)
	select {
	case <-told:
	case <-time.After(10 * lightPatience): // nothing else waits for it
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.replies.light
}

// Prompt asks for a line, in plain mode only: sign is shown, and text is what is in the line
// already. The line that the user ends goes to [Handler.Line], after which no
// prompt is open.
func (t *Terminal) Prompt(sign, text string) {
	if t.plain != nil {
		t.plain.prompt(sign, text)
	}
}

// Unprompt closes the open prompt without a trace and returns what was typed into it.
// It reports false if that cannot be done, or no prompt is open.
func (t *Terminal) Unprompt() (text string, ok bool) {
	if t.plain == nil {
		return "", false
	}
	return t.plain.unprompt()
}

// reflows reports whether the terminal breaks rows that are too wide for its window.
func (t *Terminal) reflows() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return reflows(t.config.Getenv, t.replies.name, t.replies.version)
}

// answers reports whether the terminal has answered all first questions.
func (t *Terminal) answers() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.replies.all
}

// guarded runs a function of the front end and reports whether it did not panic.
func (t *Terminal) guarded(f func()) (ok bool) { return t.guard(f, t.Close) }

// guardedFrame is guarded for the goroutine that paints, which cannot wait for itself.
func (t *Terminal) guardedFrame(f func()) (ok bool) {
	return t.guard(f, func() {
		t.painter.remove(t.modesOff())
		_ = t.before.set(t.config.In)
	})
}

// guard tells the front end of a panic in one of its functions. If that does not want to know
// the terminal is given back, and the panic goes on.
func (t *Terminal) guard(f, giveBack func()) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if t.config.Handler.Panicked == nil {
				giveBack()
				panic(p)
			}
			t.config.Handler.Panicked(p, debug.Stack())
		}
	}()
	f()
	return true
}

// Zone is the live zone as it is at one moment: the rows below the transcript that may
// change, and where among them the cursor is, both counted from 0.
type Zone struct {
	Rows     []string // none wider than the window; colour sequences are no part of the width
	Row      int      // of the cursor
	Column   int      // of the cursor, in cells
	NoCursor bool     // no cursor is shown
}

// Handler has the functions that a [Terminal] calls. Any of them may be nil, and none may
// wait for something that the terminal has to do first.
type Handler struct {
	// Key is given each key. It is called by one goroutine, one key at a time.
	Key func(Key)
	// UsesAlt reports whether a key with Alt does something. Terminals send such a key as Esc and
	// the key without it, and so does a user who presses the two one after the other; of a key
	// that does nothing it is the latter. Nil: each may do something.
	UsesAlt func(name string) bool
	// Zone returns the live zone for a window of this size. It is called by the goroutine that
	// paints, once or a few times for a frame.
	Zone func(columns, rows int) Zone
	// Line is given each whole line that was typed in plain mode.
	Line func(text string)
	// Interrupt is called for Ctrl+C in plain mode, and for SIGINT, which is no key.
	Interrupt func()
	// End is called once, when there will be no more input; and in plain mode for each Ctrl+D
	// in an empty line.
	End func()
	// Resized is called before the zone is painted at another size.
	Resized func()
	// Focus is told that the window came to the front or left it, where the terminal tells and
	// is to.
	Focus func(in bool)
	// Resumed is called after the process was stopped and runs again.
	Resumed func()
	// Panicked is given the value and the stack of a panic in one of the other functions,
	// after which nothing more is read or painted; the terminal is still to be closed. If it is
	// nil the terminal is closed and the panic goes on.
	Panicked func(value any, stack []byte)
}

// Config is what [Start] makes a terminal from.
type Config struct {
	In, Out *os.File // nil: the process's own
	Handler Handler
	Palette Palette

	Plain bool // lines instead of keys, no live zone
	Dumb  bool // the same, and not one escape sequence is written

	Background string                   // "light" or "dark"; "" asks the terminal
	Getenv     func(name string) string // nil: os.Getenv
	Focus      bool                     // it is to say when its window comes to the front, see [Terminal.ReportFocus]
}

// Panel is something that takes the place of the line for a while and has the keys: a
// picker, a dialog. Its methods are called by one goroutine at a time and do not wait.
type Panel interface {
	// Key gives the panel a key. It reports false for one that it has no use for.
	Key(k Key) (used bool)

	// Render returns at most height rows, none wider than width cells, and where among
	// them the cursor is, both counted from 0. A cursorRow of -1 hides it. Both measures
	// are at least 1.
	Render(width, height int) (rows []string, cursorRow, cursorColumn int)

	// Done reports whether the user has answered or gone away.
	Done() bool
}

// The size that is assumed of a terminal that does not tell.
const (
	usualColumns = 80
	usualRows    = 24
)

// Columns is the width of the terminal f, in cells.
func Columns(f *os.File) int {
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return usualColumns
}

// Rows is the height of the terminal f.
func Rows(f *os.File) int {
	if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
		return height
	}
	return usualRows
}
