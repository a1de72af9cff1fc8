package google

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/internal/sse"
	"pi/session/message"
)

// chunk is one event: a whole answer with only the new parts in it. Fields that a
// server fills with something of another type are left empty.
type chunk struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		BlockReason string `json:"blockReason"`
		Message     string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *counts         `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []answerPart `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

type answerPart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Image *struct{} `json:"inlineData"`
}

// counts is the usage so far. A count that an event does not name keeps its
// value; events repeat counts, they never add to them.
type counts struct {
	Prompt   *int `json:"promptTokenCount"`
	Cached   *int `json:"cachedContentTokenCount"`
	Answer   *int `json:"candidatesTokenCount"`
	Thoughts *int `json:"thoughtsTokenCount"`
}

// decoder reads one answer.
type decoder struct {
	price *llm.Price
	tools []llm.ToolSpec // that the model knows
	out   []llm.Delta
	read  provider.Parser[chunk]

	index int           // of the current block
	kind  llm.DeltaKind // of the block that grows; DeltaPing: the next piece begins one
	calls int
	used  [4]int // the counts, in the order of their fields

	finish, finishMessage   string
	blocked, blockedMessage string // the prompt was refused
}

// End is called when the stream is over: there is no end mark, only a reason in
// one of the last events.
func (d *decoder) End(out []llm.Delta) ([]llm.Delta, error) {
	d.out = out
	if d.finish == "" && d.blocked == "" {
		return d.out, provider.ErrCut
	}
	if broken[d.finish] {
		// An error in the form in which the service reports one.
		text := cmp.Or(d.finishMessage, "the model's answer went wrong: "+d.finish)
		body, err := provider.Encode(map[string]any{"error": map[string]string{"type": d.finish, "message": text}})
		if err == nil {
			err = &provider.Said{Body: body}
		}
		return d.out, err
	}
	d.emit(llm.Delta{Kind: llm.DeltaStop, Stop: d.stop()})
	return d.out, nil
}

// Event decodes an event, which is never known to be the last. The error is one that the
// server reports, or that of an event that is no JSON.
func (d *decoder) Event(e sse.Event, out []llm.Delta) ([]llm.Delta, bool, error) {
	if data := bytes.TrimSpace(e.Data); bytes.HasPrefix(data, []byte("[{")) {
		return out, false, &provider.Said{Body: bytes.Clone(data)}
	}
	c, data, err := d.read.Parse(e)
	if data == nil || err != nil {
		return out, false, err
	}
	d.out = out
	d.apply(c, data)
	if len(c.Error) > 0 && string(c.Error) != "null" {
		err = &provider.Said{Body: bytes.Clone(data)}
	}
	return d.out, false, err
}

// apply adds the deltas of a chunk to out, and notes why the answer ended or the prompt
// was refused. data is the chunk's text.
func (d *decoder) apply(c *chunk, data []byte) {
	for i := range c.Candidates {
		candidate := &c.Candidates[i]
		if candidate.Index != 0 {
			continue
		}
		for n := range candidate.Content.Parts {
			d.part(&candidate.Content.Parts[n], n, data)
		}
		if candidate.FinishReason != "" {
			d.finish, d.finishMessage = candidate.FinishReason, candidate.FinishMessage
		}
	}
	if c.Feedback.BlockReason != "" {
		d.blocked, d.blockedMessage = c.Feedback.BlockReason, c.Feedback.Message
	}
	if c.Usage != nil {
		d.count(c.Usage)
	}
}

// part emits part i of an event, whose text is data: a call, a text, or another part
// that is signed. Others, as images, are left out.
func (d *decoder) part(p *answerPart, i int, data []byte) {
	switch {
	case p.Call != nil:
		d.call(p)
	case p.Text != nil:
		d.text(p)
	case p.Signature != "" && p.Image == nil:
		d.emitWhole(i, data)
	}
}

func (d *decoder) emit(delta llm.Delta) { d.out = append(d.out, delta) }

// next begins a block.
func (d *decoder) next(kind llm.DeltaKind) {
	d.index++
	d.kind = kind
}

// sign ends a block with its signature.
func (d *decoder) sign(signature string) {
	if signature != "" {
		d.emit(llm.Delta{Kind: llm.DeltaSignature, Index: d.index, Text: signature})
		d.kind = llm.DeltaPing
	}
}

