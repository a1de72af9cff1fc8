package slowmodel

import (
	"encoding/json"
	"slices"
	"strings"
)

// Request is what the program asked.
type Request struct {
	Model    string
	Messages []Message
	Body     []byte `json:"-"`
}

// Message is one message of a request.
type Message struct {
	Role    string
	Content json.RawMessage
	Calls   []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// part is one part of a message's content.
type part struct {
	Type, Text string
	Image      struct{ URL string } `json:"image_url"`
}

func (m Message) parts() []part {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []part{{Type: "text", Text: text}}
	}
	var parts []part
	_ = json.Unmarshal(m.Content, &parts) // null: a message of calls alone
	return parts
}

// Text is the text of a message.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.parts() {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Images are the data URLs of a message's images.
func (m Message) Images() (urls []string) {
	for _, p := range m.parts() {
		if p.Type == "image_url" {
			urls = append(urls, p.Image.URL)
		}
	}
	return urls
}

// Of returns the messages of a role, "user" or "tool", in their order.
func (r Request) Of(role string) []Message {
	return slices.DeleteFunc(slices.Clone(r.Messages), func(m Message) bool { return m.Role != role })
}

// Prompts are the texts of what the user said, in their order.
func (r Request) Prompts() (texts []string) {
	for _, m := range r.Of("user") {
		texts = append(texts, m.Text())
	}
	return texts
}

// Last is the text of the last thing that the user said.
func (r Request) Last() string {
	if prompts := r.Prompts(); len(prompts) > 0 {
		return prompts[len(prompts)-1]
	}
	return ""
}

// Answered says whether the last message is the result of a tool.
func (r Request) Answered() bool {
	return len(r.Messages) > 0 && r.Messages[len(r.Messages)-1].Role == "tool"
}
