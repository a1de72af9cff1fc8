package google

import (
	"encoding/json"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/session/message"
)

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is one piece of a turn; it has one of text, image, call and result, or is
// one that was kept whole.
type part struct {
	Text      *string         `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Image     *blob           `json:"inlineData,omitempty"`
	Call      *call           `json:"functionCall,omitempty"`
	Result    *result         `json:"functionResponse,omitempty"`
	Signature string          `json:"thoughtSignature,omitempty"`
	whole     json.RawMessage // instead of all the others
}

// MarshalJSON writes a part that was kept whole as it came.
func (p part) MarshalJSON() ([]byte, error) {
	if p.whole != nil {
		return p.whole, nil
	}
	type plain part
	return provider.Encode((*plain)(&p))
}

type (
	blob struct {
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	}
	call struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	result struct {
		ID       string   `json:"id,omitempty"`
		Name     string   `json:"name"`
		Response response `json:"response"`
		Parts    []part   `json:"parts,omitempty"`
	}
	// response is never empty: the service refuses that.
	response struct {
		Output *string `json:"output,omitempty"`
		Error  *string `json:"error,omitempty"`
	}
)

func textPart(s string) part {
	s = provider.CleanText(s)
	return part{Text: &s}
}

func imagePart(b *message.Block) part { return part{Image: &blob{b.MimeType, b.Data}} }

func (p part) text() *string { return p.Text }

// made is the beginning of the ids that [decoder] makes up.
const made = "call_pi_"

// pending is a call that waits for its result.
type pending struct {
	id   string // in the session
	call *call
}

// conversation writes the turns of a request: roles alternate, and results are in the
// order of their calls. See [provider.Draft].
type conversation struct {
	compat    *compat
	model     *llm.Model
	ids       *provider.CallIDs
	contents  []content
	open      []pending
	images    []part // of the results of this turn, where images go behind all results
	described *provider.Described[function]
}

func newConversation(c *compat, m *llm.Model) *conversation {
	return &conversation{compat: c, model: m, described: new(provider.Described[function]),
		ids: provider.NewCallIDs(func(id string) string { return id })}
}

// Fits reports that any request to the model is written in the same way.
func (v *conversation) Fits(*llm.Request) bool { return true }

// Fork returns a copy to which all but answers may be added.
func (v *conversation) Fork() *conversation {
	w := *v
	w.contents, w.images, w.ids = slices.Clone(v.contents), slices.Clip(v.images), v.ids.Fork()
	if n := len(w.contents); n > 0 {
		w.contents[n-1].Parts = slices.Clip(w.contents[n-1].Parts)
	}
	return &w
}

// TakeFinal takes out all turns but the last, which may still grow.
func (v *conversation) TakeFinal() []content {
	n := max(0, len(v.contents)-1)
	final := v.contents[:n]
	v.contents = slices.Clone(v.contents[n:])
	return final
}

// Add adds a message.
func (v *conversation) Add(m *message.Message) {
	switch m.Role {
	case message.RoleUser:
		v.placeImages()
		v.append("user", v.encodeContent(m.Content))
	case message.RoleAssistant:
		v.placeImages()
		v.append("model", v.answer(m))
	case message.RoleToolResult:
		v.append("user", v.result(m))
	}
}

// append adds parts to the conversation. Roles alternate, so neighbours of the
// same role join.
func (v *conversation) append(role string, parts []part) {
	if len(parts) == 0 {
		return
	}
	if n := len(v.contents); n > 0 && v.contents[n-1].Role == role {
		v.contents[n-1].Parts = append(v.contents[n-1].Parts, parts...)
		return
	}
	v.contents = append(v.contents, content{role, parts})
}

// placeImages sends the images of tool results that wait for the end of the results.
func (v *conversation) placeImages() {
	v.append("user", v.images)
	v.images = nil
}

// encodeContent encodes the text and images that a user or a tool gives.
func (v *conversation) encodeContent(blocks []message.Block) []part {
	return provider.Parts(v.model, blocks, provider.NotBlank, textPart, imagePart)
}

// answer encodes the answer of a model, and notes its calls, which wait for results.
// For models that sign their calls, the first one gets a placeholder if it has no
// signature.
func (v *conversation) answer(m *message.Message) []part {
	same := provider.SameModel(m, v.model)
	ours := m.Provider == v.model.Provider && m.API == v.model.API
	var parts []part
	calls := 0
	v.open = nil
	for i := range m.Content {
		b := &m.Content[i]
		p, ok := v.block(b, same, ours)
		if !ok {
			continue
		}
		if p.Call != nil {
			v.open = append(v.open, pending{b.ID, p.Call})
			if calls++; calls == 1 && p.Signature == "" && v.compat.placeholder {
				p.Signature = unchecked
			}
		}
		parts = append(parts, p)
	}
	return parts
}

// unchecked is the signature of a call that the model did not make itself.
const unchecked = "skip_thought_signature_validator"

// block encodes one block of an answer; ok is false if there is nothing to send. With
// same, the model that is asked made it, and gets its signatures back; thoughts of
// another go as text. With ours, the service made it, and knows the ids of its calls.
func (v *conversation) block(b *message.Block, same, ours bool) (p part, ok bool) {
	signature := ""
	// The service refuses a request for bytes that are not base64, of either alphabet.
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
	if same && strings.Trim(b.Signature, base64) == "" {
		signature = b.Signature
	}
	something := strings.TrimSpace(b.Text) != "" || signature != ""
	switch {
	case b.Type == message.BlockToolCall:
		id := v.ids.Call(b.ID)
		if !ours || strings.HasPrefix(b.ID, made) {
			id = "" // only ids that this service gave mean anything to it
		}
		return part{Call: &call{ID: id, Name: wireName(b.Name), Args: provider.Object(b.Arguments)}, Signature: signature}, true
	case b.Redacted:
		return part{}, false
	case b.Type == message.BlockThinking && same && b.Text == "" && strings.HasPrefix(b.Signature, "{") && json.Valid([]byte(b.Signature)):
		// A part of a kind that we do not know.
		return part{whole: json.RawMessage(b.Signature)}, true
	case b.Type == message.BlockText || b.Type == message.BlockThinking:
		p = textPart(b.Text)
		p.Thought, p.Signature = same && b.Type == message.BlockThinking, signature
		return p, something
	}
	return part{}, false
}

// wireName is the name under which the model gets a tool: it has to begin with a letter
// or an underscore.
func wireName(name string) string {
	if name == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), 64)]
}

// result encodes the result of a tool. Its images go into the result, or behind all
// results of the turn.
func (v *conversation) result(m *message.Message) []part {
	text, images := provider.Result(v.encodeContent(m.Content), part.text, "(see the image)")
	out := v.beginResult(m)
	if m.IsError {
		out.Response.Error = &text
	} else {
		out.Response.Output = &text
	}
	if v.compat.toolImages == "response" {
		out.Parts = images
	} else if len(images) > 0 {
		v.images = append(append(v.images, textPart("[image of the result of "+out.Name+"]")), images...)
	}
	return []part{{Result: out}}
}

// beginResult begins the result for the oldest waiting call with the id of m, which waits
// no longer. Without such a call the result has the name of the tool alone.
func (v *conversation) beginResult(m *message.Message) *result {
	for i := range v.open {
		if c := v.open[i].call; v.open[i].id == m.ToolCallID {
			v.open = append(v.open[:i:i], v.open[i+1:]...)
			return &result{ID: c.ID, Name: c.Name}
		}
	}
	return &result{Name: wireName(m.ToolName)}
}
