// Package message is what was said: messages, their blocks and the tokens that they
// took, and how they are written in a session file.
//
// A [Message] that was read keeps its bytes, and has them again when it is written. Of
// one that was changed, which is a [Message.Clone], everything that did not change
// keeps its bytes, the fields that nobody here knows among them. [Decode] and
// UnmarshalJSON never fail because of a field: what has another type than it should is
// as if it were missing.
//
// A model is not sent every message, and none that no API takes: [Hidden] tells those
// that are left out, [AsUser] puts what only a session knows (commands, summaries,
// messages of hooks) into words, and [Clean] mends names, texts and arguments. How
// messages of a session become a request, calls paired with their results, is package
// session's.
package message

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"pi/session/rawjson"
)

// Role says who a message is from. The values are those of the session file.
type Role string

const (
	RoleUser              Role = "user"
	RoleAssistant         Role = "assistant"
	RoleToolResult        Role = "toolResult"
	RoleBashExecution     Role = "bashExecution"
	RoleCustom            Role = "custom"            // from a custom_message entry
	RoleBranchSummary     Role = "branchSummary"     // from a branch_summary entry
	RoleCompactionSummary Role = "compactionSummary" // from a compaction entry
	RoleSystem            Role = "system"            // written by others; kept in the file, never sent
)

// StopReason says why an assistant message ended. Values that are not listed
// here may stand in files written by others and never fail a load.
type StopReason string

const (
	StopEnd     StopReason = "stop"
	StopLength  StopReason = "length"
	StopToolUse StopReason = "toolUse"
	StopError   StopReason = "error"
	StopAborted StopReason = "aborted"
)

// Message is one message of a conversation. It is immutable once it is part of
// a session or was handed to another room; a change is a [Message.Clone].
//
// Which fields mean something depends on Role: they are grouped below.
type Message struct {
	Role      Role
	Content   []Block // user, assistant, toolResult, custom
	Plain     bool    // Content is one text block that the file holds as a bare string
	Timestamp int64   // milliseconds since the epoch

	// assistant
	API, Provider, Model string
	Usage                *Usage
	StopReason           StopReason
	ErrorMessage         string
	ThinkingLevel        string // that the request asked for; "" in files of others

	// toolResult
	ToolCallID, ToolName string
	IsError              bool
	Details              json.RawMessage // toolResult, custom; nil if none

	// bashExecution
	Command, Output    string
	ExitCode           *int
	Cancelled          bool
	Truncated          bool
	FullOutputPath     string
	ExcludeFromContext bool

	// custom
	CustomType string
	Display    bool

	// branchSummary, compactionSummary
	Summary      string
	FromID       string
	TokensBefore int

	raw  json.RawMessage // the bytes this was decoded from, nil for a new or cloned message
	base json.RawMessage // of a clone: the original's bytes, whose unknown fields survive
}

// BlockType names a kind of content block.
type BlockType string

const (
	BlockText     BlockType = "text"
	BlockThinking BlockType = "thinking"
	BlockToolCall BlockType = "toolCall"
	BlockImage    BlockType = "image"
)

// Block is one piece of a message's content. Like a message it is immutable
// once shared. A block of a type not listed above is kept as it came (Raw).
type Block struct {
	Type BlockType

	Text      string // text; thinking: the thought
	Signature string // textSignature or thinkingSignature; toolCall: thoughtSignature
	Redacted  bool   // thinking whose text is withheld; Signature holds the opaque data

	// toolCall
	ID, Name  string
	Arguments json.RawMessage // an object, as the model sent it, camelCase

	// image
	Data     string // base64
	MimeType string

	Raw json.RawMessage // original bytes when decoded; nil for a new block
}

// Usage counts the tokens of one model call. Input excludes cached tokens.
type Usage struct {
	Input       int  `json:"input"`
	Output      int  `json:"output"`
	CacheRead   int  `json:"cacheRead"`
	CacheWrite  int  `json:"cacheWrite"`
	TotalTokens int  `json:"totalTokens"`
	Cost        Cost `json:"cost"`
}

// Cost is in the catalogue's currency; all zero also when prices are unknown.
type Cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

// Clone returns a copy that may be changed before it is shared. Its Content is
// a new slice; fields of the original's JSON that pi does not know survive.
func (m *Message) Clone() *Message {
	c := *m
	c.Content = append([]Block(nil), m.Content...)
	if m.raw != nil {
		c.base = m.raw
	}
	c.raw = nil
	return &c
}

// Text joins the text blocks of the message, without separators.
func (m *Message) Text() string {
	if len(m.Content) == 1 && m.Content[0].Type == BlockText {
		return m.Content[0].Text
	}
	var s []byte
	for i := range m.Content {
		if m.Content[i].Type == BlockText {
			s = append(s, m.Content[i].Text...)
		}
	}
	return string(s)
}

