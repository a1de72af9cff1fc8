package wiretest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"pi/agent/llm"
)

// Piece is one thing that the messages of a request carry, the same for all
// APIs, so that requests of different clients can be compared.
type Piece struct {
	Kind   string // of the Piece constants
	Name   string // tool of a call or result, field of a thought
	Text   string // arguments of a call, data of an image
	ID     string // of a call, of the call of a result, of a reasoning item
	Opaque string // a signature, or what else only the provider can read
	Failed bool   // of a result, where the API has a word for it
}

// The kinds of pieces.
const (
	PieceSystem  = "system"
	PieceUser    = "user"
	PieceImage   = "image"
	PieceText    = "text" // of an answer
	PieceThought = "thought"
	PieceCall    = "call"
	PieceResult  = "result"
	PieceServer  = "server" // of tools that the provider runs itself
)

// Carried takes the messages of a request body apart, in their order. What it
// does not know is an error.
func Carried(api string, body []byte) ([]Piece, error) {
	var q struct {
		Messages []json.RawMessage
		Input    json.RawMessage
		Contents []json.RawMessage
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	var c carrier
	switch APIName(api) {
	case llm.AnthropicMessages:
		c.each(q.Messages, c.messagesMessage)
	case llm.OpenAICompletions:
		c.each(q.Messages, c.chatMessage)
	case llm.OpenAIResponses:
		c.list(q.Input, PieceUser, (*carrier).inputItem)
	case llm.GoogleGenerativeAI:
		c.each(q.Contents, c.geminiContent)
	default:
		return nil, fmt.Errorf("no API is called %q", api)
	}
	return c.pieces, c.err
}

// carrier collects pieces until something is not understood.
type carrier struct {
	pieces []Piece
	err    error
}

func (c *carrier) add(p Piece) { c.pieces = append(c.pieces, p) }

// fail records the first thing that is not understood.
func (c *carrier) fail(what string, raw []byte) {
	if c.err == nil {
		c.err = fmt.Errorf("%s is not understood: %.300s", what, raw)
	}
}

// decode parses JSON into to. If that fails it records the error and reports false.
func (c *carrier) decode(raw []byte, to any) bool {
	if err := json.Unmarshal(raw, to); err != nil {
		c.fail(err.Error(), raw)
		return false
	}
	return true
}

func (c *carrier) each(list []json.RawMessage, read func(json.RawMessage)) {
	for _, raw := range list {
		read(raw)
	}
}

// partReader adds the pieces of a part. kind is the kind that its text has: that depends
// on the message that the part is in.
type partReader func(c *carrier, kind string, raw json.RawMessage)

// list reads the content of a message, an array of parts or a string, which is one
// text. kind is the kind that its texts have.
func (c *carrier) list(raw json.RawMessage, kind string, read partReader) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '"':
		var s string
		c.decode(raw, &s)
		c.add(Piece{Kind: kind, Text: s})
	default:
		var list []json.RawMessage
		c.decode(raw, &list)
		for _, part := range list {
			read(c, kind, part)
		}
	}
}

// kindOf is the kind of piece that a text in a message of this role becomes.
func kindOf(role string) string {
	switch role {
	case "assistant", "model":
		return PieceText
	case "system", "developer":
		return PieceSystem
	}
	return PieceUser
}

// messagesMessage adds a message of the messages API.
func (c *carrier) messagesMessage(raw json.RawMessage) {
	var m struct {
		Role    string
		Content json.RawMessage
	}
	if c.decode(raw, &m) {
		c.list(m.Content, kindOf(m.Role), (*carrier).messagesBlock)
	}
}

// messagesBlock adds a block of a message of the messages API; kind is the kind that a
// text has.
func (c *carrier) messagesBlock(kind string, raw json.RawMessage) {
	var b struct {
		wireBlock
		Content json.RawMessage
		IsError bool `json:"is_error"`
	}
	if !c.decode(raw, &b) {
		return
	}
	switch b.Type {
	case "text":
		c.add(Piece{Kind: kind, Text: b.Text})
	case "image":
		c.add(Piece{Kind: PieceImage, Text: b.Source.Data})
	case "thinking":
		c.add(Piece{Kind: PieceThought, Name: "thinking", Text: b.Thinking, Opaque: b.Signature})
	case "redacted_thinking":
		c.add(Piece{Kind: PieceThought, Name: "redacted_thinking", Opaque: b.Data})
	case "tool_use":
		c.add(Piece{Kind: PieceCall, ID: b.ID, Name: b.Name, Text: Canonical(b.Input)})
	case "tool_result":
		c.result(Piece{Kind: PieceResult, ID: b.ToolUseID, Failed: b.IsError}, b.Content, (*carrier).messagesBlock)
	default:
		c.server(b.Type, raw, "server_tool_use", "_tool_result")
	}
}

