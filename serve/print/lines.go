package print

import (
	"io"
	"strings"
	"sync"

	"pi/agent"
	"pi/internal/printable"
)

// lines writes lines for a user beside the output. Any goroutine may write; the lines
// never mix. On a terminal there may be a row behind them, see live.go.
type lines struct {
	w io.Writer

	mu  sync.Mutex // guards writes to w
	row row
}

// notice writes a notice, with its level in front if that is a warning or an error.
func (l *lines) notice(text string, level agent.Level) {
	text = strings.TrimRight(printable.Text(text), "\n")
	if level == agent.LevelWarning || level == agent.LevelError {
		text = string(level) + ": " + text
	}
	l.write(text)
}

// call writes the name of a tool that is called and its arguments, in one line of at most
// 120 characters.
func (l *lines) call(e *agent.ToolExecutionStart) {
	text := []rune(printable.Text(e.Name + " " + strings.Join(strings.Fields(string(e.Input)), " ")))
	if len(text) > 120 {
		text = append(text[:119], '…')
	}
	l.write(string(text))
}

// write writes a line without characters that could control a terminal. An error is
// dropped: there is no other place to show it.
func (l *lines) write(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paint(printable.Text(text) + "\n")
}
