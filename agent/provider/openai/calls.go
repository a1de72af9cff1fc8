package openai

import (
	"crypto/rand"
	"strings"

	"pi/agent/llm"
)

// calls joins the pieces of tool calls. Servers number them, or do not, or
// number all of them zero; they repeat id and name, or leave them empty.
type calls struct {
	list     []*call
	byIndex  map[int]*call
	buffered int // bytes of arguments that were not sent, and of calls without a name
}

type call struct {
	index    int // block index
	id, name string
	started  bool            // its first delta was sent
	unsent   strings.Builder // arguments that were not sent yet
	some     bool            // there were arguments
}

// add adds a piece to the call that it belongs to, and appends to out what can be sent
// of that: nothing until its name is known.
func (c *calls) add(p *callPiece, out []llm.Delta) []llm.Delta {
	k := c.find(p)
	if k == nil {
		k = c.open(p)
	}
	if k.id == "" {
		k.id = p.ID
	}
	if k.name == "" {
		k.name = p.Function.Name
	}
	k.unsent.WriteString(string(p.Function.Arguments))
	if k.name == "" {
		c.buffered += len(p.Function.Arguments) + len(p.ID)
		return out // the first delta of a call needs its name
	}
	return c.emit(k, out)
}

// find returns the open call that a piece belongs to; nil: it begins one. An id
// that differs begins one only together with a name, for some proxies give every
// piece another id.
func (c *calls) find(p *callPiece) *call {
	var k *call
	switch {
	case p.Index != nil:
		k = c.byIndex[*p.Index]
	case p.ID != "":
		k = c.byID(p.ID)
		if k == nil && p.Function.Name == "" {
			k = c.last()
		}
		return k
	case p.Function.Name == "":
		return c.last()
	}
	if k != nil && p.ID != "" && p.ID != k.id && k.id != "" && p.Function.Name != "" {
		return nil
	}
	return k
}

// nameless is the size of a call or an item besides its texts.
const nameless = 64

// byID is the first call with that id; nil if there is none.
func (c *calls) byID(id string) *call {
	for _, k := range c.list {
		if k.id == id {
			return k
		}
	}
	return nil
}

// last is the newest call; nil if there is none.
func (c *calls) last() *call {
	if len(c.list) == 0 {
		return nil
	}
	return c.list[len(c.list)-1]
}

// open begins a call with its first piece.
func (c *calls) open(p *callPiece) *call {
	k := &call{index: callsIndex + len(c.list), id: p.ID}
	c.buffered += nameless
	c.list = append(c.list, k)
	if p.Index != nil {
		if c.byIndex == nil {
			c.byIndex = map[int]*call{}
		}
		c.byIndex[*p.Index] = k
	}
	return k
}

// emit appends the arguments that were not sent yet to out. With the first of them the
// id becomes final: one that is missing, or was given to another call of the same
// answer, is made up.
func (c *calls) emit(k *call, out []llm.Delta) []llm.Delta {
	d := llm.Delta{Kind: llm.DeltaToolCall, Index: k.index, Text: k.unsent.String()}
	k.some = k.some || d.Text != ""
	k.unsent.Reset()
	if !k.started {
		k.started = true
		if k.id == "" || c.byID(k.id) != k {
			k.id = "call_" + rand.Text()[:16]
		}
		d.ID, d.Name = k.id, k.name
	} else if d.Text == "" {
		return out
	}
	return append(out, d)
}

// close ends all calls: it sends those that have no name, and {} for those without
// arguments.
func (c *calls) close(out []llm.Delta) []llm.Delta {
	for _, k := range c.list {
		if !k.some && k.unsent.Len() == 0 {
			k.unsent.WriteString("{}")
		}
		out = c.emit(k, out)
	}
	return out
}

// Block indexes. Text and thinking have one block each, wherever their pieces
// come; calls follow.
const (
	thinkingIndex = iota
	textIndex
	callsIndex
)
