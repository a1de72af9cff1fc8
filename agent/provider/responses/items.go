package responses

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// items are the items of an answer. A finished item comes again as a whole, which then
// counts. See places.go for which item an event is about.
type items struct {
	byBlock map[int]*outputItem    // by the index of its block
	newest  map[int]*outputItem    // by its index in the answer, which several may share
	byID    map[string]*outputItem // the last one with that id
	byCall  map[string]*outputItem // and with that id of a call
	last    int                    // the highest index of a block
	placed  int                    // all items below have their place among the blocks
	calls   int                    // how many began
	early   int                    // bytes of arguments with which calls began
	ids     map[string]bool        // of calls, as they are told
}

// outputItem is one item; it becomes one block.
type outputItem struct {
	index  int // in the answer
	block  int
	kind   kind
	open   bool // its first delta was sent
	done   bool
	sent   strings.Builder
	itemID string
	callID string
	name   string   // of a call
	early  string   // arguments that a call began with
	parts  partKind // where its thoughts come from
	part   int      // the one at hand
}

// emit sends a piece of an item. Blocks are in the order of their first delta, so items
// before it that are still to come get their place first.
func (l *items) emit(it *outputItem, d llm.Delta, out []llm.Delta) []llm.Delta {
	const far = 100 // so many items in a row are never missing
	l.placed = max(l.placed, it.block-far)
	for ; l.placed < it.block; l.placed++ {
		before := l.byBlock[l.placed]
		if before == nil {
			before = l.add(l.placed)
		}
		if !before.open && !before.done && before.kind != other {
			before.open = true
			out = append(out, llm.Delta{Kind: llm.DeltaSignature, Index: l.placed})
		}
	}
	it.open = true
	it.sent.WriteString(d.Text)
	d.Index = it.block
	return append(out, d)
}

// is reports whether more of kind k may be added to the item. An item whose kind is not
// known yet becomes one of that kind; one that is done accepts nothing.
func (it *outputItem) is(k kind) bool {
	if it.kind == unknown {
		it.kind = k
	}
	return it.kind == k && !it.done
}

// text emits a piece of a message; nothing if the item is of another kind, or finished.
func (l *items) text(it *outputItem, text string, out []llm.Delta) []llm.Delta {
	if text == "" || !it.is(answer) {
		return out
	}
	return l.emit(it, llm.Delta{Kind: llm.DeltaText, Text: text}, out)
}

// thought adds a piece of a thought. Its parts are separated by a blank line.
func (l *items) thought(it *outputItem, parts partKind, part int, text string, out []llm.Delta) []llm.Delta {
	if text == "" || !it.is(thinking) || it.parts != noPart && it.parts != parts {
		return out
	}
	if it.sent.Len() > 0 && it.part != part {
		text = separator + text
	}
	it.parts, it.part = parts, part
	return l.emit(it, llm.Delta{Kind: llm.DeltaThinking, Text: text}, out)
}

// arguments emits a piece of the arguments of a call; nothing if the item is of another
// kind, or finished.
func (l *items) arguments(it *outputItem, text string, out []llm.Delta) []llm.Delta {
	if text == "" || !it.is(call) || it.name == "" {
		return out // a call without a name waits for the finished item
	}
	return l.emit(it, llm.Delta{Kind: llm.DeltaToolCall, Text: text}, out)
}

// start stores the ids of an item, whose kind is known from now on, and sends the first
// delta of a call.
func (l *items) start(it *outputItem, w *wireItem, out []llm.Delta) []llm.Delta {
	if !it.is(w.kind()) {
		return out
	}
	l.name(it, w)
	if it.kind == call {
		return l.open(it, w, out)
	}
	return out
}

