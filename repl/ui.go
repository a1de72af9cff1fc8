package repl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/printable"
	"pi/repl/terminal"
	"pi/session"
)

// HasUI reports whether a person can be asked.
func (r *REPL) HasUI() bool { return isTerminal(r.opts.In) }

// Notify shows a line that is no part of the conversation. While a prompt is
// open it is shown above it.
func (r *REPL) Notify(text string, level agent.Level) {
	text = strings.TrimRight(printable.Text(text), "\n")
	r.floor.notice(func() {
		switch level {
		case agent.LevelError:
			r.screen.Line(terminal.StyleError, "error: "+text)
		case agent.LevelWarning:
			r.screen.Line(terminal.StyleWarning, "warning: "+text)
		default:
			r.screen.Line(terminal.StyleDim, text)
		}
	})
}

// SetStatus sets the words of a hook in the line above the prompt; "" removes them.
// While a prompt is open the line is shown anew soon.
func (r *REPL) SetStatus(key, text string) {
	if r.status.set(key, text) {
		r.floor.refresh()
	}
}

// SetWidget sets lines that a hook shows above the prompt; nil removes them. The place
// says only in which order widgets are shown.
func (r *REPL) SetWidget(place agent.Place, key string, lines []string) {
	order := slices.Index([]agent.Place{agent.Header, agent.Above, agent.Below, agent.Footer}, place)
	if r.widgets.set(fmt.Sprint(order, key), lines) {
		r.floor.refresh()
	}
}

// SetIndicator does nothing: no indicator is shown.
func (r *REPL) SetIndicator([]string, time.Duration) {}

// SetTitle names the terminal's window. Close puts the name from before back, where
// the terminal can remember it.
func (r *REPL) SetTitle(text string) {
	if r.opts.Dumb || !isTerminal(r.opts.Out) {
		return
	}
	r.title.Do(func() {
		r.screen.Control(titleSave)
		r.titled.Store(true)
	})
	r.screen.Control("\x1b]2;" + terminal.Cut(printable.Line(text), titleColumns) + "\x07")
}

const (
	titleColumns = 200
	titleSave    = "\x1b[22;2t"
	titleBack    = "\x1b[23;2t"
)

// SetWorking sets a text that is shown while the agent works, once for each prompt
// and whenever it changes; "" is none.
func (r *REPL) SetWorking(text string) {
	text = printable.Line(text)
	if r.work.setText(text) {
		r.showWorking(text)
	}
}

// showWorking writes a line with the text that a hook wants shown while the agent
// works, cut to the width of the terminal. It writes nothing where no person reads it.
func (r *REPL) showWorking(text string) {
	if r.HasUI() {
		r.screen.Line(terminal.StyleDim, "… "+terminal.Cut(text, terminal.Columns(r.opts.Out)-3))
	}
}

// SetEditorText replaces the text in the prompt line, the open one or the next. An open
// prompt is closed and opened again with it.
func (r *REPL) SetEditorText(text string) {
	text = strings.Trim(printable.Text(text), "\n")
	r.floor.notice(func() { r.draft.put(terminal.Line{Text: text, Pos: -1}) })
}

// editorWait is how long EditorText waits for the text of an open prompt. Where the
// line editor reads the console by itself, it waits in vain.
const editorWait = time.Second

// EditorText is the text in the prompt line, or the one that the next prompt will begin
// with. An open prompt is closed to get it; "" if that takes too long.
func (r *REPL) EditorText() string {
	text := make(chan string, 1)
	r.floor.notice(func() { text <- r.draft.get().Text })
	late := time.NewTimer(editorWait)
	defer late.Stop()
	select {
	case text := <-text:
		return text
	case <-late.C:
		return ""
	}
}

// Theme paints for this terminal.
func (r *REPL) Theme() agent.Theme { return r.screen.Palette }

// showError shows what failed, and on a line of its own the next step.
func (r *REPL) showError(err error) {
	r.screen.Line(terminal.StyleError, "error: "+printable.Text(err.Error()))
	if hint := hintOf(err); hint != "" {
		r.screen.Line(terminal.StyleDim, "  "+strings.ReplaceAll(printable.Text(hint), "\n", "\n  "))
	}
}

// hintOf is the next step for the person after an error, with the commands that there
// are here; "" if none is known.
func hintOf(err error) string {
	if hint := command.HintOf(err); hint != "" {
		return hint
	}
	var unsaved *session.SaveError
	if errors.As(err, &unsaved) {
		return "/export FILE writes all of it elsewhere"
	}
	if errors.Is(err, session.ErrReadOnly) {
		return "/branch here goes on in a copy that can be written"
	}
	return ""
}

// showStatus writes the widgets and the status above the prompt, unless the same
// lines are there already.
func (r *REPL) showStatus() {
	if !r.HasUI() {
		return
	}
	width := terminal.Columns(r.opts.Out) - 1
	lines := r.widgets.lines(r.screen.Palette, width)
	lines = append(lines, r.screen.Styled(terminal.StyleDim, r.status.line(r.agent, width)))
	if shown := fmt.Sprint(width, lines); shown != r.shownStatus {
		r.shownStatus = shown
		if width != r.shownWidth { // the terminal may have wrapped the lines that are there
			r.screen.ReleaseFooter()
		}
		r.shownWidth = width
		r.screen.Footer(lines)
	}
}

var (
	_ agent.UI    = (*REPL)(nil)
	_ agent.Theme = terminal.Palette{}
)
