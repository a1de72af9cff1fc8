package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"

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
	read    provider.Parser[event]
	items   items
}

// event is any event; Type says which fields it has.
type event struct {
	Type     string          `json:"type"`
	Output   int             `json:"output_index"`
	ItemID   string          `json:"item_id"`
	Content  int             `json:"content_index"`
	Summary  int             `json:"summary_index"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response *response       `json:"response"`
	Error    json.RawMessage `json:"error"`
}

type response struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage  json.RawMessage   `json:"usage"`
	Output []json.RawMessage `json:"output"`
}

// newDecoder returns the decoder of the answer to a request.
func (a *api) newDecoder(r *llm.Request) provider.Decoder {
	c, err := a.switches.Of(r.Model, compatOf)
	return &decoder{price: r.Model.Cost, charged: err == nil && c.UsageCost}
}

// Buffered is the size of the items.
func (d *decoder) Buffered() int { return d.items.early + len(d.items.byBlock)*perItem }

// perItem is the size of an item at least.
const perItem = 128

// End is called when the last event never came: nothing else ends an answer.
func (d *decoder) End(out []llm.Delta) ([]llm.Delta, error) { return out, provider.ErrCut }

// Event decodes an event. The error is one that the server reports, or that of an event
// that is no JSON.
func (d *decoder) Event(e sse.Event, out []llm.Delta) ([]llm.Delta, bool, error) {
	v, data, err := d.read.Parse(e)
	if data == nil || err != nil {
		return out, false, err
	}
	if v.Type == "error" || v.Type == "" && len(v.Error) > 0 && string(v.Error) != "null" {
		return out, false, &provider.Said{Body: bytes.Clone(data)}
	}
	d.out = out
	done, err := d.apply(v)
	return d.out, done, err
}

// apply adds the deltas of an event to out; events that are not named here have none.
// It reports the end.
func (d *decoder) apply(v *event) (bool, error) {
	switch v.Type {
	case "response.output_text.delta", "response.refusal.delta":
		d.out = d.items.text(d.items.ofPiece(v), v.Delta, d.out)
	case "response.reasoning_summary_text.delta":
		d.out = d.items.thought(d.items.ofPiece(v), summaryPart, v.Summary, v.Delta, d.out)
	case "response.reasoning_text.delta":
		d.out = d.items.thought(d.items.ofPiece(v), contentPart, v.Content, v.Delta, d.out)
	case "response.function_call_arguments.delta":
		d.out = d.items.arguments(d.items.ofPiece(v), v.Delta, d.out)
	case "response.output_item.added":
		var w wireItem
		if provider.Readable(json.Unmarshal(v.Item, &w)) {
			d.out = d.items.start(d.items.ofBeginning(v.Output, &w), &w, d.out)
		}
	case "response.output_item.done":
		var w wireItem
		if provider.Readable(json.Unmarshal(v.Item, &w)) {
			d.out = d.items.finish(d.items.ofWhole(v.Output, &w), &w, v.Item, d.out)
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		return true, d.end(v)
	}
	return false, nil
}

// end ends the answer: it emits what its items lack, the usage, and the stop, or
// returns the error of a response that failed.
func (d *decoder) end(v *event) error {
	r := v.Response
	if r == nil {
		r = &response{}
	}
	status := cmp.Or(r.Status, strings.TrimPrefix(v.Type, "response."))
	d.out = d.items.close(r.Output, d.out)
	var c counts
	if len(r.Usage) > len("null") && provider.Readable(json.Unmarshal(r.Usage, &c)) {
		d.emit(llm.Delta{Kind: llm.DeltaUsage, Usage: c.Of(d.price, c.usage(), d.charged)})
	}
	if status == "failed" || status == "cancelled" {
		return failure(status, r.Error)
	}
	d.emit(llm.Delta{Kind: llm.DeltaStop, Stop: d.stop(status, r.Incomplete.Reason)})
	return nil
}

func (d *decoder) emit(delta llm.Delta) { d.out = append(d.out, delta) }

// failure is the error of a response that failed. If the server gives none, asking again
// may help.
func failure(status string, said json.RawMessage) error {
	if len(said) > len("null") {
		return &provider.Said{Body: said}
	}
	code := status
	if status == "failed" {
		code = "server_error"
	}
	body, err := provider.Encode(map[string]string{"message": "the server gave up the answer", "code": code})
	return errors.Join(err, &provider.Said{Body: body})
}

// stop makes a stop of the status of the answer and the reason why it is incomplete.
// That there are calls is not a status of its own.
func (d *decoder) stop(status, reason string) llm.Stop {
	s := llm.Stop{Raw: status, Reason: message.StopEnd}
	switch {
	case status == "incomplete" && reason == "content_filter":
		s.Reason, s.Message = llm.StopRefusal, "the provider's content filter stopped the answer"
	case status == "incomplete":
		s.Reason = message.StopLength
	case d.items.calls > 0:
		s.Reason = message.StopToolUse
	}
	if status == "incomplete" && reason != "" {
		s.Raw += ":" + reason
	}
	return s
}

// counts is the usage object.
type counts struct {
	Input     int `json:"input_tokens"`
	Output    int `json:"output_tokens"`
	Total     int `json:"total_tokens"`
	InputMore struct {
		Cached int `json:"cached_tokens"`
		Write  int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputMore struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	provider.Charge
}

// usage maps counts. The input includes cached tokens, and the output the
// reasoning, except where the total says that reasoning comes on top.
func (c *counts) usage() message.Usage {
	u := message.Usage{Output: c.Output, CacheRead: c.InputMore.Cached, CacheWrite: c.InputMore.Write}
	u.Input = max(0, c.Input-u.CacheRead-u.CacheWrite)
	if r := c.OutputMore.Reasoning; r > 0 && c.Total == c.Input+c.Output+r {
		u.Output += r
	}
	return u
}
