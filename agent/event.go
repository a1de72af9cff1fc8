package agent

import (
	"encoding/json"

	"pi/session"
)

// Kind names an event; its String is the name that hooks use.
type Kind uint8

const (
	KindNone Kind = iota
	KindSessionStart
	KindSessionShutdown
	KindInput
	KindBeforeAgentStart
	KindAgentStart
	KindAgentEnd
	KindAgentSettled
	KindTurnStart
	KindTurnEnd
	KindContext
	KindMessageStart
	KindMessageUpdate
	KindMessageEnd
	KindToolCall
	KindToolResult
	KindToolExecutionStart
	KindToolExecutionUpdate
	KindToolExecutionEnd
	KindUserBash
	KindModelSelect
	KindThinkingLevelSelect
	KindNotice // not for hooks: a line for the person
	numKinds
)

var kindNames = [numKinds]string{
	"", "session_start", "session_shutdown", "input", "before_agent_start", "agent_start", "agent_end",
	"agent_settled", "turn_start", "turn_end", "context", "message_start", "message_update", "message_end",
	"tool_call", "tool_result", "tool_execution_start", "tool_execution_update", "tool_execution_end",
	"user_bash", "model_select", "thinking_level_select", "notice",
}

func (k Kind) String() string { return kindNames[k] }

// Event is a pointer to one of the structs below. Fields under "result" are
// written by listeners, everything else is read only.
type Event interface{ Kind() Kind }

type SessionStart struct {
	Reason              string // startup reload new resume branch
	SessionID           string
	SessionFile         string
	PreviousSessionFile string
}

type SessionShutdown struct {
	Reason            string // quit reload new resume branch
	TargetSessionFile string
}

// Input is a prompt before it is written anywhere. Listeners may rewrite Text
// and Attachments, or set Handled: then the model is not asked.
type Input struct {
	Text              string
	Attachments       []session.Block
	Source            string // interactive print json rpc acp hook
	StreamingBehavior string // "", steer, follow_up
	Handled           bool   // result
}

// BeforeAgentStart comes after the user entry is written.
type BeforeAgentStart struct {
	Prompt       string
	Attachments  []session.Block
	SystemPrompt string             // result: the whole text, chains
	Messages     []*session.Message // result: role custom, appended in order
}

type AgentStart struct{}

type AgentEnd struct {
	Messages []*session.Message
	Usage    session.Usage
}

type AgentSettled struct{}

type TurnStart struct {
	TurnIndex int
	Timestamp int64
}

type TurnEnd struct {
	TurnIndex   int
	Message     *session.Message
	ToolResults []*session.Message
	EntryIDs    []string
	Usage       session.Usage
}

// Context is what the model is about to see; a listener replaces Items.
type Context struct {
	Entries []*session.Entry
	Items   []session.Item // result
}

type MessageStart struct{ Message *session.Message }

type MessageUpdate struct {
	Delta   Delta
	partial func() *session.Message
}

// Message is the answer as far as it has come, built when it is asked for. It
// may be called only while the event is handled.
func (e *MessageUpdate) Message() *session.Message { return e.partial() }

type MessageEnd struct {
	Message *session.Message // result: a message of the same role
}

// ToolCall is the gate. It is asked for every call before it runs. The first
// block ends it. Input is the arguments as rewritten so far, camelCase; a
// listener that rewrites puts other bytes in their place. Those asked before a
// rewrite are asked again, and of their second answers only a block counts.
type ToolCall struct {
	ID, Name          string
	Input             json.RawMessage // result
	RewrittenBy       string          // result: the hook that changed Input last
	Block             bool            // result
	Reason            string          // result
	BlockedBy         string          // result: the hook
	AdditionalContext []string        // result
	Terminate         bool            // result, with Block
}

// ToolResult lets listeners edit what a run that happened gave back.
type ToolResult struct {
	ID, Name string
	Input    json.RawMessage
	Result   Result // result
}

type ToolExecutionStart struct {
	ID, Name string
	Input    json.RawMessage
}

type ToolExecutionUpdate struct {
	ID, Name string
	Input    json.RawMessage
	Partial  Result
}

type ToolExecutionEnd struct {
	ID, Name string
	Input    json.RawMessage
	Result   Result
}

type UserBash struct {
	Command            string
	ExcludeFromContext bool
	Cwd                string
	Result             *BashOutcome // result: runs nothing
	Blocked            string       // result: why it must not run
}

// BashOutcome is how a shell command of the person ended.
type BashOutcome struct {
	Output         string
	ExitCode       *int
	Cancelled      bool
	Truncated      bool
	FullOutputPath string
}

type ModelSelect struct {
	Model, Previous *Model
	ThinkingLevel   string
	Source          string // set cycle restore
}

type ThinkingLevelSelect struct{ Level, Previous string }

// Notice is a line for the person that is no part of the conversation.
type Notice struct {
	Text  string
	Level Level
}

func (*SessionStart) Kind() Kind        { return KindSessionStart }
func (*SessionShutdown) Kind() Kind     { return KindSessionShutdown }
func (*Input) Kind() Kind               { return KindInput }
func (*BeforeAgentStart) Kind() Kind    { return KindBeforeAgentStart }
func (*AgentStart) Kind() Kind          { return KindAgentStart }
func (*AgentEnd) Kind() Kind            { return KindAgentEnd }
func (*AgentSettled) Kind() Kind        { return KindAgentSettled }
func (*TurnStart) Kind() Kind           { return KindTurnStart }
func (*TurnEnd) Kind() Kind             { return KindTurnEnd }
func (*Context) Kind() Kind             { return KindContext }
func (*MessageStart) Kind() Kind        { return KindMessageStart }
func (*MessageUpdate) Kind() Kind       { return KindMessageUpdate }
func (*MessageEnd) Kind() Kind          { return KindMessageEnd }
func (*ToolCall) Kind() Kind            { return KindToolCall }
func (*ToolResult) Kind() Kind          { return KindToolResult }
func (*ToolExecutionStart) Kind() Kind  { return KindToolExecutionStart }
func (*ToolExecutionUpdate) Kind() Kind { return KindToolExecutionUpdate }
func (*ToolExecutionEnd) Kind() Kind    { return KindToolExecutionEnd }
func (*UserBash) Kind() Kind            { return KindUserBash }
func (*ModelSelect) Kind() Kind         { return KindModelSelect }
func (*ThinkingLevelSelect) Kind() Kind { return KindThinkingLevelSelect }
func (*Notice) Kind() Kind              { return KindNotice }
