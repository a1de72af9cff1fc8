package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/internal/sse"
	"pi/session/message"
)

// event is any event of a stream. Fields that a server fills with something of
// another type are left empty.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string  `json:"type"`
		Text        string  `json:"text"`
		Thinking    string  `json:"thinking"`
		Signature   string  `json:"signature"`
		PartialJSON string  `json:"partial_json"`
		StopReason  string  `json:"stop_reason"`
		Details     details `json:"stop_details"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type details struct {
	Explanation string `json:"explanation"`
}

// counts is the usage so far. A count that an event does not name keeps its
// value; events repeat counts, they never add to them.
type counts struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
}

// open is a tool call whose arguments may still come.
type open struct {
	input json.RawMessage // what the start of the block already had
	some  bool            // pieces came
}

// decoder reads one answer.
type decoder struct {
	price *llm.Price
	notes notes
	out   []llm.Delta
	read  provider.Parser[event]

	usage       message.Usage
	open        map[int]*open
	skip        map[int]bool // blocks of kinds we did not ask for
	buffered    int          // bytes of arguments with which calls began
	calls       int
	stopReason  string
	explanation string
}

// Buffered is the size of the blocks that are open or skipped.
func (d *decoder) Buffered() int { return d.buffered + (len(d.open)+len(d.skip))*perBlock }

// perBlock is the size of a block at least.
const perBlock = 64

// End is called when no message_stop came: then the answer is incomplete.
func (d *decoder) End(out []llm.Delta) ([]llm.Delta, error) { return out, provider.ErrCut }

// Event decodes an event. The error is one that the server reports, or that of an event
// that is no JSON.
func (d *decoder) Event(e sse.Event, out []llm.Delta) ([]llm.Delta, bool, error) {
	v, data, err := d.read.Parse(e)
	if data == nil || err != nil {
		return out, false, err
	}
	// A gateway that fails on the way reports it in a form of its own, without a type.
	if v.Type == "error" || v.Type == "" && len(v.Error) > 0 && string(v.Error) != "null" {
		return out, false, &provider.Said{Body: bytes.Clone(data)}
	}
	d.out = out
	done := d.apply(v)
	return d.out, done, nil
}

// apply adds the deltas of an event to out; unknown events have none. It reports the
// end.
func (d *decoder) apply(v *event) bool {
	switch v.Type {
	case "message_start":
		d.count(v.Message.Usage)
	case "content_block_start":
		d.start(v)
	case "content_block_delta":
		d.delta(v)
	case "content_block_stop":
		d.stopBlock(v.Index)
	case "message_delta":
		if v.Delta.StopReason != "" {
			d.stopReason, d.explanation = v.Delta.StopReason, v.Delta.Details.Explanation
		}
		d.count(v.Usage)
	case "message_stop":
		for index := range d.open {
			d.stopBlock(index)
		}
		d.emit(llm.Delta{Kind: llm.DeltaStop, Stop: d.stop()})
		return true
	}
	return false
}

func (d *decoder) emit(delta llm.Delta) { d.out = append(d.out, delta) }

func (d *decoder) emitText(kind llm.DeltaKind, index int, text string) {
	if text != "" {
		d.emit(llm.Delta{Kind: kind, Index: index, Text: text})
	}
}

// start begins a block and emits what its first event has of it. Pieces of blocks of
// unknown kinds are ignored from then on.
func (d *decoder) start(v *event) {
	if thought, ok := d.notes.before(v.Index, v.Block.Type); ok {
		d.emit(llm.Delta{Kind: llm.DeltaThinking, Index: thought, Spoken: true})
	}
	switch b := &v.Block; b.Type {
	case "text":
		d.emitText(llm.DeltaText, v.Index, b.Text)
	case "thinking":
		// Even without text: the block may be signed, and has its place among the others.
		d.emit(llm.Delta{Kind: llm.DeltaThinking, Index: v.Index, Text: b.Thinking, Spoken: d.notes.all})
		d.emitText(llm.DeltaSignature, v.Index, b.Signature)
	case "redacted_thinking":
		d.emit(llm.Delta{Kind: llm.DeltaRedacted, Index: v.Index, Text: b.Data})
	case "tool_use":
		d.calls++
		if d.open == nil {
			d.open = map[int]*open{}
		}
		d.open[v.Index] = &open{input: b.Input}
		d.buffered += len(b.Input)
		d.emit(llm.Delta{Kind: llm.DeltaToolCall, Index: v.Index, ID: b.ID, Name: b.Name})
	default:
		if d.skip == nil {
			d.skip = map[int]bool{}
		}
		d.skip[v.Index] = true
	}
}

// delta emits a piece of a block; nothing for blocks and pieces of unknown kinds.
func (d *decoder) delta(v *event) {
	if d.skip[v.Index] {
		return
	}
	switch v.Delta.Type {
	case "text_delta":
		d.emitText(llm.DeltaText, v.Index, v.Delta.Text)
	case "thinking_delta":
		if v.Delta.Thinking != "" {
			d.emit(llm.Delta{Kind: llm.DeltaThinking, Index: v.Index, Text: v.Delta.Thinking, Spoken: d.notes.all})
		}
	case "signature_delta":
		d.emitText(llm.DeltaSignature, v.Index, v.Delta.Signature)
	case "input_json_delta":
		if o := d.open[v.Index]; o != nil && v.Delta.PartialJSON != "" {
			o.some = true
			d.emitText(llm.DeltaToolCall, v.Index, v.Delta.PartialJSON)
		}
	}
}

// stopBlock ends a tool call. If none of its arguments came in pieces, it emits those
// that the start of the block had, or {} if there were none.
func (d *decoder) stopBlock(index int) {
	if o := d.open[index]; o != nil && !o.some {
		d.emitText(llm.DeltaToolCall, index, string(provider.Object(o.input)))
		o.some = true
	}
}

// count applies the counts of an event to the usage so far, and emits that. Without
// counts it emits nothing.
func (d *decoder) count(raw json.RawMessage) {
	var c counts
	if err := json.Unmarshal(raw, &c); !provider.Readable(err) {
		return // not there
	}
	set(&d.usage.Input, c.Input)
	set(&d.usage.Output, c.Output)
	set(&d.usage.CacheRead, c.CacheRead)
	set(&d.usage.CacheWrite, c.CacheWrite)
	d.emit(llm.Delta{Kind: llm.DeltaUsage, Usage: d.price.Of(d.usage)})
}

// set sets a count that is there.
func set(to, from *int) {
	if from != nil {
		*to = *from
	}
}

// stop maps the stop reason. Calls decide about tool use. A reason that is not known may be
// that of a filter, so the answer is not taken for a whole one; the words of another API
// that some servers use here are known.
func (d *decoder) stop() llm.Stop {
	s := llm.Stop{Raw: d.stopReason, Reason: llm.StopRefusal, Message: d.explanation}
	switch d.stopReason {
	case "end_turn", "stop_sequence", "tool_use", "", "stop", "tool_calls", "function_call":
		s.Reason = message.StopEnd
		if d.calls > 0 {
			s.Reason = message.StopToolUse
		}
	case "max_tokens", "model_context_window_exceeded", "length":
		s.Reason = message.StopLength
	case "pause_turn":
		s.Reason = llm.StopPause
	case "refusal", "sensitive":
		s.Message = cmp.Or(s.Message, "the model's safety system stopped the answer")
	case "content_filter":
		s.Message = cmp.Or(s.Message, "the provider's content filter stopped the answer")
	default:
		s.Message = cmp.Or(s.Message, provider.UnknownStop)
	}
	return s
}
