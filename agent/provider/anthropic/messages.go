package anthropic

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

type wireMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a content block; Type says which fields it has.
type block struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text,omitempty"`
	Source       *source         `json:"source,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Signature    string          `json:"signature,omitempty"`
	Data         string          `json:"data,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      []block         `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

func textBlock(s string) block {
	s = provider.CleanText(s)
	return block{Type: "text", Text: &s}
}

func imageBlock(b *message.Block) block {
	return block{Type: "image", Source: &source{Type: "base64", MediaType: b.MimeType, Data: b.Data}}
}

// conversation writes the messages of a request in the form that the API demands: roles
// alternate, results name their calls, nothing is empty, and there are no blanks at the
// end. See [provider.Draft].
type conversation struct {
	*compat
	model     *llm.Model
	from      int // the first message whose thoughts go along, see thoughtsFrom
	added     int // messages
	ids       *provider.CallIDs
	messages  []wireMessage
	turn      string // how the one began in which what was taken out ends, see turnAfter
	described *provider.Described[tool]
}

func newConversation(c *compat, r *llm.Request) *conversation {
	return &conversation{compat: c, model: r.Model, from: c.thoughtsFrom(r),
		ids: provider.NewCallIDs(provider.WordIDs(64)), described: new(provider.Described[tool])}
}

// Fits reports whether thoughts go along with r as they do in this conversation.
func (v *conversation) Fits(r *llm.Request) bool { return v.from == v.thoughtsFrom(r) }

// Fork returns a copy to which all but answers may be added.
func (v *conversation) Fork() *conversation {
	w := *v
	w.messages, w.ids = slices.Clone(v.messages), v.ids.Fork()
	if n := len(w.messages); n > 0 {
		w.messages[n-1].Content = slices.Clone(w.messages[n-1].Content) // it may grow, and be trimmed
	}
	return &w
}

// TakeFinal takes out the messages before those that carry markers for the cache now.
// Markers only ever move on. The last message may still grow.
func (v *conversation) TakeFinal() []wireMessage {
	n := max(0, len(v.messages)-1)
	for _, at := range newestOfUser(v.messages) {
		n = min(n, at)
	}
	final := v.messages[:n]
	v.turn = turnAfter(v.turn, final)
	v.messages = slices.Clone(v.messages[n:])
	return final
}

// Add adds a message.
func (v *conversation) Add(m *message.Message) {
	switch m.Role {
	case message.RoleUser:
		v.append("user", v.encodeContent(m.Content))
	case message.RoleAssistant:
		v.append("assistant", v.assistant(m))
	case message.RoleToolResult:
		v.result(m)
	}
	v.added++
}

// result adds the result of a call. One that is an error may hold text only, so its images
// follow behind the results.
func (v *conversation) result(m *message.Message) {
	content := v.encodeContent(m.Content)
	var images []block
	if m.IsError {
		for i := range content {
			if content[i].Type == "image" {
				images = append(images, content[i])
			}
		}
		content = slices.DeleteFunc(content, func(b block) bool { return b.Type == "image" })
	}
	if len(content) == 0 {
		text := provider.NoOutput
		if len(images) > 0 {
			text = provider.ImageFollows
		}
		content = []block{textBlock(text)}
	}
	v.append("user", []block{{Type: "tool_result", ToolUseID: v.ids.Result(m.ToolCallID), Content: content, IsError: m.IsError}})
	v.append("user", images)
}

// append adds blocks to the conversation. Roles have to alternate, so blocks of
// the same role join; within a user message results come first.
func (v *conversation) append(role string, blocks []block) {
	if len(blocks) == 0 {
		return
	}
	n := len(v.messages)
	if n == 0 || v.messages[n-1].Role != role {
		v.messages = append(v.messages, wireMessage{role, blocks})
		return
	}
	last := &v.messages[n-1]
	if blocks[0].Type != "tool_result" {
		last.Content = append(last.Content, blocks...)
		return
	}
	at := 0
	for at < len(last.Content) && last.Content[at].Type == "tool_result" {
		at++
	}
	rest := append(blocks, last.Content[at:]...)
	last.Content = append(last.Content[:at:at], rest...)
}

// encodeContent encodes the text and images that a user or a tool gives.
func (v *conversation) encodeContent(content []message.Block) []block {
	return provider.Parts(v.model, content, provider.NotBlank, textBlock, imageBlock)
}

// assistant encodes an answer. Only if the model that is asked made it, its thoughts go
// back as such.
func (v *conversation) assistant(m *message.Message) []block {
	same := provider.SameModel(m, v.model)
	var blocks []block
	for i := range m.Content {
		switch b := &m.Content[i]; b.Type {
		case message.BlockText:
			if strings.TrimSpace(b.Text) != "" {
				blocks = append(blocks, textBlock(b.Text))
			}
		case message.BlockThinking:
			if !same || b.Signature == "" || v.added >= v.from {
				blocks = appendThought(blocks, b, same)
			}
		case message.BlockToolCall:
			blocks = append(blocks, block{Type: "tool_use", ID: v.ids.Call(b.ID), Name: b.Name, Input: provider.Object(b.Arguments)})
		}
	}
	return blocks
}

// appendThought appends a thought to blocks: a signed one of the same model as it came,
// even without text, and any other as text. A withheld one of another model is left
// out.
func appendThought(blocks []block, b *message.Block, same bool) []block {
	switch {
	case same && b.Redacted && b.Signature != "":
		return append(blocks, block{Type: "redacted_thinking", Data: b.Signature})
	case same && !b.Redacted && b.Signature != "":
		return append(blocks, block{Type: "thinking", Thinking: &b.Text, Signature: b.Signature})
	case !b.Redacted && strings.TrimSpace(b.Text) != "":
		return append(blocks, textBlock(b.Text))
	}
	return blocks
}

// trimEnd removes blanks at the end of a conversation that ends in an answer, as when
// a paused one is continued; the API refuses them there.
func (v *conversation) trimEnd() {
	n := len(v.messages)
	if n == 0 || v.messages[n-1].Role != "assistant" {
		return
	}
	blocks := v.messages[n-1].Content
	if last := &blocks[len(blocks)-1]; last.Type == "text" {
		*last = textBlock(strings.TrimRightFunc(*last.Text, unicode.IsSpace))
	}
}

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}
