package anthropic

import (
	"slices"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

// notes finds what a model says between its calls, which some say in thoughts: each time in
// one of its own, right before the call. Without thinking there are no other thoughts. With
// it, the thought that a turn begins with is none; what comes later, before a call, may be one.
type notes struct {
	all    bool // every thought is one
	some   bool // one before a call is
	inside bool // the turn has begun
	last   int  // index of the block before this one
	maybe  bool // that block may be one
}

// newDecoder returns the decoder of the answer to a request.
func (a *api) newDecoder(r *llm.Request) provider.Decoder {
	d := &decoder{price: r.Model.Cost}
	if c, err := a.switches.Of(r.Model, compatOf); err == nil && c.adaptive && c.thinkingOff == betweenTools {
		d.notes = notes{all: !wantsThinking(r), some: wantsThinking(r), inside: isCalled(r.Messages)}
	}
	return d
}

// isCalled reports whether the last answer of a conversation has calls.
func isCalled(messages []*message.Message) bool {
	for _, m := range slices.Backward(messages) {
		if m.Role == message.RoleAssistant {
			return len(m.ToolCalls()) > 0
		}
	}
	return false
}

// before is told of each block that begins. It returns the index of the one before it, if
// that turns out to be a note.
func (n *notes) before(index int, kind string) (note int, ok bool) {
	note, ok = n.last, n.maybe && kind == "tool_use"
	n.last, n.maybe = index, n.some && n.inside && kind == "thinking"
	n.inside = true
	return note, ok
}
