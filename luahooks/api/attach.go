package api

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"

	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// maxAttachment bounds a file that a hook attaches.
const maxAttachment = 20 << 20

// attachments reads a list of {path = …}, {data = base64, mime_type = …} and
// {text = …, name = …}. Images become image blocks, text a text block that
// names the file; anything else is refused. The bytes decide whether it is an image:
// mime_type may be given, and is ignored.
func (b *bridge) attachments(L *lua.LState, function string, list *lua.LTable) ([]message.Block, error) {
	n, err := luavm.ListLen(L, list)
	if err != nil {
		return nil, err
	}
	if first, _ := list.Next(lua.LNil); n == 0 && first != lua.LNil {
		luavm.Raise(L, "%s: attachments are a list; put the one into { }", function)
	}
	var blocks []message.Block
	var size luavm.Size
	for i := 1; i <= n; i++ {
		t, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			luavm.Raise(L, "%s: attachment %d must be a table, not a %s", function, i, list.RawGetInt(i).Type())
		}
		var path, data, mime, text, name string
		luavm.UnpackTable(L, t, function, luavm.Opt("path", &path), luavm.Opt("data", &data), luavm.Opt("mime_type", &mime),
			luavm.Opt("text", &text), luavm.Opt("name", &name))
		block, err := b.attachment(path, data, text, name)
		if err == nil {
			err = size.Add(record.SizeOf(block))
		}
		if err != nil {
			return nil, fmt.Errorf("attachment %d: %w", i, err)
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// attachment makes a block of the fields of one attachment: of the file at path, else of
// data in base64, else of text. Without all three it fails.
func (b *bridge) attachment(path, data, text, name string) (message.Block, error) {
	switch {
	case path != "":
		return b.attachFile(path)
	case data != "":
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return message.Block{}, fmt.Errorf("data is not base64: %w", err)
		}
		return attachBytes(raw, name)
	case text != "":
		return message.NamedText(name, text), nil
	}
	return message.Block{}, fmt.Errorf("it has no path, data or text")
}

// attachFile makes a block of a file of at most maxAttachment.
func (b *bridge) attachFile(path string) (message.Block, error) {
	path = b.absolute(path)
	info, err := os.Stat(path)
	if err != nil {
		return message.Block{}, fmt.Errorf("attach file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxAttachment {
		return message.Block{}, fmt.Errorf("attach file %s: not a regular file of at most %d MiB", path, maxAttachment>>20)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return message.Block{}, fmt.Errorf("attach file: %w", err)
	}
	return attachBytes(raw, path)
}

// attachBytes makes a block of a file. Its bytes decide what it is, not its name.
func attachBytes(raw []byte, name string) (message.Block, error) {
	b, ok := message.FileBlock(name, raw)
	if !ok {
		return message.Block{}, fmt.Errorf("%s: neither an image nor text (%s)", name, http.DetectContentType(raw))
	}
	return b, nil
}
