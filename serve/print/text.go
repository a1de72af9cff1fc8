package print

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"

	"pi/agent"
	"pi/internal/printable"
)

// textOutput is the output that has only answers. Progress is written beside it.
type textOutput struct {
	w        io.Writer
	terminal bool // w is a terminal, which text of models and tools must not control
	beside   *lines
}

func newTextOutput(w io.Writer, beside *lines) *textOutput {
	f, isFile := w.(*os.File)
	return &textOutput{w: w, beside: beside, terminal: isFile && term.IsTerminal(int(f.Fd()))}
}

func (*textOutput) begin(ctx context.Context, _ *agent.Agent) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

func (o *textOutput) answers(texts []string) error {
	for _, text := range texts {
		if err := o.print(text); err != nil {
			return err
		}
	}
	return nil
}

func (o *textOutput) status(text string) error { return o.print(text) }

// print writes text and ends its last line. It is ErrBrokenPipe if nobody reads the output
// any more.
func (o *textOutput) print(text string) error {
	if o.terminal {
		text = printable.Text(text)
	}
	if text == "" {
		return nil
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(o.w, text)
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return ErrBrokenPipe
	case err != nil:
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func (o *textOutput) wants(k agent.Kind) bool {
	return o.beside.wantsForRow(k) || k == agent.KindToolExecutionStart || k == agent.KindAutoCompactionStart || k == agent.KindAutoCompactionEnd || k == agent.KindAutoRetryStart
}

// handle writes progress.
func (o *textOutput) handle(e agent.Event) {
	defer o.beside.follow(e) // behind the line of what began
	switch e := e.(type) {
	case *agent.ToolExecutionStart:
		o.beside.call(e)
	case *agent.AutoRetryStart:
		o.beside.write(e.Text(e.Delay()))
	case *agent.CompactionStart:
		if e.Auto {
			o.beside.write(e.Text())
		}
	case *agent.CompactionEnd:
		if text := e.Text(); e.Auto && text != "" {
			o.beside.write(text)
		}
	}
}

func (*textOutput) failure() error { return nil }

func (*textOutput) close() error { return nil }
