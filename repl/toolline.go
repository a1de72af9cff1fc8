package repl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
	"pi/session/message"
)

// foldedLines is how much of a result is shown, diffLines of one that changed a
// file.
const (
	foldedLines = 5
	diffLines   = 40
)

// A call is one line: the tool and its argument, and, when it has ended, how. The
// line is not ended while the tool runs; if something else is written meanwhile, the
// end is shown on a line that names the call again.

// toolStart begins the line of a call, and writes the lines of a hook below it. Without
// those the line is not ended, so that toolEnd can end it.
func (t *transcript) toolStart(p *terminal.Page, e *agent.ToolExecutionStart, title string, more []string) {
	if t.calls == nil {
		t.calls = map[string]string{}
	}
	t.calls[e.ID] = title
	p.Write(append(t.endBlock(p, nil), t.Styled(terminal.StyleTool, "• "+title)...))
	t.running = e.ID
	for _, line := range more {
		p.Print("  " + line)
		t.running = ""
	}
}

// toolCall shows the call as a hook has rewritten it; nothing if none has, or if the
// call is blocked.
func (t *transcript) toolCall(p *terminal.Page, e *agent.ToolCall) {
	if e.RewrittenBy == "" || e.Block {
		return
	}
	title := t.title(e.Name, e.Input)
	t.calls[e.ID] = title
	t.running = ""
	p.Print(t.Styled(terminal.StyleDim, "  "+printable.Line(e.RewrittenBy)+" made it: "+title))
}

// toolEnd ends the line of a call with a mark for success or failure, or writes another
// line with the mark if it was ended already. It shows body below it.
func (t *transcript) toolEnd(p *terminal.Page, e *agent.ToolExecutionEnd, body string) {
	mark, st := " ✓", terminal.StyleSuccess
	if e.Result.IsError {
		mark, st = " ✗", terminal.StyleError
	}
	if t.running == e.ID && !p.AtLineStart() {
		p.Write([]byte(t.Styled(st, mark) + "\n"))
	} else {
		p.Print(t.Styled(terminal.StyleTool, "• "+t.calls[e.ID]) + t.Styled(st, mark))
	}
	t.running = ""
	delete(t.calls, e.ID)
	p.Write([]byte(body))
}

// title names a call by its tool and the argument that tells most, cut to the width of
// the terminal.
func (t *transcript) title(name string, input json.RawMessage) string {
	title := printable.Line(name)
	if a := argument(input); a != "" {
		title += " " + a
	}
	return terminal.Cut(title, t.columns()-len("•  ✓"))
}

// argument is the argument of a call that a person wants to see, as one line: the value of
// the member that the call is about (of a search, the pattern and where), else all of them
// as JSON; "" if there are none.
func argument(input json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(input, &members) != nil || len(members) == 0 {
		return ""
	}
	for _, key := range []string{"command", "pattern", "path", "query", "url", "name"} {
		if s, ok := members[key].(string); ok && s != "" {
			if path, ok := members["path"].(string); ok && path != "" && key == "pattern" {
				s += " in " + path
			}
			return printable.Line(s)
		}
	}
	return printable.Line(string(input))
}

// result is the text below the line of a call: the difference if a file was changed,
// else the beginning of the result.
func (t *transcript) result(e *agent.ToolExecutionEnd) string {
	if diff := changed(e.Result.Details); diff != "" && !e.Result.IsError {
		return t.fold(strings.Split(strings.TrimRight(printable.Text(diff), "\n"), "\n"), diffLines, t.diffLine)
	}
	text := strings.Trim(printable.Text(resultText(e.Result)), "\n")
	if text == "" {
		return ""
	}
	st := terminal.StyleDim
	if e.Result.IsError {
		st = terminal.StyleError
	}
	return t.fold(strings.Split(text, "\n"), foldedLines, func(line string) string { return t.Styled(st, line) })
}

// changed returns the diff that the details of a result contain; "" if there is none.
func changed(details json.RawMessage) string {
	var d struct {
		Diff string `json:"diff"`
	}
	if len(details) == 0 || json.Unmarshal(details, &d) != nil {
		return ""
	}
	return d.Diff
}

// resultText joins the texts of a result; an image is its type in brackets.
func resultText(r agent.Result) string {
	var parts []string
	for _, b := range r.Content {
		switch b.Type {
		case message.BlockText:
			parts = append(parts, b.Text)
		case message.BlockImage:
			parts = append(parts, "["+b.MimeType+"]")
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// fold indents and paints lines, but not many more than limit, and counts the others in
// a last line.
func (t *transcript) fold(lines []string, limit int, paint func(string) string) string {
	var b strings.Builder
	shown := lines
	if len(lines) > limit+1 {
		shown = lines[:limit]
	}
	for _, line := range shown {
		b.WriteString("  " + paint(terminal.Cut(line, 400)) + "\n")
	}
	if n := len(lines) - len(shown); n > 0 {
		b.WriteString("  " + t.Styled(terminal.StyleDim, fmt.Sprintf("… %d more lines", n)) + "\n")
	}
	return b.String()
}

// diffLine colours a line of a diff by its first characters.
func (t *transcript) diffLine(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return t.Styled(terminal.StyleBold, line)
	case strings.HasPrefix(line, "+"):
		return t.Styled(terminal.StyleSuccess, line)
	case strings.HasPrefix(line, "-"):
		return t.Styled(terminal.StyleError, line)
	case strings.HasPrefix(line, "@@"):
		return t.Styled(terminal.StyleTool, line)
	}
	return line
}
