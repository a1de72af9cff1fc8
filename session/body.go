package session

import (
	"encoding/json"

	"pi/session/message"
	"pi/session/rawjson"
)

// Entry types of the core. Everything else is a hook's own, or from a newer
// version: kept, walked through and otherwise ignored.
const (
	TypeSession             = "session" // the header; reserved, never an entry
	TypeMessage             = "message"
	TypeThinkingLevelChange = "thinking_level_change"
	TypeModelChange         = "model_change"
	TypeCompaction          = "compaction"
	TypeBranchSummary       = "branch_summary"
	TypeContextEdit         = "context_edit"
	TypeUsage               = "usage"
	TypeCustom              = "custom"
	TypeCustomMessage       = "custom_message"
	TypeLabel               = "label"
	TypeSessionInfo         = "session_info"
)

// LeafMove is the customType of the custom entry that records a move of the
// leaf: its parent is the new position.
const LeafMove = "pi.leaf"

// ModeChange is the customType of the custom entry that records which mode is on from
// there on.
const ModeChange = "pi.mode"

// DateChange is the customType of the custom message, not shown, that tells the model which
// day it is, where that is another one than the session began on.
const DateChange = "pi.date"

// GitBranch is the customType of the custom entry that records which branch of git the
// directory of the session is on from there on.
const GitBranch = "pi.branch"

// ReservedCustom reports whether a customType belongs to the core.
func ReservedCustom(customType string) bool {
	return customType == LeafMove || customType == ModeChange || customType == GitBranch
}

// Reserved reports whether an entry type belongs to the core.
func Reserved(typ string) bool {
	switch typ {
	case TypeSession, TypeMessage, TypeThinkingLevelChange, TypeModelChange, TypeCompaction, TypeBranchSummary,
		TypeContextEdit, TypeUsage, TypeCustom, TypeCustomMessage, TypeLabel, TypeSessionInfo:
		return true
	}
	return false
}

// Compaction stands for everything before FirstKeptEntryID. If that is the
// entry's own id, or not on the path, nothing before the entry is kept.
type Compaction struct {
	Summary          string          `json:"summary"`
	FirstKeptEntryID string          `json:"firstKeptEntryId"`
	TokensBefore     int             `json:"tokensBefore"`
	Details          json.RawMessage `json:"details,omitempty"`
	FromHook         bool            `json:"fromHook,omitempty"`
	Usage            *message.Usage  `json:"usage,omitempty"`
	SystemMessage    json.RawMessage `json:"systemMessage,omitempty"`

	// About is the last entry of the branch that the summary knows of, where it is
	// to be appended. If nothing before that is kept, what was said since then is.
	About *Entry `json:"-"`
}

// BranchSummary tells what happened on a branch that was left. FromID is the
// leaf that was left, or "root".
type BranchSummary struct {
	FromID   string          `json:"fromId"`
	Summary  string          `json:"summary"`
	Details  json.RawMessage `json:"details,omitempty"`
	FromHook bool            `json:"fromHook,omitempty"`
	Usage    *message.Usage  `json:"usage,omitempty"`
}

// ContextEdit changes what the model sees of one message. A nil Replacement
// takes the message out of the context.
type ContextEdit struct {
	TargetID    string       `json:"targetId"`
	Replacement *Replacement `json:"replacement"`
}

// Replacement is new content. Plain content is written as a bare string; for
// an assistant message or a tool result it stands for one text block.
type Replacement struct {
	Content []message.Block
	Plain   bool
}

// ModelChange says which model answers from here on.
type ModelChange struct {
	Provider string `json:"provider"`
	ModelID  string `json:"modelId"`
}

// ThinkingLevelChange says how much the model thinks from here on. Wished is of off, where it
// could also be what became of another wish: the user said it.
type ThinkingLevelChange struct {
	ThinkingLevel string `json:"thinkingLevel"`
	Wished        bool   `json:"wished,omitempty"`
}

// UsageEntry counts a model call outside the conversation.
type UsageEntry struct {
	Kind     string         `json:"kind"`
	Provider string         `json:"provider"`
	Model    string         `json:"model"`
	Usage    *message.Usage `json:"usage"`
	Note     string         `json:"note,omitempty"`
}

// Custom is a hook's state; the model never sees it.
type Custom struct {
	CustomType string          `json:"customType"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// CustomMessage is a hook's message; it goes to the model as a user message.
type CustomMessage struct {
	CustomType string
	Content    []message.Block
	Plain      bool // Content is one text block that the file holds as a bare string
	Display    bool
	Details    json.RawMessage
}

// OnGitBranch is the data of a custom entry of the type GitBranch.
type OnGitBranch struct {
	Name string `json:"name"`
}

// Label names an entry; an empty one takes the name away.
type Label struct {
	TargetID string `json:"targetId"`
	Label    string `json:"label,omitempty"`
}

// SessionInfo names the session; an empty name takes it away.
type SessionInfo struct {
	Name string `json:"name,omitempty"`
}

// MarshalJSON writes {"content": …}.
func (r *Replacement) MarshalJSON() ([]byte, error) {
	var o rawjson.Object
	o.Put("content", message.EncodeContent(r.Content, r.Plain))
	return o.Bytes(), nil
}

// UnmarshalJSON reads {"content": …}.
func (r *Replacement) UnmarshalJSON(data []byte) error {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return err
	}
	r.Content, r.Plain = message.DecodeContent(rawjson.Field(raw, "content"))
	return nil
}

// MarshalJSON writes the fields in the order of the file.
func (c CustomMessage) MarshalJSON() ([]byte, error) {
	var o rawjson.Object
	o.Text("customType", c.CustomType)
	o.Put("content", message.EncodeContent(c.Content, c.Plain))
	o.Flag("display", c.Display)
	if c.Details != nil {
		o.Put("details", rawjson.OrNull(c.Details))
	}
	return o.Bytes(), nil
}

// UnmarshalJSON accepts any object.
func (c *CustomMessage) UnmarshalJSON(data []byte) error {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return err
	}
	m := message.Decode(raw)
	*c = CustomMessage{CustomType: m.CustomType, Content: m.Content, Plain: m.Plain, Display: m.Display, Details: m.Details}
	return nil
}
