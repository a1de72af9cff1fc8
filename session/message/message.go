package message

import (
	"encoding/json"
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
