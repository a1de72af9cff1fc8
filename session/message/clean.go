package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"pi/session/rawjson"
)

// Clean returns the message as a provider may see it, and the message itself if there
// is nothing to change: without blocks that say nothing, with the name of a tool that
// every API takes, valid UTF-8, and arguments that are a JSON object.
func Clean(m *Message) *Message {
	ok := m.ToolName == cleanName(m.ToolName)
	for i := range m.Content {
		ok = ok && isClean(&m.Content[i])
	}
	if ok {
		return m
	}
	n := m.Clone()
	n.Content, n.ToolName = cleanBlocks(m.Content), cleanName(m.ToolName)
	return n
}

// isClean reports whether a provider may see the block as it is.
func isClean(b *Block) bool {
	if b.Type == BlockToolCall {
		args := b.Arguments
		return b.Name != "" && b.Name == cleanName(b.Name) && isObject(args) && utf8.Valid(args) &&
			!rawjson.MayHaveSurrogate(args) && json.Valid(args)
	}
	return !isEmpty(b) && utf8.ValidString(b.Text)
}

// maxName is how long the name of a tool may be for every API.
const maxName = 64

// cleanName returns a name that every API takes for a tool: other characters become _,
// and it is cut to 64. A model may invent a name, which would be refused in each request
// from then on.
func cleanName(name string) string {
	bad := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}
	name = strings.Map(bad, name)
	return name[:min(len(name), maxName)]
}

// isEmpty reports whether a block has nothing to send: blank text without a signature,
// or an image without data.
func isEmpty(b *Block) bool {
	switch b.Type {
	case BlockText, BlockThinking:
		return b.Signature == "" && !b.Redacted && strings.TrimSpace(b.Text) == ""
	case BlockImage:
		return b.Data == ""
	}
	return false
}

// SaysNothing reports whether a request leaves out all that m consists of.
func SaysNothing(m *Message) bool {
	return !slices.ContainsFunc(m.Content, func(b Block) bool { return !isEmpty(&b) })
}

// cleanBlocks leaves out blocks that say nothing and mends the others.
func cleanBlocks(in []Block) []Block {
	out := make([]Block, 0, len(in))
	for _, b := range in {
		if isEmpty(&b) {
			continue
		}
		if !isClean(&b) {
			b.Text = strings.ToValidUTF8(b.Text, "\uFFFD")
			if b.Type == BlockToolCall {
				b.Name = cmp.Or(cleanName(b.Name), "unknown")
				b.Arguments = repairArguments(b.Arguments)
			}
		}
		out = append(out, b)
	}
	return out
}

func isObject(v json.RawMessage) bool {
	v = bytes.TrimLeft(v, " \t\r\n")
	return len(v) > 0 && v[0] == '{'
}

// repairArguments returns the arguments of a call as a valid JSON object: {} if they are
// none, else with invalid UTF-8 and unpaired surrogates replaced. The order of keys and
// large numbers survive.
func repairArguments(v json.RawMessage) json.RawMessage {
	if !isObject(v) || !json.Valid(v) {
		return json.RawMessage("{}")
	}
	return rawjson.ReplaceSurrogates(bytes.ToValidUTF8(v, []byte("\uFFFD")))
}