// result adds p with the texts of its content joined, and the images of the content
// behind it.
func (c *carrier) result(p Piece, content json.RawMessage, read partReader) {
	var inner carrier
	inner.list(content, PieceResult, read)
	if c.err == nil {
		c.err = inner.err
	}
	var images []Piece
	for _, q := range inner.pieces {
		if q.Kind == PieceImage {
			images = append(images, q)
		} else {
			p.Text += q.Text
		}
	}
	c.pieces = append(append(c.pieces, p), images...)
}

// server adds an item of a tool that the provider runs itself, if its type contains one
// of words. Else the item is not understood.
func (c *carrier) server(kind string, raw json.RawMessage, words ...string) {
	for _, word := range words {
		if strings.Contains(kind, word) {
			c.add(Piece{Kind: PieceServer, Name: kind})
			return
		}
	}
	c.fail("type "+kind, raw)
}

// chatMessage adds the pieces of a message of the chat API: a result, or thoughts,
// content and calls.
func (c *carrier) chatMessage(raw json.RawMessage) {
	var m struct {
		chatMessage
		ReasoningContent string            `json:"reasoning_content"`
		Reasoning        string            `json:"reasoning"`
		ReasoningText    string            `json:"reasoning_text"`
		ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	}
	if !c.decode(raw, &m) {
		return
	}
	if m.Role == "tool" {
		c.result(Piece{Kind: PieceResult, ID: m.ToolCallID}, m.Content, (*carrier).chatPart)
		return
	}
	c.thought("reasoning_content", m.ReasoningContent)
	c.thought("reasoning", m.Reasoning)
	c.thought("reasoning_text", m.ReasoningText)
	c.each(m.ReasoningDetails, c.chatDetail)
	c.list(m.Content, kindOf(m.Role), (*carrier).chatPart)
	for _, call := range m.ToolCalls {
		c.add(Piece{Kind: PieceCall, ID: call.ID, Name: call.Function.Name, Text: Canonical([]byte(call.Function.Arguments))})
	}
}

func (c *carrier) thought(name, text string) {
	if text != "" {
		c.add(Piece{Kind: PieceThought, Name: name, Text: text})
	}
}

// chatDetail adds an element of reasoning_details as a thought.
func (c *carrier) chatDetail(raw json.RawMessage) {
	var d struct{ Text, Summary, Signature, Data string }
	if c.decode(raw, &d) {
		c.add(Piece{Kind: PieceThought, Name: "reasoning_details", Text: d.Text + d.Summary, Opaque: d.Signature + d.Data})
	}
}

// chatPart adds a part of the content of a message of the chat API; kind is the kind
// that a text has.
func (c *carrier) chatPart(kind string, raw json.RawMessage) {
	var p struct {
		Type, Text string
		Thinking   []struct{ Text string }
		ImageURL   struct{ URL string } `json:"image_url"`
	}
	if !c.decode(raw, &p) {
		return
	}
	switch p.Type {
	case "text":
		c.add(Piece{Kind: kind, Text: p.Text})
	case "thinking":
		whole := ""
		for _, t := range p.Thinking {
			whole += t.Text
		}
		c.thought("content", whole)
	case "image_url":
		_, data, _ := strings.Cut(p.ImageURL.URL, ";base64,")
		c.add(Piece{Kind: PieceImage, Text: data})
	default:
		c.fail("part of type "+p.Type, raw)
	}
}

// inputItem adds an item of the input of the Responses API: a message, a thought, a
// call, a result, or an item of the provider's own tools. The kind is not used: the
// role of a message decides.
func (c *carrier) inputItem(_ string, raw json.RawMessage) {
	var m struct {
		Type, Role, ID, Name string
		Content, Output      json.RawMessage
		Summary              []struct{ Text string }
		CallID               string          `json:"call_id"`
		Arguments            json.RawMessage `json:"arguments"`
		Encrypted            string          `json:"encrypted_content"`
	}
	if !c.decode(raw, &m) {
		return
	}
	switch m.Type {
	case "", "message":
		c.list(m.Content, kindOf(m.Role), (*carrier).inputPart)
	case "reasoning":
		p := Piece{Kind: PieceThought, Name: "reasoning", ID: m.ID, Opaque: m.Encrypted}
		for _, s := range m.Summary {
			p.Text += s.Text
		}
		c.result(p, m.Content, (*carrier).inputPart)
	case "function_call":
		var arguments string
		c.decode(m.Arguments, &arguments)
		c.add(Piece{Kind: PieceCall, ID: m.CallID, Name: m.Name, Text: Canonical([]byte(arguments))})
	case "function_call_output":
		c.result(Piece{Kind: PieceResult, ID: m.CallID}, m.Output, (*carrier).inputPart)
	default:
		c.server(m.Type, raw, "_search_call", "_search_output", "code_interpreter_call", "mcp_")
	}
}

