package wiretest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Bound is a request of the messages API to a model that binds its thoughts to what stands
// before them, and then the answer to it, as far as it has come. The signature of a thought
// is a hash of all that: system prompt, tools, and the blocks of the messages, without cache
// markers. A thought that was dropped does not count.
type Bound struct {
	Kept, Dropped int // thoughts of earlier answers
	sum           [sha256.Size]byte
}

// What the server says of a thought that does not fit, and then to who has not allowed the
// field with the beta header.
const (
	boundElsewhere = "The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	bindingBeta    = "thinking-binding-controls-2026-08-01"
	wantsBeta      = " That setting requires the `" + bindingBeta + "` value in the `anthropic-beta` header."
)

// CheckBound checks the thoughts in a request: each has to have the signature that it got
// where it stands now. One that has not is dropped if the request says so, with the field
// and with the beta header that allows the field; else the error is that of the server.
func CheckBound(beta string, body []byte) (*Bound, error) {
	var q struct {
		Thinking struct {
			Type    string
			Binding *struct {
				Mismatch string `json:"prefix_mismatch_behavior"`
			} `json:"block_binding"`
		}
		System, Tools any
		Messages      []struct {
			Role    string
			Content []map[string]any
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	drop := q.Thinking.Binding != nil
	hasBeta := strings.Contains(beta, bindingBeta)
	allowed := hasBeta && (q.Thinking.Type == "adaptive" || q.Thinking.Type == "enabled")
	if drop && !allowed {
		return nil, fmt.Errorf("thinking.%s.block_binding: Extra inputs are not permitted", q.Thinking.Type)
	}
	if drop && q.Thinking.Binding.Mismatch != "drop_block" {
		return nil, errors.New("thinking.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'")
	}
	b := &Bound{}
	b.add(q.System)
	b.add(q.Tools)
	for i, m := range q.Messages {
		for k, block := range m.Content {
			kind, _ := block["type"].(string)
			field := map[string]string{"thinking": "signature", "redacted_thinking": "data"}[kind]
			switch {
			case field == "":
			case block[field] == b.signature():
				b.Kept++
			case drop:
				b.Dropped++
				continue
			default:
				said := boundElsewhere
				if !hasBeta {
					said += wantsBeta
				}
				return nil, fmt.Errorf("messages.%d.content.%d: Invalid `%s` in `%s` block. %s", i, k, field, kind, said)
			}
			b.add(block)
		}
	}
	return b, nil
}

// Think adds a thought to the answer and returns its signature.
func (b *Bound) Think(text string) (signature string) {
	signature = b.signature()
	b.add(map[string]any{"type": "thinking", "thinking": text, "signature": signature})
	return signature
}

// Text adds a text to the answer.
func (b *Bound) Text(text string) { b.add(map[string]any{"type": "text", "text": text}) }

// Call adds a call of a tool to the answer, with arguments that are a JSON object.
func (b *Bound) Call(id, name, arguments string) {
	b.add(map[string]any{"type": "tool_use", "id": id, "name": name, "input": json.RawMessage(arguments)})
}

// signature is that of a thought which stands here.
func (b *Bound) signature() string { return "bound" + hex.EncodeToString(b.sum[:]) }

// add adds a part of the request to what thoughts behind it are bound to.
func (b *Bound) add(part any) {
	var value any
	raw, err := json.Marshal(part)
	if err = errors.Join(err, json.Unmarshal(raw, &value)); err == nil {
		dropMarkers(value)
		raw, err = json.Marshal(value)
	}
	if err != nil {
		panic(err) // what is not JSON is in no request, and in no answer of a test
	}
	b.sum = sha256.Sum256(bytes.Join([][]byte{b.sum[:], raw}, nil))
}

// dropMarkers removes the cache markers from a JSON value, however deep.
func dropMarkers(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for _, inner := range v {
			dropMarkers(inner)
		}
	case []any:
		for _, inner := range v {
			dropMarkers(inner)
		}
	}
}
