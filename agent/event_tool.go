package agent

import (
	"encoding/json"
	"time"

	"pi/session/message"
)

// ToolCall is the gate: it comes for every call before that runs. The first block ends
// it. Input is the arguments as rewritten so far, camelCase; a listener that rewrites
// puts other bytes in their place, which the listeners behind it get. One before it is
// not asked again: the chain of hooks, which comes first, does that among its own.
type ToolCall struct {
	ID, Name          string
	Annotations       Annotations     // of the tool; of one of a server what that claims
	Server            *ServerCall     // nil: the tool is none of a server
	Input             json.RawMessage // result
	RewrittenBy       string          // result: the hook that changed Input last
	Block             bool            // result
	Reason            string          // result
	BlockedBy         string          // result: the hook
	AdditionalContext []string        // result
	Terminate         bool            // result, with Block
}

// ToolResult lets listeners edit the result of a tool that ran.
type ToolResult struct {
	ID, Name string
	Input    json.RawMessage
	Result   Result // result
}

// ToolExecutionStart comes before the gate is asked about a call, with the arguments as
// the model sent them.
type ToolExecutionStart struct {
	ID, Name string
	Input    json.RawMessage
}

// ToolExecutionUpdate is progress of a running tool: what there is so far, instead of the
// update before, a few times a second at most. None comes behind the end of the tool. Its
// arguments are as the model sent them, like those of ToolExecutionStart.
type ToolExecutionUpdate struct {
	ID, Name string
	Input    json.RawMessage
	Partial  Result
}

// ToolClock tells front ends that the time of a tool runs from now on, or stands: it begins
// when the tool does, which is behind the gate, and stands while the tool waits for the
// user, and from its end on. It comes on the goroutine of what brought that about.
type ToolClock struct {
	ID   string
	Runs bool
}

// ToolRan tells front ends at once that a tool has ended, on the goroutine of that. Its
// result comes with ToolExecutionEnd, in the order of the calls.
type ToolRan struct {
	ID     string
	Failed bool
}

// ToolExecutionEnd comes with the result of every call, also of one that did not run.
type ToolExecutionEnd struct {
	ID, Name string
	Input    json.RawMessage
	Result   Result
	Took     time.Duration // how long the tool ran, without waits for the user; 0 if it did not run
}

// UserBash is the gate of the user's own shell commands. A listener that rewrites the
// command is not asked again, as with ToolCall.
type UserBash struct {
	Command            string // result
	ExcludeFromContext bool
	Cwd                string
	Result             *BashOutcome // result: runs nothing
	Blocked            string       // result: why it must not run
}

// ShellCommand comes before a shell runs a command that passed the gates, and asks for the
// program that the command is handed to instead of the shell. Whoever runs it emits it.
type ShellCommand struct {
	Command, Cwd string
	Source       string   // "tool" or "user"
	Wrap         []string // result: a program and its arguments, the command follows; nil: the shell
	Blocked      string   // result: why it must not run
}

// CustomShow tells front ends of a message that came into the session by a hook
// and is to be shown: a custom one, or a prompt that waited while the agent
// worked, typed by the user or sent by a hook.
type CustomShow struct {
	Message *message.Message
	Typed   bool
}

func (*ToolCall) Kind() Kind            { return KindToolCall }
func (*ToolResult) Kind() Kind          { return KindToolResult }
func (*ToolExecutionStart) Kind() Kind  { return KindToolExecutionStart }
func (*ToolExecutionUpdate) Kind() Kind { return KindToolExecutionUpdate }
func (*ToolClock) Kind() Kind           { return KindToolClock }
func (*ToolRan) Kind() Kind             { return KindToolRan }
func (*ToolExecutionEnd) Kind() Kind    { return KindToolExecutionEnd }
func (*UserBash) Kind() Kind            { return KindUserBash }
func (*ShellCommand) Kind() Kind        { return KindShell }
func (*CustomShow) Kind() Kind          { return KindCustomShow }

// HookFailed comes when a hook failed: hooks get it as hook_error, and front ends that
// pass events on get it too.
type HookFailed struct {
	Hook      string // its name
	Path      string
	Event     string // what it was called for: an event, /NAME, shortcut KEY, timer.every, load
	Message   string // with file and line
	Traceback string // "" for none
	Count     int    // how often this has come from the same handler, with this message
}

// Kind is KindHookError.
func (*HookFailed) Kind() Kind { return KindHookError }
