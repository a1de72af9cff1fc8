package export

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// How much of a tool's input and output a transcript shows.
const (
	shownLines = 40
	shownRunes = 4000
)

// Markdown writes the current branch for people: who said what, what tools did,
// as far as it fits, and where summaries stand for what was before. What could
// command a terminal is left out.
func Markdown(w io.Writer, s *session.Session) error {
	t := transcript{w: w, labels: s.Labels()}
	t.title(s)
	for _, e := range s.Branch() {
		t.entry(e)
	}
	return t.err
}

// transcript is a branch on its way to a file. The first error ends the writing.
type transcript struct {
	w       io.Writer
	err     error
	labels  map[string]string
	section string // heading of what stands above
}

func (t *transcript) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// title writes the heading of the file: the session's name or id, its directory and when
// it was started.
func (t *transcript) title(s *session.Session) {
	h := s.Header()
	name := s.Name()
	if name == "" {
		name = "Session " + h.ID
	}
	t.printf("# %s\n\n- session: %s\n- directory: %s\n- started: %s\n", printable.Line(name), h.ID, code(h.Cwd), formatTime(h.Timestamp))
	switch {
	case h.Agent.IsSet():
		t.printf("- agent: %s, used by %s\n", code(h.Agent.Name), code(h.ParentSession))
	case h.ParentSession != "":
		t.printf("- copied from: %s\n", code(h.ParentSession))
	}
}

// entry writes what a reader shall see of an entry; entries of other types are skipped.
func (t *transcript) entry(e *session.Entry) {
	switch e.Type {
	case session.TypeMessage, session.TypeCustomMessage, session.TypeCompaction, session.TypeBranchSummary:
		if m := e.Message(); m != nil {
			t.message(e, m)
		} else if e.Type != session.TypeBranchSummary {
			t.italic("an entry that cannot be read: " + printable.Line(e.ID))
		}
	case session.TypeModelChange:
		if c, err := session.Body[session.ModelChange](e); err == nil {
			t.italic("model: " + printable.Line(c.Provider+"/"+c.ModelID))
		}
	case session.TypeThinkingLevelChange:
		if c, err := session.Body[session.ThinkingLevelChange](e); err == nil {
			t.italic("thinking: " + printable.Line(c.ThinkingLevel))
		}
	case session.TypeContextEdit:
		t.edit(e)
	}
}

// edit writes that the model sees another entry changed, or not at all.
func (t *transcript) edit(e *session.Entry) {
	c, err := session.Body[session.ContextEdit](e)
	if err != nil {
		return
	}
	what := "taken out of what the model sees"
	if c.Replacement != nil {
		what = "changed for the model"
	}
	t.italic("entry " + printable.Line(c.TargetID) + " was " + what)
}

// message writes a heading that says who speaks, and the content of the message.
func (t *transcript) message(e *session.Entry, m *message.Message) {
	switch m.Role {
	case message.RoleUser:
		t.heading("User", e)
		t.content(m)
	case message.RoleAssistant:
		t.heading("Assistant ("+printable.Line(m.Provider+"/"+m.Model)+")", e)
		t.content(m)
		t.stopReason(m)
	case message.RoleToolResult:
		t.result(m)
	case message.RoleBashExecution:
		t.command(e, m)
	case message.RoleCustom:
		t.heading("Note of "+printable.Line(m.CustomType), e)
		t.content(m)
	case message.RoleCompactionSummary:
		t.heading("Summary of the conversation before", e)
		t.italic(fmt.Sprintf("compacted from %d tokens", m.TokensBefore))
		t.text(m.Summary)
	case message.RoleBranchSummary:
		t.heading("Summary of a branch that was left", e)
		t.text(m.Summary)
	}
}

// heading writes a heading with the time and the label of e. Below the heading of an
// assistant a second one of the same text is left out, unless e has a label: an answer
// goes on after its tool calls.
func (t *transcript) heading(text string, e *session.Entry) {
	name := t.labels[e.ID]
	if text == t.section && strings.HasPrefix(text, "Assistant") && name == "" {
		return
	}
	t.section = text
	if name != "" {
		text += " [" + printable.Line(name) + "]"
	}
	t.printf("\n## %s\n\n*%s*\n", text, formatTime(e.Timestamp))
}

