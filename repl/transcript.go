package repl

import (
	"pi/agent"
	"pi/session"
)

// transcript shows what the agent does, as it happens. It is the last listener,
// so what it shows is what was decided.
type transcript struct {
	*screen
	showThinking bool
	width        func() int // columns; nil: a usual number

	clean   sanitizer
	block   openBlock
	running string // the call whose line is not ended yet
	calls   map[string]string
}

// openBlock is the block of an answer that is being written.
type openBlock struct {
	kind  agent.DeltaKind // DeltaPing: none
	index int
}

func (t *transcript) wants(k agent.Kind) bool {
	switch k {
	case agent.KindMessageUpdate, agent.KindMessageEnd, agent.KindToolExecutionStart, agent.KindToolExecutionEnd,
		agent.KindToolCall, agent.KindBeforeAgentStart:
		return true
	}
	return false
}

func (t *transcript) handle(e agent.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case *agent.MessageUpdate:
		t.delta(e.Delta)
	case *agent.MessageEnd:
		t.messageEnd(e.Message)
	case *agent.ToolExecutionStart:
		t.toolStart(e)
	case *agent.ToolExecutionEnd:
		t.toolEnd(e)
	case *agent.ToolCall:
		t.toolCall(e)
	case *agent.BeforeAgentStart:
		for _, m := range e.Messages {
			t.custom(m)
		}
	}
}

// delta writes one step of the answer with one write.
func (t *transcript) delta(d agent.Delta) {
	if d.Kind != agent.DeltaText && (d.Kind != agent.DeltaThinking || !t.showThinking) {
		return
	}
	t.buf = t.buf[:0]
	if d.Kind != t.block.kind || d.Index != t.block.index {
		t.buf = t.endBlock(t.buf)
		t.block = openBlock{d.Kind, d.Index}
	}
	if d.Kind == agent.DeltaThinking {
		t.buf = t.thought(t.buf, d.Text)
	} else {
		t.buf = t.clean.append(t.buf, d.Text)
	}
	t.write(t.buf)
}

// thought sets each piece off by itself, so that nothing else is dimmed when it
// comes in between.
func (t *transcript) thought(dst []byte, text string) []byte {
	start := len(dst)
	dst = t.open(dst, styleDim)
	painted := len(dst)
	dst = t.clean.append(dst, text)
	if len(dst) == painted {
		return dst[:start]
	}
	midLine := dst[len(dst)-1] != '\n'
	if !midLine {
		dst = dst[:len(dst)-1]
	}
	dst = t.close(dst)
	if !midLine {
		dst = append(dst, '\n')
	}
	return dst
}

// endBlock ends what is being written: the block, or the line of a call.
func (t *transcript) endBlock(dst []byte) []byte {
	if t.block.kind != agent.DeltaPing {
		before := len(dst)
		dst = t.clean.finish(dst)
		t.block = openBlock{}
		if len(dst) > before {
			return append(dst, '\n')
		}
	}
	t.running = ""
	return t.freshLine(dst)
}

func (t *transcript) messageEnd(m *session.Message) {
	t.write(t.endBlock(nil))
	if m.StopReason == session.StopLength {
		t.writeLine(t.paint(styleWarning, "the answer was cut off at the token limit"))
	}
}

// custom shows a message of a hook, unless it is not to be seen.
func (t *transcript) custom(m *session.Message) {
	if m.Display {
		t.writeLine(t.paint(styleDim, "["+oneLine(m.CustomType)+"] "+clean(m.Text())))
	}
}
