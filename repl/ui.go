package repl

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/term"

	"pi/agent"
)

// HasUI reports whether a person can be asked.
func (r *REPL) HasUI() bool { return isTerminal(r.opts.In) }

// Notify shows a line that is no part of the conversation. While a prompt is
// open it is shown above it.
func (r *REPL) Notify(text string, level agent.Level) {
	text = strings.TrimRight(clean(text), "\n")
	r.floor.notice(func() {
		switch level {
		case agent.LevelError:
			r.screen.line(styleError, "error: "+text)
		case agent.LevelWarning:
			r.screen.line(styleWarning, "warning: "+text)
		default:
			r.screen.line(styleDim, text)
		}
	})
}

// SetStatus sets what a hook says in the line above the prompt; "" takes it
// back. It is shown with the next prompt.
func (r *REPL) SetStatus(key, text string) { r.status.set(key, text) }

// showError shows what failed, and on a line of its own the next step.
func (r *REPL) showError(err error) {
	r.screen.line(styleError, "error: "+clean(err.Error()))
	if hint := hintOf(err); hint != "" {
		r.screen.line(styleDim, "  "+strings.ReplaceAll(clean(hint), "\n", "\n  "))
	}
}

func hintOf(err error) string {
	var provider *agent.ProviderError
	if errors.As(err, &provider) {
		return provider.Hint
	}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}

// showStatus writes the status line unless it stands there already.
func (r *REPL) showStatus() {
	if !r.HasUI() {
		return
	}
	if line := r.status.line(r.agent, columns(r.opts.Out)-1); line != r.shownStatus {
		r.shownStatus = line
		r.screen.line(styleDim, line)
	}
}

// usualColumns is the width of a terminal that does not say how wide it is.
const usualColumns = 80

// columns is the width of the terminal.
func columns(f *os.File) int {
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return usualColumns
}

var _ agent.UI = (*REPL)(nil)