func (t *transcript) italic(text string) { t.printf("\n*%s*\n", text) }

func (t *transcript) text(text string) {
	if text = strings.TrimSpace(printable.Text(text)); text != "" {
		t.printf("\n%s\n", text)
	}
}

// content writes the blocks of a message: text, thinking as a quotation, tool calls with
// their arguments, and for an image a line that says so.
func (t *transcript) content(m *message.Message) {
	for _, b := range m.Content {
		switch b.Type {
		case message.BlockText:
			t.text(b.Text)
		case message.BlockThinking:
			if thought := strings.TrimSpace(printable.Text(b.Text)); thought != "" {
				t.printf("\n> %s\n", strings.ReplaceAll(shortened(thought), "\n", "\n> "))
			}
		case message.BlockToolCall:
			t.printf("\n**%s**\n", printable.Line(b.Name))
			t.fenced(arguments(b.Arguments))
		case message.BlockImage:
			t.italic("image, " + printable.Line(b.MimeType))
		}
	}
}

// stopReason writes why an answer failed or ended early; nothing if it ended normally.
func (t *transcript) stopReason(m *message.Message) {
	switch {
	case m.ErrorMessage != "":
		t.italic(printable.Line(string(m.StopReason)) + ": " + printable.Line(m.ErrorMessage))
	case m.StopReason == message.StopAborted || m.StopReason == message.StopError || m.StopReason == message.StopLength:
		t.italic("stopped: " + string(m.StopReason))
	}
}

// result writes the result of a tool call.
func (t *transcript) result(m *message.Message) {
	what := "result of " + printable.Line(m.ToolName)
	if m.IsError {
		what = "error of " + printable.Line(m.ToolName)
	}
	t.italic(what)
	t.fenced(printable.Text(m.Text()))
	for _, b := range m.Content {
		if b.Type == message.BlockImage {
			t.italic("image, " + printable.Line(b.MimeType))
		}
	}
}

// command writes a command that the user ran, and its output.
func (t *transcript) command(e *session.Entry, m *message.Message) {
	what := "Command of the user"
	if m.ExcludeFromContext {
		what += ", kept from the model"
	}
	t.heading(what, e)
	t.fenced("$ " + printable.Text(m.Command) + "\n" + printable.Text(m.Output))
	if m.ExitCode != nil && *m.ExitCode != 0 {
		t.italic(fmt.Sprintf("exit status %d", *m.ExitCode))
	}
}

// fenced writes a code block, cut to what a transcript shows. Its fence is longer than
// any run of backquotes in the text, so nothing in it can end the block.
func (t *transcript) fenced(text string) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	t.printf("\n%s\n%s\n%s\n", fence, shortened(text), fence)
}

// arguments returns what a tool was called with, as text: "name: value" if there is one
// argument and it is a string, else the JSON.
func arguments(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return printable.Text(string(raw))
	}
	if len(fields) == 1 {
		for name, value := range fields {
			var text string
			if json.Unmarshal(value, &text) == nil {
				return name + ": " + printable.Text(text)
			}
		}
	}
	return printable.Text(string(raw))
}

// shortened returns the first 40 lines, at most 4000 characters, of a text; a last line
// says how much is left out.
func shortened(text string) string {
	lines := strings.Split(text, "\n")
	kept := strings.Join(lines[:min(len(lines), shownLines)], "\n")
	if runes := []rune(kept); len(runes) > shownRunes {
		kept = string(runes[:shownRunes])
	}
	if len(kept) == len(text) {
		return text
	}
	left := strings.Count(text[len(kept):], "\n")
	if left == 0 {
		return kept + "\n… " + fmt.Sprintf("(%d bytes more)", len(text)-len(kept))
	}
	return kept + "\n… " + fmt.Sprintf("(%d lines more)", left)
}

func code(s string) string { return "`" + strings.ReplaceAll(printable.Line(s), "`", "'") + "`" }

// formatTime writes an ISO time in minutes and UTC, or "at an unknown time".
func formatTime(iso string) string {
	t, err := time.Parse(time.RFC3339, iso)
	if err != nil {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
