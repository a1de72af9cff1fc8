package repl

import (
	"context"
	"encoding/json"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/printable"
	"pi/repl/terminal"
	"pi/session/message"
)

// transcript shows the work of the agent as it happens. It is the last listener, so
// it shows what hooks have decided.
type transcript struct {
	*terminal.Screen
	showThinking bool
	renderer     Renderer // of hooks; nil: none
	columns      func() int

	// The fields below are used only inside of Locked.
	clean   printable.Cleaner
	buf     []byte
	block   openBlock
	answer  shownAnswer
	words   words
	running string // the call whose line is not ended yet
	calls   map[string]string
}

// openBlock is the block of an answer that is being written.
type openBlock struct {
	kind  llm.DeltaKind // DeltaPing: none
	index int
}

// handle shows an event. Hooks draw before the screen is locked, for they may want
// to show something meanwhile.
func (t *transcript) handle(e agent.Event) {
	switch e := e.(type) {
	case *agent.ToolExecutionStart:
		title, more := t.callTitle(e)
		t.Locked(func(p *terminal.Page) { t.toolStart(p, e, title, more) })
	case *agent.ToolExecutionEnd:
		body := t.body(e)
		t.Locked(func(p *terminal.Page) { t.toolEnd(p, e, body) })
	case *agent.ToolCall:
		t.Locked(func(p *terminal.Page) { t.toolCall(p, e) })
	case *agent.MessageUpdate:
		t.Locked(func(p *terminal.Page) { t.delta(p, e.Delta) })
	case *agent.AutoRetryStart:
		if !e.Aside {
			t.Locked(func(*terminal.Page) { t.answer.beginAgain(t.columns()) })
		}
	case *agent.MessageEnd:
		t.Locked(func(p *terminal.Page) { t.messageEnd(p, e) })
	}
}

// abort shows that a hook stopped an answer, which hook, and why.
func (t *transcript) abort(p *terminal.Page, a *agent.Abort) {
	text := "stopped by a hook"
	if by := printable.Line(a.By); by != "" {
		text = "stopped by hook " + by
	}
	if reason := printable.Line(a.Reason); reason != "" {
		text += ": " + reason
	}
	p.Print(t.Styled(terminal.StyleDim, text))
}

// delta writes one step of the answer with one write. Steps that are neither text nor
// thinking, or thinking that the person does not want to see, are not shown.
func (t *transcript) delta(p *terminal.Page, d llm.Delta) {
	if d.Kind != llm.DeltaText && (d.Kind != llm.DeltaThinking || !t.showThinking) || d.Text == "" {
		return
	}
	d.Index = t.words.index(d)
	if t.answer.again {
		t.writeRepeated(p, d)
		return
	}
	t.write(p, d)
}

// write writes a step that is not on the screen yet. If it begins another block, the
// one before is ended.
func (t *transcript) write(p *terminal.Page, d llm.Delta) {
	t.answer.add(d)
	t.buf = t.buf[:0]
	if d.Kind != t.block.kind || d.Index != t.block.index {
		t.buf = t.endBlock(p, t.buf)
		t.block = openBlock{d.Kind, d.Index}
	}
	if d.Kind == llm.DeltaThinking {
		t.buf = t.thought(t.buf, d.Text)
	} else {
		t.buf = t.clean.Append(t.buf, d.Text)
	}
	p.Write(t.buf)
}

// words are the blocks of text that follow each other. They count as one, since
// some models cut their text into blocks in the middle of a sentence.
type words struct{ first, last int }

// index is the index of the block that a step is shown in: for text, that of the first
// of the blocks of text that follow each other.
func (w *words) index(d llm.Delta) int {
	if d.Kind != llm.DeltaText {
		return d.Index
	}
	if d.Index != w.last && d.Index != w.last+1 {
		w.first = d.Index
	}
	w.last = d.Index
	return w.first
}

// thought appends a piece of thinking to dst, dimmed. Each piece ends its colour, so
// that nothing else is dimmed when it comes in between.
func (t *transcript) thought(dst []byte, text string) []byte {
	start := len(dst)
	dst = t.Begin(dst, terminal.StyleDim)
	painted := len(dst)
	dst = t.clean.Append(dst, text)
	if len(dst) == painted {
		return dst[:start]
	}
	midLine := dst[len(dst)-1] != '\n'
	if !midLine {
		dst = dst[:len(dst)-1]
	}
	dst = t.End(dst)
	if !midLine {
		dst = append(dst, '\n')
	}
	return dst
}

// endBlock appends to dst what ends the line that is being written, of a block of the
// answer or of a call.
func (t *transcript) endBlock(p *terminal.Page, dst []byte) []byte {
	if t.block.kind != llm.DeltaPing {
		before := len(dst)
		dst = t.clean.Finish(dst)
		t.block = openBlock{}
		if len(dst) > before {
			return append(dst, '\n')
		}
	}
	t.running = ""
	return p.FreshLine(dst)
}

// messageEnd ends an answer, and tells the person if a hook or a limit ended it, or if
// it is empty. One that began anew, and was shorter than what is shown of it, is shown
// again.
func (t *transcript) messageEnd(p *terminal.Page, e *agent.MessageEnd) {
	if whole := e.Message.StopReason != message.StopError && e.Message.StopReason != message.StopAborted; whole && t.answer.again && !t.answer.whole() {
		t.startOver(p)
	}
	t.answer = shownAnswer{}
	p.Write(t.endBlock(p, nil))
	if e.Abort != nil {
		t.abort(p, e.Abort)
	}
	switch m := e.Message; {
	case m.StopReason == message.StopLength:
		p.Print(t.Styled(terminal.StyleWarning, "the answer was cut off at the token limit"))
	case e.Abort == nil && m.Role == message.RoleAssistant && m.StopReason == message.StopEnd &&
		strings.TrimSpace(m.Text()) == "" && len(m.ToolCalls()) == 0:
		p.Print(t.Styled(terminal.StyleDim, "the answer is empty"))
	}
}

// Renderer draws messages and tool calls the way hooks want them. Each method
// reports false if no hook wants to draw, and the usual way is taken. Width is in
// cells; lines may have colours of the [agent.Theme]. Any goroutine may call it.
type Renderer interface {
	Message(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool)
	ToolCall(name string, args json.RawMessage, width int) ([]string, bool)
	ToolResult(name string, r agent.Result, expanded bool, width int) ([]string, bool)
}
