package openai

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"pi/agent/provider"
	"pi/session/message"
)

// chunk is one event of a stream. Fields that a server fills with something of
// another type are left empty.
type chunk struct {
	Object  string          `json:"object"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Groq    struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        delta           `json:"delta"`
	FinishReason string          `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

type delta struct {
	Content          content           `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        string            `json:"reasoning"`
	ReasoningText    string            `json:"reasoning_text"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callPiece       `json:"tool_calls"`
}

type callPiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// content is a string, or a list of typed parts.
type content struct{ text, thinking string }

// UnmarshalJSON accepts a string, or a list of typed parts, of which texts and thoughts
// are joined. Anything else is empty, without an error.
func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return unquote(b, &c.text)
	}
	var parts []contentPart
	if b[0] != '[' || json.Unmarshal(b, &parts) != nil {
		return nil
	}
	c.text, c.thinking = joinParts(parts)
	return nil
}

type contentPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking json.RawMessage `json:"thinking"`
}

// joinParts joins the texts, and the thoughts, of a list of parts.
func joinParts(parts []contentPart) (text, thinking string) {
	for _, p := range parts {
		if p.Type != "thinking" {
			text += p.Text
			continue
		}
		var inner content
		if len(p.Thinking) > 0 && inner.UnmarshalJSON(p.Thinking) == nil {
			thinking += inner.text
		}
	}
	return text, thinking
}

// arguments is a piece of JSON text, or the object itself.
type arguments string

// UnmarshalJSON accepts a string, or an object, whose text is taken as it is. Anything
// else is empty, without an error.
func (a *arguments) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return unquote(b, (*string)(a))
	case '{':
		*a = arguments(b)
	}
	return nil
}

// unquote decodes a JSON string into to. Most pieces of an answer have no escape, so
// for those no decoder is needed.
func unquote(b []byte, to *string) error {
	if bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b) {
		return json.Unmarshal(b, to)
	}
	*to = string(b[1 : len(b)-1])
	return nil
}

// present reports whether a value is there and is not empty, null or false.
func present(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "false":
		return false
	}
	return true
}

// counts is the usage object of all servers together.
type counts struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	PromptMore struct {
		Cached int `json:"cached_tokens"`
		Write  int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit    int `json:"prompt_cache_hit_tokens"`
	CacheCreate int `json:"cache_creation_input_tokens"`
	provider.Charge
}

// usage maps counts. The prompt includes cached tokens, and the completion the
// reasoning, except where the total says that reasoning comes on top.
func (c *counts) usage() message.Usage {
	u := message.Usage{
		Output:     c.Completion,
		CacheRead:  max(c.PromptMore.Cached, c.CacheHit),
		CacheWrite: max(c.PromptMore.Write, c.CacheCreate),
	}
	u.Input = max(0, c.Prompt-u.CacheRead-u.CacheWrite)
	if r := c.CompletionMore.Reasoning; r > 0 && c.Total == c.Prompt+c.Completion+r {
		u.Output += r
	}
	return u
}