// text adds to the current block. A signed piece is a block of its own, even if it is
// empty.
func (d *decoder) text(p *answerPart) {
	kind := llm.DeltaText
	if p.Thought {
		kind = llm.DeltaThinking
	}
	if *p.Text == "" && p.Signature == "" {
		return
	}
	if d.kind != kind || p.Signature != "" {
		d.next(kind)
	}
	d.emit(llm.Delta{Kind: kind, Index: d.index, Text: *p.Text})
	d.sign(p.Signature)
}

// call emits a call, which always comes whole, with a made-up id if it has none.
func (d *decoder) call(p *answerPart) {
	id, args := p.Call.ID, "{}"
	if id == "" {
		id = made + strings.ToLower(rand.Text()[:16])
	}
	if raw := bytes.TrimSpace(p.Call.Args); len(raw) > 0 && string(raw) != "null" {
		args = string(raw)
	}
	d.calls++
	d.next(llm.DeltaToolCall)
	d.emit(llm.Delta{Kind: llm.DeltaToolCall, Index: d.index, ID: id, Name: d.toolName(p.Call.Name), Text: args})
	d.sign(p.Signature)
}

// toolName is the name of the tool that the model calls by the name that it was sent
// under, see wireName; one that no tool has stays as it is.
func (d *decoder) toolName(wire string) string {
	name := wire
	for i := range d.tools {
		switch t := &d.tools[i]; wire {
		case t.Name:
			return wire
		case wireName(t.Name):
			name = t.Name
		}
	}
	return name
}

// emitWhole emits part i of an event as it is, as the signature of a thought without
// text.
func (d *decoder) emitWhole(i int, data []byte) {
	var raw struct {
		Candidates []struct {
			Index   int `json:"index"`
			Content struct {
				Parts []json.RawMessage `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
	}
	if err := json.Unmarshal(data, &raw); !provider.Readable(err) {
		return
	}
	for _, c := range raw.Candidates {
		if c.Index == 0 && i < len(c.Content.Parts) {
			d.next(llm.DeltaThinking)
			d.sign(string(provider.Object(c.Content.Parts[i])))
			return
		}
	}
}

// count sums up the usage. The prompt includes what was cached, and the answer
// does not include the thoughts. The input of the service's own tools is not
// counted: they are never asked for.
func (d *decoder) count(c *counts) {
	known := false
	for i, n := range []*int{c.Prompt, c.Cached, c.Answer, c.Thoughts} {
		if n != nil {
			d.used[i], known = max(*n, 0), true
		}
	}
	if !known {
		return
	}
	prompt, cached, answer, thoughts := d.used[0], d.used[1], d.used[2], d.used[3]
	u := message.Usage{Input: max(prompt-cached, 0), CacheRead: cached, Output: answer + thoughts}
	d.emit(llm.Delta{Kind: llm.DeltaUsage, Usage: d.price.Of(u)})
}

// broken are the reasons of an answer that went wrong by itself: asking again
// may help. It is never written to.
var broken = map[string]bool{
	"MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true, "TOO_MANY_TOOL_CALLS": true,
	"MALFORMED_RESPONSE": true, "MISSING_THOUGHT_SIGNATURE": true, "OTHER": true, "IMAGE_OTHER": true, "NO_IMAGE": true,
}

// stop maps the reason. Calls decide about tool use. There is one reason of a whole answer;
// one that is not known may be that of a filter.
func (d *decoder) stop() llm.Stop {
	s := llm.Stop{Raw: d.finish, Reason: llm.StopRefusal, Message: d.finishMessage}
	switch strings.ToUpper(d.finish) {
	case "":
		return llm.Stop{Raw: "BLOCKED:" + d.blocked, Reason: llm.StopRefusal,
			Message: cmp.Or(d.blockedMessage, "the service refused the prompt")}
	case "STOP", "FINISH_REASON_UNSPECIFIED":
		s.Reason, s.Message = message.StopEnd, ""
		if d.calls > 0 {
			s.Reason = message.StopToolUse
		}
	case "MAX_TOKENS":
		s.Reason, s.Message = message.StopLength, ""
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		s.Message = cmp.Or(s.Message, "the service stopped the answer")
	default:
		s.Message = cmp.Or(s.Message, provider.UnknownStop)
	}
	return s
}