// inputPart adds a part of an item of the Responses API, whether the user or the model
// said it. kind is the kind of piece that a text in it becomes.
func (c *carrier) inputPart(kind string, raw json.RawMessage) {
	var p struct {
		Type, Text, Refusal string
		ImageURL            string `json:"image_url"`
	}
	if !c.decode(raw, &p) {
		return
	}
	switch p.Type {
	case "input_text", "output_text", "reasoning_text":
		c.add(Piece{Kind: kind, Text: p.Text})
	case "refusal":
		c.add(Piece{Kind: kind, Text: p.Refusal})
	case "input_image":
		_, data, _ := strings.Cut(p.ImageURL, ";base64,")
		c.add(Piece{Kind: PieceImage, Text: data})
	default:
		c.fail("part of type "+p.Type, raw)
	}
}

// geminiContent adds a turn of the Gemini API.
func (c *carrier) geminiContent(raw json.RawMessage) {
	var m struct {
		Role  string
		Parts []json.RawMessage
	}
	if c.decode(raw, &m) {
		c.each(m.Parts, func(raw json.RawMessage) { c.geminiPart(kindOf(m.Role), raw) })
	}
}

type geminiCall struct {
	ID, Name string
	Args     json.RawMessage
	Response map[string]json.RawMessage
	Parts    []json.RawMessage // images of a result
}

// geminiPart is a part; Google reads the names of fields in both spellings.
type geminiPart struct {
	Text       *string
	Thought    bool
	Signature  string                 `json:"thoughtSignature"`
	Signature2 string                 `json:"thought_signature"`
	Call       *geminiCall            `json:"functionCall"`
	Call2      *geminiCall            `json:"function_call"`
	Result     *geminiCall            `json:"functionResponse"`
	Result2    *geminiCall            `json:"function_response"`
	Image      *struct{ Data string } `json:"inlineData"`
	Image2     *struct{ Data string } `json:"inline_data"`
}

// geminiPart adds a part of a turn of the Gemini API; kind is the kind that a text has.
func (c *carrier) geminiPart(kind string, raw json.RawMessage) {
	var p geminiPart
	if !c.decode(raw, &p) {
		return
	}
	// Bytes, in either alphabet of base64; some clients read and write them again.
	signature := strings.NewReplacer("-", "+", "_", "/").Replace(cmp.Or(p.Signature, p.Signature2))
	call, result, image := cmp.Or(p.Call, p.Call2), cmp.Or(p.Result, p.Result2), cmp.Or(p.Image, p.Image2)
	switch {
	case call != nil:
		c.add(Piece{Kind: PieceCall, ID: call.ID, Name: call.Name, Text: Canonical(call.Args), Opaque: signature})
	case result != nil:
		c.add(Piece{Kind: PieceResult, ID: result.ID, Name: result.Name, Text: responseText(result.Response), Failed: result.Response["error"] != nil})
		c.each(result.Parts, func(raw json.RawMessage) { c.geminiPart(PieceResult, raw) })
	case image != nil:
		c.add(Piece{Kind: PieceImage, Text: image.Data})
	case p.Text != nil && p.Thought:
		c.add(Piece{Kind: PieceThought, Name: "thought", Text: *p.Text, Opaque: signature})
	case p.Text != nil:
		c.add(Piece{Kind: kind, Text: *p.Text, Opaque: signature})
	default:
		c.server(string(raw), raw, "executableCode", "codeExecutionResult", "toolCall", "toolResponse")
	}
}

// responseText is the text of a tool's result: clients wrap it in an object, under a
// name of their own, so the values of all fields are joined.
func responseText(object map[string]json.RawMessage) string {
	text := ""
	for _, raw := range object {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = Canonical(raw)
		}
		text += s
	}
	return text
}

// Canonical writes JSON with its keys in order, without blanks, its numbers as they
// came, so that equal values are equal texts. Without any JSON it is {}; what is no
// JSON stays as it is.
func Canonical(raw []byte) string {
	var v any
	if len(raw) == 0 {
		return "{}"
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}
