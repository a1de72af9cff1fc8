package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Content and arguments on their way back from Lua.

// Content reads message content: a string, or a list of blocks.
func (c *Converter) Content(L *lua.LState, v lua.LValue, name string) ([]message.Block, error) {
	switch v := v.(type) {
	case lua.LString:
		return []message.Block{message.TextBlock(string(v))}, nil
	case *lua.LTable:
		return c.BlocksFrom(L, v, name)
	}
	return nil, fmt.Errorf("%s: expected a string or a list of blocks, got %s", name, v.Type())
}

// BlocksFrom reads a list of content blocks; name is what errors call it.
func (c *Converter) BlocksFrom(L *lua.LState, v lua.LValue, name string) ([]message.Block, error) {
	list, ok := luavm.TableOf(L, v)
	if !ok {
		return nil, fmt.Errorf("%s: expected a list of blocks, got %s", name, v.Type())
	}
	if list.RawGetString("type") != lua.LNil {
		return nil, fmt.Errorf("%s: expected a list of blocks, got one block; put it into { }", name)
	}
	n, err := luavm.ListLen(L, list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var blocks []message.Block
	var size luavm.Size
	for i := 1; i <= n; i++ {
		t, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			return nil, fmt.Errorf("%s[%d]: expected a block, got %s", name, i, list.RawGetInt(i).Type())
		}
		b, err := c.blockFrom(L, t)
		if err == nil {
			err = size.Add(SizeOf(b))
		}
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", name, i, err)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// blockFrom reads one block. A block that Lua did not change is the original; a changed one
// is based on it, so that fields that this program does not know survive.
func (c *Converter) blockFrom(L *lua.LState, t *lua.LTable) (message.Block, error) {
	if ref, ok := luavm.StubRef(t); ok {
		if b, ok := ref.(*message.Block); ok {
			return *b, nil
		}
	}
	luavm.Materialise(L, t)
	kind, _ := t.RawGetString("type").(lua.LString)
	b := message.Block{Type: message.BlockType(kind)}
	var was message.Block
	if ref, ok := luavm.StubOrigin(t); ok {
		if origin, ok := ref.(*message.Block); ok && origin.Type == b.Type {
			was, b.Raw = *origin, origin.Raw
		}
	}
	r := c.NewAnswer(L, t)
	c.readBlock(r, &b)
	if err := r.Failed(); err != nil {
		return b, err
	}
	if sameBlock(b, was) {
		return was, nil
	}
	return b, nil
}

// readBlock reads the fields that a block of its type has into b. A block of a type that the
// program does not know is kept whole, as JSON.
func (c *Converter) readBlock(r Answer, b *message.Block) {
	need := func(name string) string {
		if !r.Has(name) {
			r.Fail(name, "expected a string, got nil")
		}
		return r.Text(name)
	}
	var err error
	switch b.Type {
	case message.BlockText:
		b.Text, b.Signature = need("text"), r.Text("text_signature")
	case message.BlockThinking:
		b.Text, b.Signature, b.Redacted = need("thinking"), r.Text("thinking_signature"), r.Flag("redacted")
	case message.BlockToolCall:
		b.ID, b.Name, b.Signature = need("id"), need("name"), r.Text("thought_signature")
		b.Arguments, err = c.InputFrom(b.Name, r.t.RawGetString("arguments"))
	case message.BlockImage:
		b.Data, b.MimeType = need("data"), need("mime_type")
	case "":
		err = errors.New("type is missing")
	default:
		b.Raw, err = c.Encode(r.t, "block")
	}
	r.FailWith(err)
}

// sameBlock compares the fields of two blocks; for types that this program does not know,
// their bytes.
func sameBlock(a, b message.Block) bool {
	known := a.Type == message.BlockText || a.Type == message.BlockThinking || a.Type == message.BlockToolCall || a.Type == message.BlockImage
	return a.Equal(&b) && (known || bytes.Equal(a.Raw, b.Raw))
}

// SizeOf is the size of all texts and data of blocks, in bytes.
func SizeOf(blocks ...message.Block) (n int) {
	for i := range blocks {
		b := &blocks[i]
		n += len(b.Text) + len(b.Signature) + len(b.ID) + len(b.Name) + len(b.Data) + len(b.MimeType) + len(b.Arguments) + len(b.Raw)
	}
	return n
}

// Encode turns a Lua value into JSON; the error names the place below name.
func (c *Converter) Encode(v lua.LValue, name string) (json.RawMessage, error) {
	raw, err := luavm.EncodeJSON(c.vm.State(), v, luavm.JSON{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return raw, nil
}

// DetailsFrom encodes the details of a tool's result that Lua wrote; for tools of the
// program, with the names that session files have.
func (c *Converter) DetailsFrom(tool string, v lua.LValue) (json.RawMessage, error) {
	raw, err := luavm.EncodeJSON(c.vm.State(), v, detailJSON(tool))
	if err != nil {
		return nil, fmt.Errorf("details: %w", err)
	}
	return raw, nil
}

// InputFrom encodes the arguments of a tool call that Lua wrote, with the names that models
// use; nil is an empty object.
func (c *Converter) InputFrom(tool string, v lua.LValue) (json.RawMessage, error) {
	if v == lua.LNil {
		return json.RawMessage(`{}`), nil
	}
	t, ok := v.(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("input: expected a table, got %s", v.Type())
	}
	raw, err := luavm.EncodeJSON(c.vm.State(), t, argumentJSON(tool))
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	return raw, nil
}
