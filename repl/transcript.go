package repl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/printable"
	"pi/session/message"
)

// Renderer draws messages and tool calls the way hooks want them. Each method
// reports false if no hook wants to draw, and the usual way is taken. Width is in
// cells; lines may have colours of the [agent.Theme]. Any goroutine may call it.
type Renderer interface {
	Message(ctx context.Context, m *message.Message, expanded bool, width int) ([]string, bool)
	ToolCall(name string, args json.RawMessage, expanded bool, width int) ([]string, bool)
	ToolResult(name string, r agent.Result, expanded bool, width int) ([]string, bool)
}

// transcript shows the work of the agent as it happens. It is the last listener, so it
// shows what hooks have decided. Hooks draw before the screen is locked, for they may
// want to show something meanwhile.
type transcript struct {
	screen   *screen
	renderer Renderer // nil: hooks draw nothing
}

// handle shows an event.
func (t *transcript) handle(ctx context.Context, e agent.Event) {
	s := t.screen
	switch e := e.(type) {
	case *agent.MessageUpdate:
		s.change(func() { s.step(e.Delta) })
	case *agent.MessageEnd:
		s.change(func() { s.messageEnd(e) })
	case *agent.ToolExecutionStart:
		title := t.title(e.Name, e.Input)
		s.change(func() {
			s.endBlock()
			s.busy.note(waitsForTool, s.now())
			s.calls.start(e.ID, e.Name, title)
			if s.plain {
				s.add(kindTool, plainTitle(title[0]))
			}
		})
	case *agent.ToolCall:
		t.rewritten(e)
	case *agent.ToolExecutionUpdate:
		s.change(func() { s.busy.note(waitsForTool, s.now()); s.calls.update(e.ID, e.Partial) })
	case *agent.ToolClock:
		s.change(func() { s.calls.clock(e.ID, e.Runs, s.now()) })
	case *agent.ToolRan:
		s.change(func() { s.calls.ran(e.ID, e.Failed, s.now()) })
	case *agent.ToolExecutionEnd:
		t.toolEnd(e)
	case *agent.CustomShow:
		t.custom(ctx, e)
	}
}

// step follows a step of an answer. The caller has the lock.
func (s *screen) step(d llm.Delta) {
	switch d.Kind {
	case llm.DeltaPing:
		return
	case llm.DeltaToolCall:
		if s.busy.waits != waitsForArguments || d.Name != "" {
			s.busy.name, s.busy.bytes = d.Name, 0
		}
		s.busy.bytes += len(d.Text)
		s.busy.note(waitsForArguments, s.now())
	default:
		s.busy.note(waitsForNothing, s.now())
	}
	s.busy.written += len(d.Text)
	s.delta(d)
}

// messageEnd ends an answer, and tells the person if a hook or a limit ended it, or if
// it is empty. The caller has the lock.
func (s *screen) messageEnd(e *agent.MessageEnd) {
	m := e.Message
	s.answerEnds()
	if m.Role == message.RoleAssistant {
		s.busy.used(m.Usage)
	}
	s.busy.note(waitsForNothing, s.now())
	if e.Abort != nil {
		s.add(kindNotice, s.noticeRows(abortText(e.Abort), agent.LevelInfo)...)
	}
	switch {
	case m.StopReason == message.StopLength:
		s.add(kindNotice, s.noticeRows("the answer was cut off at the token limit", agent.LevelWarning)...)
	case e.Abort == nil && m.Role == message.RoleAssistant && m.StopReason == message.StopEnd &&
		strings.TrimSpace(m.Text()) == "" && len(m.ToolCalls()) == 0:
		s.add(kindNotice, s.palette.Paint("dim", "the answer is empty"))
	}
}

// abortText says that a hook stopped an answer, which hook, and why.
func abortText(a *agent.Abort) string {
	text := "stopped by a hook"
	if by := printable.Line(a.By); by != "" {
		text = "stopped by hook " + by
	}
	if reason := printable.Line(a.Reason); reason != "" {
		text += ": " + reason
	}
	return text
}

// title is how a call is named in few rows: as a hook draws it, else by its tool and
// argument.
func (t *transcript) title(name string, input json.RawMessage) []string {
	if rows := t.titleByHook(name, input, false, t.width(4)); rows != nil {
		return rows
	}
	return titleOf(name, input)
}

// titleByHook is a call as a hook draws it; nil if none does.
func (t *transcript) titleByHook(name string, input json.RawMessage, expanded bool, width int) []string {
	if t.renderer == nil {
		return nil
	}
	lines, ok := t.renderer.ToolCall(name, input, expanded, width)
	if !ok || len(lines) == 0 {
		return nil
	}
	return t.screen.palette.Painted(lines, width)
}

