package agent

import (
	"pi/agent/prefix"
	"pi/session"
	"pi/session/message"
)

// Input is a prompt before it is written anywhere. Listeners may rewrite Text
// and Attachments, or set Handled: then the model is not asked.
type Input struct {
	Text              string          // result
	Attachments       []message.Block // result
	Source            string          // interactive print json rpc acp hook
	StreamingBehavior string          // "", steer, follow_up
	Handled           bool            // result
}

// BeforeAgentStart comes after the user entry is written. Changes of the system prompt
// are for this prompt only; [BeforeAgentStart.Prompts] returns it as it is so far.
type BeforeAgentStart struct {
	Prompt       string // of a run that a custom message triggers: its text
	MessageType  string // of a run that a custom message triggers: its custom type
	Attachments  []message.Block
	SystemPrompt string             // result: the whole text, chains; wins over Changed
	Sections     []Section          // the named sections of the system prompt, in order
	Changed      map[string]*string // result: sections added, replaced, or (nil) removed; merged
	Messages     []*message.Message // result: role custom, appended in order
	Stages       []PromptStage      // result: in order, one for each answer that was about the system prompt
}

// PromptStage is the system prompt as one listener left it.
type PromptStage = prefix.Stage[string]

// AgentStart comes when the messages of a prompt are in the session, and once more if a
// program queued something while the context was compacted behind AgentEnd.
type AgentStart struct{}

// AgentEnd comes when a run takes no more turns, with all that it added and used.
type AgentEnd struct {
	Messages  []*message.Message
	Usage     message.Usage
	WillRetry bool
	Overflow  bool // not for hooks: it ended because a request did not fit
}

// AgentBeforeSettle comes when a run would end. Listeners may add entries and
// make it go on, also after a failed model call; not after an interrupt, a limit,
// or a gate that ended it.
type AgentBeforeSettle struct {
	Outcome  string // completed aborted error
	Messages []*message.Message
	Continuation
}

// Continuation is what listeners want to happen after a turn. Entries are of the
// types custom, custom_message, context_edit and compaction, with the body types
// of the session as values. Continue asks the model also where it made no calls;
// if nothing follows its answer then, there is nothing to send, and the run ends
// with an error.
type Continuation struct {
	Entries     []session.Draft // result: appended in order, all or none
	Continue    bool            // result: ask the model once more
	ContinuedBy string          // result: the hook that wanted it last
	ContinuedAt string          // result: the path of that hook
	Limit       *int            // result: see [Origin]
}

// origin is the cause of the request that listeners want.
func (c Continuation) origin() Origin {
	return Origin{Kind: FromHook, Hook: c.ContinuedBy, Path: c.ContinuedAt, Limit: c.Limit}
}

// AgentSettled is the last event of a run.
type AgentSettled struct {
	Aborted bool // the run was interrupted
}

// TurnStart comes before the model is asked in a turn.
type TurnStart struct {
	TurnIndex int
	Timestamp int64
}

// TurnEnd comes when the calls of an answer have their results.
type TurnEnd struct {
	TurnIndex   int
	Message     *message.Message
	ToolResults []*message.Message
	EntryIDs    []string
	Usage       func() TurnUsage `json:"-"` // nil: nothing is known; see Used
	Continuation
}

// Used is what the turn cost and how full the context is. It is counted at the first
// call, for that needs a walk over the conversation.
func (e *TurnEnd) Used() TurnUsage {
	if e.Usage == nil {
		return TurnUsage{}
	}
	return e.Usage()
}

// TurnUsage is what a turn cost and how full the context is.
type TurnUsage struct {
	message.Usage
	ContextUsage
}

// ContextUsage says how full the context is.
type ContextUsage struct {
	Tokens  int // -1: unknown
	Window  int // of the model; 0: unknown
	Percent float64
}

// Context is what the model is about to see; a listener replaces Items, and adds
// a stage that says so.
type Context struct {
	Entries []*session.Entry
	Items   []session.Item // result
	Stages  []ContextStage // result: in order, one for each answer
}

// ContextStage is the list as one listener left it.
type ContextStage = prefix.Stage[[]session.Item]

// QueueChanged tells front ends which texts of people and programs wait in the queues:
// both whole and never nil, after each change. A message that is delivered leaves them
// right before its EntryAppended. What hooks sent is not among them. Hooks do not get it.
type QueueChanged struct{ Steering, FollowUp []string }

func (*Input) Kind() Kind             { return KindInput }
func (*BeforeAgentStart) Kind() Kind  { return KindBeforeAgentStart }
func (*AgentStart) Kind() Kind        { return KindAgentStart }
func (*AgentEnd) Kind() Kind          { return KindAgentEnd }
func (*AgentBeforeSettle) Kind() Kind { return KindAgentBeforeSettle }
func (*AgentSettled) Kind() Kind      { return KindAgentSettled }
func (*TurnStart) Kind() Kind         { return KindTurnStart }
func (*TurnEnd) Kind() Kind           { return KindTurnEnd }
func (*Context) Kind() Kind           { return KindContext }

// Kind is KindQueueChanged.
func (*QueueChanged) Kind() Kind { return KindQueueChanged }
