package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"pi/session/message"
)

// Assembly joins the deltas of one answer into its message. The zero value is
// ready; it is not safe for concurrent use.
type Assembly struct {
	order  []int
	blocks map[int]*openBlock
	usage  *message.Usage
	stop   Stop
}

type openBlock struct {
	kind      DeltaKind // of its first delta; a signature alone leaves it open
	text      longText
	signature longText
	id, name  string
}

// Add adds the next delta.
func (a *Assembly) Add(d Delta) {
	switch d.Kind {
	case DeltaUsage:
		a.usage = d.Usage
	case DeltaStop:
		a.stop = d.Stop
	case DeltaText, DeltaThinking, DeltaToolCall:
		b := a.block(d)
		b.text.add(d.Text)
		if d.ID != "" {
			b.id = d.ID
		}
		if d.Name != "" {
			b.name = d.Name
		}
	case DeltaWhole:
		b := a.block(d)
		b.text.reset()
		b.text.add(d.Text)
	case DeltaRedacted, DeltaSignature:
		a.block(d).signature.add(d.Text)
	}
}

// block returns the block that d belongs to, and adds it if d is its first delta. A block
// that began with a signature gets its kind from the next delta.
func (a *Assembly) block(d Delta) *openBlock {
	if b := a.blocks[d.Index]; b != nil {
		if b.kind == DeltaSignature {
			b.kind = d.Kind
		}
		return b
	}
	if a.blocks == nil {
		a.blocks = map[int]*openBlock{}
	}
	b := &openBlock{kind: d.Kind}
	a.blocks[d.Index] = b
	a.order = append(a.order, d.Index)
	return b
}

// Position is the index of the block of a delta among the blocks, from 0; -1 if nothing of
// it was added.
func (a *Assembly) Position(d Delta) int { return slices.Index(a.order, d.Index) }

// Stop returns how the answer ended. Its Reason is empty as long as it has not.
func (a *Assembly) Stop() Stop { return a.stop }

// Usage is the last usage that was added, or nil.
func (a *Assembly) Usage() *message.Usage { return a.usage }

// Content returns the blocks so far. Tool calls whose arguments are not (yet) a
// JSON object come with arguments {} and are listed in broken by their id.
func (a *Assembly) Content() (content []message.Block, broken map[string]string) {
	for _, i := range a.order {
		b := a.blocks[i]
		block, ok := b.block()
		if !ok {
			if broken == nil {
				broken = map[string]string{}
			}
			broken[block.ID] = b.text.String()
		}
		if block.Type == message.BlockToolCall || block.Text != "" || block.Signature != "" {
			content = append(content, block)
		}
	}
	return content, broken
}

// Shorten cuts the thoughts and texts of the answer to room bytes in all, removes its tool
// calls, and frees the memory of what it drops.
func (a *Assembly) Shorten(room int) {
	for _, i := range a.order {
		b := a.blocks[i]
		text := b.text.head(room + 1)
		a.blocks[i] = &openBlock{kind: b.kind}
		if b.kind == DeltaToolCall {
			continue
		}
		if len(text) > room {
			text = strings.ToValidUTF8(text[:room], "") + " …"
		}
		a.blocks[i].text.add(text)
		room = max(0, room-len(text))
	}
	a.order = slices.DeleteFunc(a.order, func(i int) bool { return a.blocks[i].text.empty() })
}

// TakeUsage removes the last usage that was added and returns it; nil if there is none.
func (a *Assembly) TakeUsage() *message.Usage {
	used := a.usage
	a.usage = nil
	return used
}

// block returns the block as far as it has come. ok is false for a tool call whose
// arguments are not a complete JSON object.
func (b *openBlock) block() (block message.Block, ok bool) {
	text, signature := b.text.String(), b.signature.String()
	switch b.kind {
	case DeltaToolCall:
		args, ok := arguments(text)
		return message.Block{Type: message.BlockToolCall, ID: b.id, Name: b.name, Arguments: args, Signature: signature}, ok
	case DeltaThinking, DeltaSignature:
		return message.Block{Type: message.BlockThinking, Text: text, Signature: signature}, true
	case DeltaRedacted:
		return message.Block{Type: message.BlockThinking, Redacted: true, Signature: signature}, true
	default:
		return message.Block{Type: message.BlockText, Text: text, Signature: signature}, true
	}
}

// arguments parses the arguments of a call. An empty text and null mean no arguments; ok is
// false for anything else that is not an object.
func arguments(text string) (args json.RawMessage, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return json.RawMessage(`{}`), true
	}
	if text[0] != '{' || !json.Valid([]byte(text)) {
		return json.RawMessage(`{}`), false
	}
	return json.RawMessage(text), true
}
