package responses

import (
	"bytes"
	"encoding/json"
	"strings"
)

type kind uint8

const (
	unknown kind = iota // nothing of it came yet
	answer
	thinking
	call
	other // what we did not ask for, as the tools of the server
)

// wireItem is an item as it comes.
type wireItem struct {
	Type      string     `json:"type"`
	ID        string     `json:"id"`
	CallID    string     `json:"call_id"`
	Name      string     `json:"name"`
	Arguments argument   `json:"arguments"`
	Phase     string     `json:"phase"`
	Content   []wirePart `json:"content"`
	Summary   []wirePart `json:"summary"`
}

type wirePart struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// argument is JSON text, or the object itself.
type argument string

// UnmarshalJSON accepts a string, or an object, whose text is taken as it is.
func (a *argument) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		*a = argument(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(a))
}

// kind is what becomes of an item: a text, a thought, a call, or nothing.
func (w *wireItem) kind() kind {
	switch w.Type {
	case "message":
		return answer
	case "reasoning":
		return thinking
	case "function_call":
		return call
	}
	return other
}

// text is the text of a message, or its refusal.
func (w *wireItem) text() string {
	var s strings.Builder
	for i := range w.Content {
		s.WriteString(w.Content[i].Text + w.Content[i].Refusal)
	}
	return s.String()
}

// separator is between the parts of a thought.
const separator = "\n\n"

// thought is the text of a reasoning item, out of the list that its pieces came from.
// If no piece came, it is the summary, or the content where that is empty.
func (w *wireItem) thought(from partKind) string {
	list := w.Summary
	if from == contentPart || from == noPart && len(list) == 0 {
		list = w.Content
	}
	var parts []string
	for i := range list {
		if list[i].Text != "" {
			parts = append(parts, list[i].Text)
		}
	}
	return strings.Join(parts, separator)
}

// partKind is one of the two lists that a reasoning item has. Some servers fill
// both with the same.
type partKind uint8

const (
	noPart partKind = iota
	summaryPart
	contentPart
)

// isSameJSON reports whether two JSON texts differ in blanks at most.
func isSameJSON(a, b string) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