// Typed returns what a message of the user was typed as: its first block of text. What went
// along with it, such as files, are the blocks behind that.
func (m *Message) Typed() string {
	for i := range m.Content {
		if m.Content[i].Type == BlockText {
			return m.Content[i].Text
		}
	}
	return ""
}

// ToolCalls returns the tool-call blocks, in order.
func (m *Message) ToolCalls() []Block {
	var calls []Block
	for _, b := range m.Content {
		if b.Type == BlockToolCall {
			calls = append(calls, b)
		}
	}
	return calls
}

// TextBlock returns a text block.
func TextBlock(s string) Block { return Block{Type: BlockText, Text: s} }

// ContextTokens is how many tokens the context of the call and its answer were
// together.
func (u *Usage) ContextTokens() int {
	if n := u.Input + u.Output + u.CacheRead + u.CacheWrite; n > 0 {
		return n
	}
	return u.TotalTokens
}

// Add adds what was used besides; nil is nothing.
func (u *Usage) Add(used *Usage) {
	if used == nil {
		return
	}
	u.Input += used.Input
	u.Output += used.Output
	u.CacheRead += used.CacheRead
	u.CacheWrite += used.CacheWrite
	u.TotalTokens += used.TotalTokens
	u.Cost.Input += used.Cost.Input
	u.Cost.Output += used.Cost.Output
	u.Cost.CacheRead += used.Cost.CacheRead
	u.Cost.CacheWrite += used.Cost.CacheWrite
	u.Cost.Total += used.Cost.Total
}

// decodeBlock reads one content block from valid JSON. It never fails: a block
// of a type nobody knows has only its Type and Raw.
func decodeBlock(raw []byte) Block {
	b := Block{Type: BlockType(rawjson.Unquote(rawjson.Field(raw, "type"))), Raw: raw}
	seen := rawjson.KeySet{}
	for k, v := range rawjson.Fields(raw) {
		if seen.First(k) {
			b.setField(string(k), v)
		}
	}
	return b
}

// setField decodes the value of a key of the block's JSON; keys that its type does not
// know stay in Raw.
func (b *Block) setField(key string, v []byte) {
	switch string(b.Type) + "." + key {
	case "text.text", "thinking.thinking":
		b.Text = rawjson.Unquote(v)
	case "text.textSignature", "thinking.thinkingSignature", "toolCall.thoughtSignature":
		b.Signature = rawjson.Unquote(v)
	case "thinking.redacted":
		b.Redacted = string(v) == "true"
	case "toolCall.id":
		b.ID = rawjson.Unquote(v)
	case "toolCall.name":
		b.Name = rawjson.Unquote(v)
	case "toolCall.arguments":
		b.Arguments = v
	case "image.data":
		b.Data = rawjson.Unquote(v)
	case "image.mimeType":
		b.MimeType = rawjson.Unquote(v)
	}
}

// MarshalJSON returns the block as it stands in a session file. A decoded block
// that was not changed has its original bytes; of a changed one the fields that
// nobody knows survive.
func (b Block) MarshalJSON() ([]byte, error) { return b.encode(), nil }

// encode returns the block as it stands in a session file: its original bytes if it was
// decoded and not changed, else its fields, with those of the original that nobody
// knows.
func (b *Block) encode() []byte {
	if b.Raw == nil {
		return blockFields(b).Bytes()
	}
	was := decodeBlock(b.Raw)
	if b.Equal(&was) {
		return b.Raw
	}
	return rawjson.Overlay(b.Raw, blockFields(&was), blockFields(b))
}

// UnmarshalJSON accepts any object.
func (b *Block) UnmarshalJSON(data []byte) error {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return err
	}
	*b = decodeBlock(raw)
	return nil
}

// Equal reports whether two blocks have the same type and the same fields. Raw, and with
// it every field that this package does not know, does not count.
func (b *Block) Equal(c *Block) bool {
	return b.Type == c.Type && b.Text == c.Text && b.Signature == c.Signature && b.Redacted == c.Redacted &&
		b.ID == c.ID && b.Name == c.Name && bytes.Equal(b.Arguments, c.Arguments) &&
		b.Data == c.Data && b.MimeType == c.MimeType
}

// blockFields lists what a block of its type has, in the order of the file.
func blockFields(b *Block) rawjson.Object {
	o := rawjson.Object{}
	o.Text("type", string(b.Type))
	switch b.Type {
	case BlockText:
		o.Text("text", b.Text)
		o.Optional("textSignature", b.Signature)
	case BlockThinking:
		o.Text("thinking", b.Text)
		o.Optional("thinkingSignature", b.Signature)
		if b.Redacted {
			o.Flag("redacted", true)
		}
	case BlockToolCall:
		o.Text("id", b.ID)
		o.Text("name", b.Name)
		o.Put("arguments", arguments(b.Arguments))
		o.Optional("thoughtSignature", b.Signature)
	case BlockImage:
		o.Text("data", b.Data)
		o.Text("mimeType", b.MimeType)
	}
	return o
}

