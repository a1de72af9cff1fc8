package record

import (
	"encoding/json"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/llm"
	"pi/session/message"
)

// answer is a message of the model on its way.
type answer struct {
	time   int64 // of its start, which is also that of its end
	blocks []*block
	last   *block        // of the last delta
	used   message.Usage // what usage is the JSON of
	usage  []byte
}

// block is a part of an answer, with its text so far.
type block struct {
	index    int
	kind     string // text thinking toolcall, as in the names of records
	text     strings.Builder
	id, name string // of a call
	ended    bool
}

// note makes usage the one that counts; nil leaves it as it is.
func (a *answer) note(usage *message.Usage) {
	if usage != nil && *usage != a.used {
		a.used, a.usage = *usage, encodeUsage(usage)
	}
}

// isFailed reports whether an answer is not one that the model has ended.
func isFailed(m *message.Message) bool {
	return m.StopReason == message.StopError || m.StopReason == message.StopAborted
}

// startAnswer writes the start of an answer, in a turn that has none yet. m is whole if nothing
// came before it failed.
func (t *Translator) startAnswer(m *message.Message) {
	if t.said != nil {
		t.closeTurn(t.said, nil)
		t.turnWaits = true
	}
	if !t.inRun {
		t.startRun()
		t.turnWaits = true
	}
	t.openTurn()
	t.answer = &answer{time: m.Timestamp, usage: encodeUsage(nil)}
	t.answer.note(m.Usage)
	if !isFailed(m) {
		m = m.Clone()
		m.Content, m.StopReason, m.ErrorMessage = nil, "pending", ""
	}
	t.write(begin("message_start").raw("message", Message(m)))
}

// update writes a delta of the answer.
func (t *Translator) update(e *agent.MessageUpdate) {
	kind := ""
	switch e.Delta.Kind {
	case llm.DeltaText:
		kind = "text"
	case llm.DeltaThinking:
		kind = "thinking"
	case llm.DeltaToolCall:
		kind = "toolcall"
	default:
		return
	}
	if t.answer == nil { // its start was not seen
		t.startAnswer(e.Message())
	}
	t.answer.note(e.Delta.Usage)
	b := t.answer.last
	if b == nil || b.index != e.Delta.Index || b.kind != kind {
		b = t.block(e.Delta, kind)
		t.answer.last = b
	}
	if e.Delta.Text != "" {
		b.text.WriteString(e.Delta.Text)
		t.writeUpdate(b.begin("_delta").text("delta", e.Delta.Text))
	}
}

// begin begins what an update says of a block.
func (b *block) begin(what string) line { return begin(b.kind+what).number("contentIndex", b.index) }

// writeUpdate writes an update of the answer.
func (t *Translator) writeUpdate(event line) {
	t.write(begin("message_update").raw("usage", t.answer.usage).raw("assistantMessageEvent", event.end()))
}

// block returns the block of a delta that does not belong to the same as the one before.
// What came before has ended when another begins, but for a call that is not whole.
func (t *Translator) block(d llm.Delta, kind string) *block {
	a := t.answer
	if i := slices.IndexFunc(a.blocks, func(b *block) bool { return b.index == d.Index && b.kind == kind }); i >= 0 {
		return a.blocks[i]
	}
	for _, b := range a.blocks {
		if b.kind != "toolcall" || b.isWhole() {
			t.endBlock(b, json.RawMessage(b.text.String()))
		}
	}
	b := &block{index: d.Index, kind: kind, id: d.ID, name: d.Name}
	a.blocks = append(a.blocks, b)
	l := b.begin("_start")
	if kind == "toolcall" {
		l = l.text("id", b.id).text("toolName", b.name)
	}
	t.writeUpdate(l)
	return b
}

// isWhole reports whether the arguments of a call have come completely.
func (b *block) isWhole() bool {
	text := strings.TrimSpace(b.text.String())
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}

// endBlock writes the end of a block, once. arguments are those of a call.
func (t *Translator) endBlock(b *block, arguments json.RawMessage) {
	if b.ended {
		return
	}
	b.ended = true
	l := b.begin("_end")
	if b.kind != "toolcall" {
		t.writeUpdate(l.text("content", b.text.String()))
		return
	}
	call := message.Block{Type: message.BlockToolCall, ID: b.id, Name: b.name, Arguments: arguments}
	if raw, err := call.MarshalJSON(); err == nil {
		t.writeUpdate(l.raw("toolCall", clean(raw)))
	}
}

// finishAnswer writes the end of the answer that streams, which is m. The blocks of one that
// was cut off have no end, nor has a call that is not whole.
func (t *Translator) finishAnswer(m *message.Message) {
	t.answer.note(m.Usage)
	for _, b := range t.answer.blocks {
		i := slices.IndexFunc(m.Content, func(c message.Block) bool { return c.Type == message.BlockToolCall && c.ID == b.id })
		switch {
		case m.StopReason == message.StopError:
		case b.kind != "toolcall" || b.isWhole():
			t.endBlock(b, json.RawMessage(b.text.String()))
		case i >= 0:
			t.endBlock(b, m.Content[i].Arguments)
		}
	}
	if m.Timestamp != t.answer.time {
		m = m.Clone()
		m.Timestamp = t.answer.time
	}
	t.write(begin("message_end").raw("message", Message(m)))
	t.answer, t.said = nil, m
	t.added = append(t.added, m)
	if !isFailed(m) {
		t.recovered = false
	}
}

// beginLate writes the start of an answer that ends without one: its attempt was told as failed,
// and no other one followed, because the wait was ended. The end is written when it is stored.
func (t *Translator) beginLate(m *message.Message) {
	switch {
	case t.answer != nil:
	case m == nil || m.Role != message.RoleAssistant: // a hook's, which nobody stores
		t.startAnswer(&message.Message{Role: message.RoleAssistant})
	default:
		t.startAnswer(m)
	}
}

// failAnswer writes the end of an answer that failed, and its start if nothing of it came.
func (t *Translator) failAnswer(m *message.Message) {
	if t.answer == nil {
		t.startAnswer(m)
	}
	t.finishAnswer(m)
}
