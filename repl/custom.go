package repl

import (
	"context"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
	"pi/session/message"
)

// show ends what is being written, and writes lines below it.
func (t *transcript) show(lines []string) {
	t.Locked(func(p *terminal.Page) {
		p.Write(t.endBlock(p, nil))
		for _, line := range lines {
			p.Print(line)
		}
	})
}

// message is how m is shown: as a hook draws it, or named by its type.
func (t *transcript) message(ctx context.Context, m *message.Message) []string {
	if t.renderer != nil {
		if lines, ok := t.renderer.Message(ctx, m, false, t.columns()-1); ok {
			return t.Painted(lines, t.columns()-1)
		}
	}
	return []string{t.Styled(terminal.StyleDim, "["+printable.Line(m.CustomType)+"] "+printable.Text(m.Text()))}
}

// callTitle is the line of a tool call, as a hook draws it or else named by its tool,
// and the lines that the hook draws below it.
func (t *transcript) callTitle(e *agent.ToolExecutionStart) (title string, more []string) {
	if t.renderer != nil {
		if lines, ok := t.renderer.ToolCall(e.Name, e.Input, t.columns()-4); ok && len(lines) > 0 {
			lines = t.Painted(lines, t.columns()-4)
			return lines[0], lines[1:]
		}
	}
	return t.title(e.Name, e.Input), nil
}

// body is the text below the line of a tool call that ended, as a hook draws it or else
// its folded result.
func (t *transcript) body(e *agent.ToolExecutionEnd) string {
	if t.renderer != nil {
		if lines, ok := t.renderer.ToolResult(e.Name, e.Result, false, t.columns()-3); ok {
			return t.fold(t.Painted(lines, t.columns()-3), diffLines, func(line string) string { return line })
		}
	}
	return t.result(e)
}
