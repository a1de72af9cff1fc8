package responses

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

// item is a message, a call, or the output of one.
type item struct {
	Type      string  `json:"type,omitempty"`
	ID        string  `json:"id,omitempty"`
	Role      string  `json:"role,omitempty"`
	Content   any     `json:"content,omitempty"` // string or []part
	Phase     string  `json:"phase,omitempty"`
	Status    string  `json:"status,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Output    any     `json:"output,omitempty"` // string or []part
}

type part struct {
	Type        string    `json:"type"`
	Text        *string   `json:"text,omitempty"`
	ImageURL    string    `json:"image_url,omitempty"`
	Detail      string    `json:"detail,omitempty"`
	Annotations *[]string `json:"annotations,omitempty"`
}

func inputText(s string) part {
	s = provider.CleanText(s)
	return part{Type: "input_text", Text: &s}
}

func inputImage(b *message.Block) part {
	return part{Type: "input_image", ImageURL: "data:" + b.MimeType + ";base64," + b.Data, Detail: "auto"}
}

func (p part) text() *string { return p.Text }

// conversation writes the input of a request, behind the system prompt. See
// [provider.Draft].
type conversation struct {
	*compat
	model     *llm.Model
	calls     *provider.CallIDs
	used      map[string]bool // ids of items
	items     []any           // item, or json.RawMessage for what goes as it came
	before    int             // how many items there are before them
	prompts   int             // how many of those are the system prompt
	images    []part          // of tool results; they wait until the row of results is over
	described *provider.Described[tool]
}

func newConversation(c *compat, r *llm.Request) *conversation {
	v := &conversation{compat: c, model: r.Model, calls: provider.NewCallIDs(callIDs), used: map[string]bool{}, described: new(provider.Described[tool])}
	v.before = len(v.system(r.System))
	v.prompts = v.before
	return v
}

// Fits reports whether the items of r have the numbers that they have in this conversation.
func (v *conversation) Fits(r *llm.Request) bool { return len(v.system(r.System)) == v.prompts }

// Fork returns a copy to which all but answers may be added.
func (v *conversation) Fork() *conversation {
	w := *v
	w.items, w.images, w.calls = slices.Clip(v.items), slices.Clip(v.images), v.calls.Fork()
	return &w
}

// TakeFinal takes out all items: none changes when others are added.
func (v *conversation) TakeFinal() []any {
	final := v.items
	v.before, v.items = v.before+len(final), nil
	return final
}

// callIDs is the rule for ids of calls. The part behind a bar is the id of the item.
func callIDs(id string) string {
	call, _, _ := strings.Cut(id, "|")
	if call == "" {
		call = id
	}
	return provider.WordIDs(64)(call)
}

func (v *conversation) append(i item) { v.items = append(v.items, i) }

// system is the item of the system prompt, in the role that the server wants: none if
// there is no prompt, or it is a field of its own.
func (v *conversation) system(prompt string) []any {
	if prompt == "" || v.instructions {
		return nil
	}
	role := "system"
	if v.DeveloperRole && v.model.Reasoning {
		role = "developer"
	}
	return []any{item{Role: role, Content: provider.CleanText(prompt)}}
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

func (v *conversation) user(parts []part) {
	if len(parts) > 0 {
		v.append(item{Role: "user", Content: parts})
	}
}

func (v *conversation) parts(blocks []message.Block) []part {
	return provider.Parts(v.model, blocks, provider.NotEmpty, inputText, inputImage)
}

// toolResult adds a result: a string, or a list if it has images and the server accepts
// them there. Else its images wait for placeImages.
func (v *conversation) toolResult(m *message.Message) {
	out := item{Type: "function_call_output", CallID: v.calls.Result(m.ToolCallID)}
	parts := v.parts(m.Content)
	text, images := provider.Result(parts, part.text, provider.ImageFollows)
	if v.ToolResultImages && len(images) > 0 {
		out.Output = parts
	} else {
		out.Output = text
		v.images = append(v.images, images...)
	}
	v.append(out)
}

// placeImages adds the images of tool results that wait, as a message of the user.
func (v *conversation) placeImages() {
	if images := v.images; len(images) > 0 {
		v.images = nil
		v.user(append([]part{inputText("Images from the tool results:")}, images...))
	}
}

// assistant adds the items of an answer. To another model than the one that made it
// they go without their ids.
func (v *conversation) assistant(m *message.Message) {
	same := provider.SameModel(m, v.model)
	t := turn{conversation: v, same: same, ids: same}
	for i := range m.Content {
		switch b := &m.Content[i]; b.Type {
		case message.BlockThinking:
			t.thought(b)
		case message.BlockText:
			t.text(b)
		case message.BlockToolCall:
			t.call(b)
		}
	}
}

// turn is an answer of a model.
type turn struct {
	*conversation
	same     bool  // the model is the one that is asked
	ids      bool  // items go with their ids
	thoughts []any // they go in front of what they led to
}

// thought adds a reasoning item in front of the item that it led to. After one that
// cannot be sent the items of the turn go without ids. The thought of another model is
// text.
func (t *turn) thought(b *message.Block) {
	own := t.same && (b.Signature == "" || strings.HasPrefix(b.Signature, "{"))
	if raw, id := reasoningItem(b.Signature); raw != nil && own && t.SendReasoning && t.claim(id) {
		t.thoughts = append(t.thoughts, raw)
		return
	}
	t.ids = false
	if !own && !b.Redacted {
		t.addMessage(strings.TrimSpace(b.Text), item{})
	}
}

// reasoningItem is the item in a signature, and its id; nil for one that means nothing
// to its server, as an id alone where nothing is stored. An id that is too long for
// servers is removed.
func reasoningItem(signature string) (raw json.RawMessage, id string) {
	var i struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Encrypted string          `json:"encrypted_content"`
		Content   json.RawMessage `json:"content"`
	}
	if json.Unmarshal([]byte(signature), &i) != nil || i.Type != "reasoning" || i.Encrypted == "" && len(i.Content) <= len("null") {
		return nil, ""
	}
	raw = provider.CleanJSON([]byte(signature))
	if len(i.ID) <= longestID {
		return raw, i.ID
	}
	fields, err := provider.ReadFields(raw)
	if err != nil {
		return nil, ""
	}
	return slices.DeleteFunc(fields, func(f provider.Field) bool { return f.Name == "id" }).JSON(), ""
}

// claim reports whether an id of an item was not used in the request before, and notes
// it: servers refuse a request that has an item twice. An empty id is always new.
func (v *conversation) claim(id string) bool {
	if id != "" && v.used[id] {
		return false
	}
	v.used[id] = true
	return true
}

// text adds a text of the answer as a message, with its id and phase if the same model
// made it.
func (t *turn) text(b *message.Block) {
	var i item
	if t.same {
		i.ID, i.Phase = readTextSignature(b.Signature)
	}
	if !t.ids {
		i.ID = ""
	}
	t.addMessage(b.Text, i)
}

// addMessage adds text as the message i, with the thoughts that led to it in front. An
// id that is used already is left out, or replaced where each message needs one.
func (t *turn) addMessage(text string, i item) {
	if text == "" {
		return
	}
	t.placeThoughts()
	if !t.claim(i.ID) {
		i.ID = ""
	}
	for n := t.before + len(t.items); i.ID == "" && t.messageIDs; n++ {
		if id := fmt.Sprintf("msg_%d", n); t.claim(id) {
			i.ID = id
		}
	}
	text = provider.CleanText(text)
	i.Type, i.Role, i.Status = "message", "assistant", "completed"
	i.Content = []part{{Type: "output_text", Text: &text, Annotations: &[]string{}}}
	t.append(i)
}

// call adds a tool call, with the thoughts that led to it in front. The id of its item
// goes along if the id of the call was not changed.
func (t *turn) call(b *message.Block) {
	t.placeThoughts()
	arguments := string(provider.Object(b.Arguments))
	i := item{Type: "function_call", CallID: t.calls.Call(b.ID), Name: b.Name, Arguments: &arguments}
	if id := itemID(b.ID); t.ids && i.CallID == callIDs(b.ID) && t.claim(id) {
		i.ID = id
	}
	t.append(i)
}

// placeThoughts adds the thoughts that wait for the item that they led to.
func (t *turn) placeThoughts() { t.items, t.thoughts = append(t.items, t.thoughts...), nil }
