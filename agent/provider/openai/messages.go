package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

type wireMessage struct {
	Role             string          `json:"role"`
	Content          any             `json:"content"` // string, []part or nil
	Name             string          `json:"name,omitempty"`
	ReasoningContent *string         `json:"reasoning_content,omitempty"`
	Reasoning        *string         `json:"reasoning,omitempty"`
	ReasoningText    *string         `json:"reasoning_text,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []toolCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
}

type part struct {
	Type         string        `json:"type"`
	Text         *string       `json:"text,omitempty"`
	ImageURL     *imageURL     `json:"image_url,omitempty"`
	Thinking     []part        `json:"thinking,omitempty"`
	Closed       bool          `json:"closed,omitempty"`
	CacheControl *cacheControl `json:"cache_control,omitempty"`
}

type (
	imageURL struct {
		URL string `json:"url"`
	}
	cacheControl struct {
		Type string `json:"type"`
	}
	toolCall struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function callBody `json:"function"`
	}
	callBody struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// conversation writes the messages of a request, see [provider.Draft].
type conversation struct {
	*compat
	model     *llm.Model
	ids       *provider.CallIDs
	messages  []wireMessage
	images    []part // of tool results; they wait until the row of results is over
	described *provider.Described[tool]
}

func newConversation(c *compat, m *llm.Model) *conversation {
	rule := provider.ShortIDs(40)
	if c.toolCallIDs == "nine" {
		rule = provider.ExactIDs(9)
	}
	return &conversation{compat: c, model: m, ids: provider.NewCallIDs(rule), described: new(provider.Described[tool])}
}

// Fits reports that any request to the model is written in the same way.
func (v *conversation) Fits(*llm.Request) bool { return true }

// Fork returns a copy to which all but answers may be added.
func (v *conversation) Fork() *conversation {
	w := *v
	w.messages, w.images, w.ids = slices.Clone(v.messages), slices.Clip(v.images), v.ids.Fork()
	return &w
}

// TakeFinal takes out the messages before those that carry markers for the cache now.
// Markers only ever move on. What comes next looks at the last message.
func (v *conversation) TakeFinal() []wireMessage {
	n := max(0, len(v.messages)-1)
	if v.cacheControl {
		for _, at := range v.marked() {
			n = min(n, at)
		}
	}
	final := v.messages[:n]
	v.messages = slices.Clone(v.messages[n:])
	return final
}

// end returns the messages when all were added.
func (v *conversation) end() []wireMessage {
	v.placeImages()
	if v.cacheControl {
		for _, at := range v.marked() {
			v.messages[at].Content = withMark(v.messages[at].Content)
		}
	}
	return v.messages
}

// system is the message of the system prompt, if there is one, in the role that the
// server wants.
func (v *conversation) system(prompt string) []wireMessage {
	if prompt == "" {
		return nil
	}
	role := "system"
	if v.DeveloperRole {
		role = "developer"
	}
	content := v.plain(prompt)
	if v.cacheControl {
		content = withMark(content)
	}
	return []wireMessage{{Role: role, Content: content}}
}

// plain is text as a string, or as a list where parts are going to be marked.
func (v *conversation) plain(s string) any {
	if v.cacheControl {
		return []part{textPart(s)}
	}
	return provider.CleanText(s)
}

// Add adds a message. Images of tool results that wait come first, as soon as the row
// of results is over.
func (v *conversation) Add(m *message.Message) {
	switch m.Role {
	case message.RoleToolResult:
		v.toolResult(m)
	case message.RoleAssistant:
		v.placeImages()
		v.assistant(m)
	case message.RoleUser:
		v.placeImages()
		v.user(v.parts(m.Content))
	}
}

// user adds a message of the user, unless it is empty. Some servers want an answer
// between it and results of tools, so one is made up there.
func (v *conversation) user(parts []part) {
	if len(parts) == 0 {
		return
	}
	if n := len(v.messages); v.assistantAfterTools && n > 0 && v.messages[n-1].Role == "tool" {
		v.messages = append(v.messages, wireMessage{Role: "assistant", Content: "Done."}) // the server insists on one between
	}
	var content any = parts
	if v.stringContent && !v.cacheControl {
		if text, ok := joined(parts); ok {
			content = text
		}
	}
	v.messages = append(v.messages, wireMessage{Role: "user", Content: content})
}

// joined is parts as one text; it reports false if there is something else among them.
func joined(parts []part) (string, bool) {
	var texts []string
	for i := range parts {
		if parts[i].Text == nil {
			return "", false
		}
		texts = append(texts, *parts[i].Text)
	}
	return strings.Join(texts, "\n"), true
}

func (v *conversation) parts(blocks []message.Block) []part {
	return provider.Parts(v.model, blocks, provider.NotEmpty, textPart, imagePart)
}

func textPart(s string) part {
	s = provider.CleanText(s)
	return part{Type: "text", Text: &s}
}

func imagePart(b *message.Block) part {
	return part{Type: "image_url", ImageURL: &imageURL{URL: "data:" + b.MimeType + ";base64," + b.Data}}
}

func (p part) text() *string { return p.Text }

// toolResult adds a result. Where images are accepted in user messages only, they wait
// for placeImages.
func (v *conversation) toolResult(m *message.Message) {
	parts := v.parts(m.Content)
	text, images := provider.Result(parts, part.text, provider.ImageFollows)
	out := wireMessage{Role: "tool", ToolCallID: v.ids.Result(m.ToolCallID)}
	if v.ToolResultImages && len(images) > 0 {
		out.Content = parts
	} else {
		out.Content = v.plain(text)
		v.images = append(v.images, images...)
	}
	if v.toolResultName {
		out.Name = m.ToolName
	}
	v.messages = append(v.messages, out)
}

// placeImages adds the images of tool results that wait, as a message of the user.
func (v *conversation) placeImages() {
	if images := v.images; len(images) > 0 {
		v.images = nil
		v.user(append([]part{textPart("Images from the tool results:")}, images...))
	}
}

// assistant adds an answer, unless it has neither text nor calls. Its thoughts go back
// as such only to the model that made it; those of another go as text.
func (v *conversation) assistant(m *message.Message) {
	out := wireMessage{Role: "assistant"}
	own := provider.SameModel(m, v.model)
	var spoken speech
	var typed []part
	for i := range m.Content {
		switch b := &m.Content[i]; b.Type {
		case message.BlockText:
			spoken.add(b.Text, "")
		case message.BlockThinking:
			switch {
			case own && !v.SendReasoning: // the model would read it as its answer
			case (!own || !out.addThought(b, &typed, v.reasoningField)) && !b.Redacted:
				spoken.add(strings.TrimSpace(b.Text), "\n\n") // of another model, as text
			}
		case message.BlockToolCall:
			out.ToolCalls = append(out.ToolCalls, toolCall{ID: v.ids.Call(b.ID), Type: "function",
				Function: callBody{Name: b.Name, Arguments: string(provider.Object(b.Arguments))}})
			if own && v.SendReasoning && strings.HasPrefix(b.Signature, "{") && json.Valid([]byte(b.Signature)) {
				out.addDetail(b.Signature)
			}
		}
	}
	text := provider.CleanText(spoken.String())
	if text == "" && len(out.ToolCalls) == 0 {
		return // servers refuse an empty message
	}
	out.Content = v.answer(text, typed)
	if field := out.thought(v.reasoningField); v.requireReasoning && len(out.ToolCalls) > 0 && *field == nil {
		*field = new("")
	}
	v.messages = append(v.messages, out)
}

// answer is the content of an answer: its text, and its thoughts where they are parts.
func (v *conversation) answer(text string, typed []part) any {
	switch {
	case len(typed) > 0 && text != "":
		return append(typed, textPart(text))
	case len(typed) > 0:
		return typed
	case text != "":
		return v.plain(text)
	case v.nullContent:
		return nil
	}
	return ""
}

// addThought adds a thought under the name that it came with, or under the one that the
// server insists on. It reports false if the signature has no name.
func (m *wireMessage) addThought(b *message.Block, typed *[]part, name string) bool {
	text := provider.CleanText(b.Text)
	switch b.Signature {
	case "reasoning_content", "reasoning", "reasoning_text":
		field := m.thought(cmp.Or(name, b.Signature))
		if *field != nil {
			text = **field + "\n" + text
		}
		*field = &text
	case "content":
		*typed = append(*typed, part{Type: "thinking", Thinking: []part{textPart(text)}, Closed: true})
	default:
		if !strings.HasPrefix(b.Signature, "[") || !json.Valid([]byte(b.Signature)) {
			return false
		}
		m.addDetail(b.Signature)
	}
	return true
}

// thought is the field of a message for a thought of that name; the usual field for a
// name that is not known.
func (m *wireMessage) thought(name string) **string {
	switch name {
	case "reasoning":
		return &m.Reasoning
	case "reasoning_text":
		return &m.ReasoningText
	}
	return &m.ReasoningContent
}

// addDetail appends a detail, or the details of a list, byte for byte.
func (m *wireMessage) addDetail(raw string) {
	inner := raw
	if raw[0] == '[' {
		inner = strings.TrimSpace(raw[1 : len(raw)-1])
	}
	if inner == "" {
		return
	}
	if n := len(m.ReasoningDetails); n > 0 {
		inner = string(m.ReasoningDetails[1:n-1]) + "," + inner
	}
	m.ReasoningDetails = json.RawMessage("[" + inner + "]")
}

// speech joins the texts of an assistant message.
type speech struct {
	strings.Builder
	gap string // what separates the next piece
}

// add adds a text, unless it is empty; after is what separates it from the next.
func (s *speech) add(text, after string) {
	if text != "" {
		s.WriteString(s.gap + text)
		s.gap = after
	}
}

// marked returns which messages end what the server shall cache: the newest of the user,
// and the one that was newest in the request before.
func (v *conversation) marked() (at []int) {
	fresh := true
	for i := len(v.messages) - 1; i >= 0 && len(at) < 2; i-- {
		switch parts, _ := v.messages[i].Content.([]part); {
		case v.messages[i].Role == "assistant":
			fresh = true
		case fresh && lastText(parts) >= 0:
			at, fresh = append(at, i), false
		}
	}
	return at
}

// lastText is the last text among parts, -1 if there is none.
func lastText(parts []part) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].Type == "text" {
			return i
		}
	}
	return -1
}

// withMark returns content with a cache marker on its last text.
func withMark(content any) any {
	parts, _ := content.([]part)
	if at := lastText(parts); at >= 0 {
		parts = slices.Clone(parts)
		parts[at].CacheControl = &cacheControl{Type: "ephemeral"}
		return parts
	}
	return content
}