// arguments is the JSON of a call's arguments: an object also where there are none.
func arguments(v json.RawMessage) []byte {
	if len(bytes.TrimSpace(v)) == 0 {
		return []byte("{}")
	}
	return rawjson.OrNull(v)
}

// FileBlock is a file that goes along with a prompt: an image, known by its bytes and
// not by its name, as an image block, a text as a text block that names the file
// ("" names none). It reports false for anything else.
func FileBlock(name string, content []byte) (b Block, ok bool) {
	if kind := ImageType(content); kind != "" {
		return ImageBlock(kind, content), true
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return Block{}, false
	}
	return NamedText(name, string(content)), true
}

// ImageBlock is an image, of a MIME type, as a block.
func ImageBlock(kind string, content []byte) Block {
	return Block{Type: BlockImage, MimeType: kind, Data: base64.StdEncoding.EncodeToString(content)}
}

// NamedText is a text block that says which file the text is of; "" is none.
func NamedText(name, text string) Block {
	if name == "" {
		return TextBlock(text)
	}
	return TextBlock(fmt.Sprintf("<file name=%q>\n%s\n</file>", name, text))
}

// ImageType is the MIME type of an image that models can see, or "". It goes by the
// first bytes of a file, 12 of them: names lie.
func ImageType(start []byte) string {
	switch {
	case bytes.HasPrefix(start, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(start, []byte("\xFF\xD8\xFF")):
		return "image/jpeg"
	case bytes.HasPrefix(start, []byte("GIF87a")), bytes.HasPrefix(start, []byte("GIF89a")):
		return "image/gif"
	case len(start) >= 12 && bytes.HasPrefix(start, []byte("RIFF")) && string(start[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// The sentences with which things that are no prompt stand before the model.

const (
	compactionIntro = "This is a summary of the earlier conversation, which is no longer shown in full:"
	branchIntro     = "This is a summary of another branch of this conversation, which was left at this point:"
)

// Hidden reports whether no request ever has the message: a failed or aborted
// answer, an excluded command, an empty summary, a message of the role system or of
// one that nobody knows.
func Hidden(m *Message) bool {
	switch m.Role {
	case RoleUser, RoleToolResult, RoleCustom:
		return false
	case RoleAssistant:
		return m.StopReason == StopError || m.StopReason == StopAborted
	case RoleBashExecution:
		return m.ExcludeFromContext
	case RoleBranchSummary, RoleCompactionSummary:
		return m.Summary == ""
	}
	return true
}

// AsUser turns what only the session file knows, messages of hooks, commands and
// summaries, into user messages. Others it returns as they are.
func AsUser(m *Message) *Message {
	switch m.Role {
	case RoleCustom:
		return &Message{Role: RoleUser, Content: m.Content, Timestamp: m.Timestamp}
	case RoleBashExecution:
		return userText(CommandText(m), m.Timestamp)
	case RoleCompactionSummary:
		return userText(summaryText(compactionIntro, m.Summary), m.Timestamp)
	case RoleBranchSummary:
		return userText(summaryText(branchIntro, m.Summary), m.Timestamp)
	}
	return m
}

func userText(s string, at int64) *Message {
	return &Message{Role: RoleUser, Content: []Block{TextBlock(s)}, Timestamp: at}
}

func summaryText(intro, summary string) string {
	return intro + "\n\n<summary>\n" + summary + "\n</summary>"
}

// CommandText is what a model reads of a bashExecution message: the command, its
// output, and how it ended.
func CommandText(m *Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The user ran a shell command:\n$ %s\n", m.Command)
	if m.Output == "" {
		b.WriteString("It printed nothing.")
	} else {
		fmt.Fprintf(&b, "<output>\n%s\n</output>", strings.TrimSuffix(m.Output, "\n"))
	}
	if m.Cancelled {
		b.WriteString("\nIt was cancelled.")
	} else if m.ExitCode != nil && *m.ExitCode != 0 {
		fmt.Fprintf(&b, "\nIt exited with status %d.", *m.ExitCode)
	}
	if m.Truncated && m.FullOutputPath != "" {
		fmt.Fprintf(&b, "\nThe output is shortened; all of it, or its last 64 MiB, is in %s.", m.FullOutputPath)
	} else if m.Truncated {
		b.WriteString("\nThe output is shortened.")
	}
	return b.String()
}