// open sends the first delta of a call, as soon as it has a name. Its id is
// final then: one that is missing, or was given to another call, is made.
func (l *items) open(it *outputItem, w *wireItem, out []llm.Delta) []llm.Delta {
	if it.name != "" || w.Name == "" {
		return out
	}
	id := callID(w.CallID, w.ID)
	if w.CallID == "" || l.ids[id] {
		id = callID("call_"+rand.Text()[:16], w.ID)
	}
	if l.ids == nil {
		l.ids = map[string]bool{}
	}
	l.ids[id] = true
	l.calls++
	it.name, it.early = w.Name, string(w.Arguments)
	l.early += len(it.early)
	return l.emit(it, llm.Delta{Kind: llm.DeltaToolCall, ID: id, Name: w.Name}, out)
}

// finish sends what was not sent of an item, which raw has as a whole, and its
// signature. Pieces of it that come later are ignored.
func (l *items) finish(it *outputItem, w *wireItem, raw json.RawMessage, out []llm.Delta) []llm.Delta {
	out = l.start(it, w, out)
	if !it.is(w.kind()) {
		return out
	}
	switch it.kind {
	case answer:
		out = l.sendRest(it, llm.DeltaText, w.text(), out)
		out = l.sign(it, signText(w.ID, w.Phase), out)
	case thinking:
		out = l.sendRest(it, llm.DeltaThinking, w.thought(it.parts), out)
		out = l.sign(it, string(provider.CleanJSON(bytes.TrimSpace(raw))), out)
	case call:
		out = l.sendRest(it, llm.DeltaToolCall, string(w.Arguments), out)
	}
	it.done = true
	return out
}

// sendRest sends what was not sent of a text that is known as a whole by now. If the
// pieces that were sent are not its beginning, the whole text replaces them.
func (l *items) sendRest(it *outputItem, k llm.DeltaKind, text string, out []llm.Delta) []llm.Delta {
	if text == "" || k == llm.DeltaToolCall && it.name == "" {
		return out
	}
	sent := it.sent.String()
	rest, more := strings.CutPrefix(text, sent)
	switch {
	case more && rest == "", k == llm.DeltaToolCall && isSameJSON(sent, text):
		return out
	case more:
		return l.emit(it, llm.Delta{Kind: k, Text: rest}, out)
	}
	it.sent.Reset()
	return l.emit(it, llm.Delta{Kind: llm.DeltaWhole, Text: text}, out)
}

// sign sends the signature of an item. A message without text has none: there is
// no block that could carry it.
func (l *items) sign(it *outputItem, signature string, out []llm.Delta) []llm.Delta {
	if signature == "" || it.kind == answer && it.sent.Len() == 0 {
		return out
	}
	if it.kind == thinking && !it.open {
		out = l.emit(it, llm.Delta{Kind: llm.DeltaThinking}, out)
	}
	return append(out, llm.Delta{Kind: llm.DeltaSignature, Index: it.block, Text: signature})
}

// close finishes the items that were not, out of the list at the end of the answer, and
// adds the calls that only the list has, if it is sure that no call runs twice for it. An
// answer without a single event about items is the list alone.
func (l *items) close(output []json.RawMessage, out []llm.Delta) []llm.Delta {
	all, sure := len(l.byBlock) == 0, l.tellsCalls()
	list, listed, told := map[int]*wireItem{}, map[string]bool{}, map[*outputItem]bool{}
	for place, raw := range output {
		var w wireItem
		if provider.Readable(json.Unmarshal(raw, &w)) {
			list[place], listed[w.CallID] = &w, true
		}
	}
	for place, raw := range output {
		w := list[place]
		if w == nil {
			continue
		}
		it := l.unfinished(place, w)
		if it == nil && (all || sure && l.lacks(w, listed, told)) {
			it = l.add(place)
		}
		if it != nil {
			out = l.finish(it, w, raw, out)
		}
	}
	for _, it := range l.byBlock {
		if it.kind == call && it.sent.Len() == 0 {
			out = l.sendRest(it, llm.DeltaToolCall, it.early, out)
		}
	}
	return out
}
