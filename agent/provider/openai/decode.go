package openai

import (
	"bytes"
	"encoding/json"
	"errors"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/internal/sse"
	"pi/session/message"
)

// decoder reads one answer.
type decoder struct {
	price   *llm.Price
	charged bool // the usage says what the request cost
	out     []llm.Delta
	read    provider.Parser[chunk]

	field    string // the name under which thinking came
	details  details
	calls    calls
	refusal  []byte
	finish   string // the first finish reason
	finished bool   // there was an end mark
}

// newDecoder returns the decoder of the answer to a request.
func (a *api) newDecoder(r *llm.Request) provider.Decoder {
	c, err := a.switches.Of(r.Model, compatOf)
	return &decoder{price: r.Model.Cost, charged: err == nil && c.UsageCost}
}

func (d *decoder) Event(e sse.Event, out []llm.Delta) ([]llm.Delta, bool, error) {
	d.out = out
	done, err := d.event(e)
	return d.out, done, err
}

// event decodes an event and adds its deltas to out. It reports whether the answer is
// complete. The error is one that the server reports, or that of an event that is no
// JSON.
func (d *decoder) event(e sse.Event) (bool, error) {
	if e.Name != "error" && string(bytes.TrimSpace(e.Data)) == "[DONE]" {
		d.finished = true
		return true, d.close()
	}
	c, data, err := d.read.Parse(e)
	if _, garbled := err.(*provider.Garbled); garbled && d.finish != "" {
		return false, nil // the answer is complete; what follows adds counts at most
	}
	if data == nil || err != nil {
		return false, err
	}
	return false, d.chunk(c, data)
}

// End is called at the end of a stream without a mark; a finish reason will do.
func (d *decoder) End(out []llm.Delta) ([]llm.Delta, error) {
	d.out = out
	if d.finish == "" && !d.finished {
		return d.out, provider.ErrCut
	}
	err := d.close()
	return d.out, err
}

// chunk emits the deltas of an event, whose text is data; the error is the one that it
// reports.
func (d *decoder) chunk(c *chunk, data []byte) error {
	var first *choice // of several, only the first one counts
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			first = &c.Choices[i]
			break
		}
	}
	if first == nil {
		first = &choice{}
	}
	d.choice(first)
	d.usage(c, first)
	switch {
	case present(c.Error), c.Object == "error":
		return &provider.Said{Body: bytes.Clone(data)}
	case present(first.Error):
		return &provider.Said{Body: bytes.Clone(first.Error)}
	}
	return nil
}

// choice emits the deltas of a choice, and notes its refusal and the first reason why
// it ended.
func (d *decoder) choice(c *choice) {
	d.thinking(&c.Delta)
	if text := c.Delta.Content.text; text != "" {
		d.emit(llm.Delta{Kind: llm.DeltaText, Index: textIndex, Text: text})
	}
	d.refusal = append(d.refusal, c.Delta.Refusal...)
	for i := range c.Delta.ToolCalls {
		d.out = d.calls.add(&c.Delta.ToolCalls[i], d.out)
	}
	if d.finish == "" {
		d.finish = c.FinishReason
	}
}

// Buffered is the size of the refusal, the details of thoughts and the calls without a
// name.
func (d *decoder) Buffered() int { return len(d.refusal) + d.details.buffered + d.calls.buffered }

func (d *decoder) emit(delta llm.Delta) { d.out = append(d.out, delta) }

// thinking emits the text of the first field that has one: several servers send the
// same thought in two.
func (d *decoder) thinking(c *delta) {
	detailed := d.details.add(c.ReasoningDetails)
	field, text := "", ""
	switch {
	case c.ReasoningContent != "":
		field, text = "reasoning_content", c.ReasoningContent
	case c.Reasoning != "":
		field, text = "reasoning", c.Reasoning
	case c.ReasoningText != "":
		field, text = "reasoning_text", c.ReasoningText
	case detailed != "":
		field, text = "", detailed
	case c.Content.thinking != "":
		field, text = "content", c.Content.thinking
	}
	if d.field == "" {
		d.field = field
	}
	if text != "" || len(c.ReasoningDetails) > 0 {
		d.emit(llm.Delta{Kind: llm.DeltaThinking, Index: thinkingIndex, Text: text})
	}
}

// usage emits the usage of a chunk, if it has one: servers put it in one of three
// places.
func (d *decoder) usage(c *chunk, first *choice) {
	for _, raw := range []json.RawMessage{c.Usage, c.Groq.Usage, first.Usage} {
		if !present(raw) {
			continue
		}
		var n counts
		if err := json.Unmarshal(raw, &n); provider.Readable(err) {
			d.emit(llm.Delta{Kind: llm.DeltaUsage, Usage: n.Of(d.price, n.usage(), d.charged)})
		}
		return
	}
}

// close ends the answer: the signature of the thought, what calls lack, and the stop.
func (d *decoder) close() error {
	// The next request sends the thought back as details where these contain what only
	// the server understands, or where it came under no other name; else under its name.
	signature := d.field
	if d.details.isOpaque() || signature == "" {
		signature = d.details.String()
	}
	if signature != "" {
		d.emit(llm.Delta{Kind: llm.DeltaSignature, Index: thinkingIndex, Text: signature})
	}
	d.out = d.calls.close(d.out)
	stop, err := d.stop()
	if err == nil {
		d.emit(llm.Delta{Kind: llm.DeltaStop, Stop: stop})
	}
	return err
}

// stop maps the finish reason. What counts for tool use is that there are calls:
// servers name all kinds of reasons then, or none.
func (d *decoder) stop() (llm.Stop, error) {
	s := llm.Stop{Raw: d.finish, Message: string(d.refusal)}
	switch d.finish {
	case "length", "model_length", "max_tokens":
		s.Reason = message.StopLength
	case "content_filter", "sensitive", "refusal":
		s.Reason = llm.StopRefusal
		if s.Message == "" {
			s.Message = "the provider's content filter stopped the answer"
		}
	case "error", "network_error", "insufficient_system_resource":
		body, err := provider.Encode(map[string]string{"message": "the server gave up the answer: " + d.finish, "code": d.finish})
		return s, errors.Join(err, &provider.Said{Body: body})
	default:
		s.Reason = message.StopEnd
		if len(d.calls.list) > 0 {
			s.Reason = message.StopToolUse
		} else if len(d.refusal) > 0 {
			s.Reason = llm.StopRefusal
		}
	}
	return s, nil
}