// width is that of the window, less some columns.
func (t *transcript) width(less int) int {
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	return max(1, t.screen.columns-less)
}

// rewritten notes how a hook has rewritten a call; nothing if none has, or if the call
// is blocked.
func (t *transcript) rewritten(e *agent.ToolCall) {
	if e.RewrittenBy == "" || e.Block {
		return
	}
	title := t.title(e.Name, e.Input)
	t.screen.change(func() {
		if c := t.screen.calls.find(e.ID); c != nil {
			c.title, c.note = title, printable.Line(e.RewrittenBy)+" made it so"
		}
	})
}

// toolEnd shows how a call ended.
func (t *transcript) toolEnd(e *agent.ToolExecutionEnd) {
	drawn, more := t.drawnByHook(e)
	s := t.screen
	s.change(func() {
		now := s.now()
		c := s.calls.find(e.ID)
		if c == nil {
			s.calls.start(e.ID, e.Name, titleOf(e.Name, e.Input))
			c = s.calls.find(e.ID)
		}
		end := ended{name: e.Name, input: e.Input, title: c.title, note: c.note, result: e.Result, took: e.Took, drawn: drawn, more: more, plain: s.plain}
		end.number = func(whole wholeCall) int {
			return s.folds.add(c.title[0], t.whole(e, whole))
		}
		mark := markDone
		if e.Result.IsError {
			mark = markFailed
		}
		s.endBlock()
		s.add(kindTool, s.calls.end(e.ID, mark, end.rows(s.palette, s.columns), e.Took)...)
		s.tellWaiting()
		s.busy.note(waitsForTool, now)
		if len(s.calls.all) == 0 {
			s.busy.note(waitsForAnswer, now)
		}
	})
}

// drawnByHook is a result as a hook draws it, nil if none does. more says that a hook draws
// the result or its call otherwise in full.
func (t *transcript) drawnByHook(e *agent.ToolExecutionEnd) (drawn []string, more bool) {
	width := t.width(4)
	drawn = t.resultByHook(e, false, width+1)
	return drawn, !slices.Equal(drawn, t.resultByHook(e, true, width+1)) ||
		!slices.Equal(t.titleByHook(e.Name, e.Input, false, width), t.titleByHook(e.Name, e.Input, true, width))
}

// resultByHook is a result as a hook draws it; nil if none does.
func (t *transcript) resultByHook(e *agent.ToolExecutionEnd, expanded bool, width int) []string {
	if t.renderer == nil {
		return nil
	}
	lines, ok := t.renderer.ToolResult(e.Name, e.Result, expanded, width)
	if !ok {
		return nil
	}
	return append([]string{}, t.screen.palette.Painted(lines, width)...)
}

// whole draws a call in full: the call and its result each by the hook that draws it,
// else as in usual.
func (t *transcript) whole(e *agent.ToolExecutionEnd, usual wholeCall) func(columns int) []string {
	return func(columns int) []string {
		return usual(columns, t.titleByHook(e.Name, e.Input, true, columns-4), t.resultByHook(e, true, columns-3))
	}
}

// custom shows a message of a hook. A message in the role of the user looks as if it had
// been typed.
func (t *transcript) custom(ctx context.Context, e *agent.CustomShow) {
	s, m := t.screen, e.Message
	switch {
	case m.Role == message.RoleUser:
		s.change(func() { s.echo(inFewRows(m.Text()), nil, nil) })
	case m.Display:
		rows := t.messageByHook(ctx, m, false, t.width(1))
		whole := t.messageByHook(ctx, m, true, t.width(1))
		s.change(func() {
			if rows == nil {
				text := fmt.Sprintf("[%s] %s", printable.Line(m.CustomType), printable.Text(m.Text()))
				rows = s.noticeRows(text, agent.LevelInfo)
			}
			if whole != nil && !slices.Equal(rows, whole) {
				n := s.folds.add(m.CustomType, func(columns int) []string { return t.messageByHook(context.Background(), m, true, columns-1) })
				rows = append(rows, s.palette.Paint("dim", "  "+strings.Join(wayToWhole(n, s.plain), " · ")))
			}
			s.tell(rows)
		})
	}
}

// messageByHook is a message as a hook draws it; nil if none does.
func (t *transcript) messageByHook(ctx context.Context, m *message.Message, expanded bool, width int) []string {
	if t.renderer == nil {
		return nil
	}
	lines, ok := t.renderer.Message(ctx, m, expanded, width)
	if !ok {
		return nil
	}
	return append([]string{}, t.screen.palette.Painted(lines, width)...)
}
