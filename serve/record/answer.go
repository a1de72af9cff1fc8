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
	last   *block // of the last delta
}

// block is a part of an answer, with its text so far.
type block struct {
	index    int
	kind     string // text thinking toolcall, as in the names of records
	text     strings.Builder
	id, name string // of a call
	ended    bool
}

// usageText is the JSON of the usage that came last.
type usageText struct {
	usage message.Usage
	text  []byte
}

// set makes usage the one that counts; nil leaves it as it is.
func (u *usageText) set(usage *message.Usage) {
	if usage != nil && *usage != u.usage {
		*u = usageText{*usage, Usage(usage)}
	}
}

// isFailed reports whether an answer is not one that the model has ended.
func isFailed(m *message.Message) bool {
	return m.StopReason == message.StopError || m.StopReason == message.StopAborted
}

// startAnswer writes the start of an answer. m is whole if nothing came before it failed.
func (t *Translator) startAnswer(m *message.Message) {
	t.cancelRetry()
	t.enterTurn()
	t.answer, t.usage = &answer{time: m.Timestamp}, usageText{text: Usage(nil)}
	t.usage.set(m.Usage)
	if !isFailed(m) {
		m = m.Clone()
		m.Content, m.StopReason, m.ErrorMessage = nil, "pending", ""
	}
	t.write(t.begin("message_start").raw("message", Message(m)))
}

// update writes a delta of the answer.
func (t *Translator) update(e *agent.MessageUpdate) {
	kind := kindOf(e.Delta.Kind)
	if kind == "" {
		return
	}
	if t.answer == nil { // its start was not seen
		t.startAnswer(e.Message())
	}
	t.usage.set(e.Delta.Usage)
	b := t.answer.last
	if b == nil || b.index != e.Delta.Index || b.kind != kind {
		b = t.block(e.Delta, kind)
	}
	if e.Delta.Text == "" {
		return
	}
	b.text.WriteString(e.Delta.Text)
	t.write(t.beginUpdate(b, "_delta").text("delta", e.Delta.Text).end())
}

// kindOf returns what the records call a block of such deltas; "" for deltas of none.
func kindOf(k llm.DeltaKind) string {
	switch k {
	case llm.DeltaText:
		return "text"
	case llm.DeltaThinking:
		return "thinking"
	case llm.DeltaToolCall:
		return "toolcall"
	}
	return ""
}

// beginUpdate begins a record about a block.
func (t *Translator) beginUpdate(b *block, what string) line {
	l := t.begin("message_update").raw("usage", t.usage.text).key("assistantMessageEvent")
	l = append(append(append(append(l, `{"type":"`...), b.kind...), what...), '"')
	return l.number("contentIndex", int64(b.index))
}

// block returns the block of a delta that does not belong to the same as the one before.
// What came before has ended then, but for a call that is not whole.
func (t *Translator) block(d llm.Delta, kind string) *block {
	a := t.answer
	i := slices.IndexFunc(a.blocks, func(b *block) bool { return b.index == d.Index && b.kind == kind })
	if i >= 0 {
		a.last = a.blocks[i]
		return a.last
	}
	for _, b := range a.blocks {
		if !b.ended && (b.kind != "toolcall" || b.isWhole()) {
			t.endBlock(b, json.RawMessage(b.text.String()))
		}
	}
	b := &block{index: d.Index, kind: kind, id: d.ID, name: d.Name}
	a.blocks, a.last = append(a.blocks, b), b
	l := t.beginUpdate(b, "_start")
	if kind == "toolcall" {
		l = l.text("id", b.id).text("toolName", b.name)
	}
	t.write(l.end())
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
	l := t.beginUpdate(b, "_end")
	if b.kind != "toolcall" {
		t.write(l.text("content", b.text.String()).end())
		return
	}
	call := message.Block{Type: message.BlockToolCall, ID: b.id, Name: b.name, Arguments: arguments}
	if raw, err := call.MarshalJSON(); err == nil {
		t.write(l.raw("toolCall", clean(raw)).end())
	}
}

// endBlocks writes the ends of the blocks of an answer that ended as m. Those of one that
// was cut off have none, nor has a call that is not whole.
func (t *Translator) endBlocks(m *message.Message) {
	if m.StopReason == message.StopError {
		return
	}
	t.usage.set(m.Usage)
	for _, b := range t.answer.blocks {
		i := slices.IndexFunc(m.Content, func(c message.Block) bool { return c.Type == message.BlockToolCall && c.ID == b.id })
		switch {
		case b.kind != "toolcall" || b.isWhole():
			t.endBlock(b, json.RawMessage(b.text.String()))
		case i >= 0:
			t.endBlock(b, m.Content[i].Arguments)
		}
	}
}

// noteEnd remembers an answer that has ended. What the session makes of it comes right
// behind, see endAnswer.
func (t *Translator) noteEnd(e *agent.MessageEnd) {
	m := e.Message
	if m == nil || m.Role != message.RoleAssistant {
		m = &message.Message{Role: message.RoleAssistant, StopReason: message.StopEnd}
	}
	if t.answer == nil {
		t.startAnswer(m)
	}
	t.ended = m
}

// endAnswer writes the end of an answer, if one has ended: as it is stored, if e says so,
// else as it was at its end.
func (t *Translator) endAnswer(e agent.Event) {
	if t.ended == nil {
		return
	}
	m := t.ended
	if stored, ok := e.(*agent.EntryAppended); ok && stored.Message != nil && stored.Message.Role == message.RoleAssistant {
		m = stored.Message
	}
	t.finishAnswer(m)
}

// finishAnswer writes the end of the answer that streams, which is m.
func (t *Translator) finishAnswer(m *message.Message) {
	t.ended = nil
	t.endBlocks(m)
	if m.Timestamp != t.answer.time {
		m = m.Clone()
		m.Timestamp = t.answer.time
	}
	t.answer = nil
	t.write(t.begin("message_end").raw("message", Message(m)))
	t.run.added, t.run.said = append(t.run.added, m), m
	if !isFailed(m) {
		t.overflow = overflow{}
	}
}
