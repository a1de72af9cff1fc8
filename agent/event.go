package agent

// Kind names an event; its String is the name that hooks use.
type Kind uint8

const (
	KindNone Kind = iota

	KindProjectTrust
	KindAppStart
	KindSessionDirectory
	KindSessionStart
	KindSessionBeforeSwitch
	KindSessionSwitch
	KindSessionBeforeNew
	KindSessionNew
	KindSessionBeforeBranch
	KindSessionBranch
	KindSessionBeforeCompact
	KindSessionCompacting
	KindSessionCompact
	KindSessionCompactFailed
	KindSessionInfoChanged
	KindSessionBeforeTree
	KindSessionTree
	KindSessionShutdown

	KindInput
	KindBeforeAgentStart
	KindAgentStart
	KindAgentEnd
	KindAgentBeforeSettle
	KindAgentSettled
	KindTurnStart
	KindTurnEnd
	KindContext
	KindBeforeProviderRequest
	KindBeforeProviderHeaders
	KindAfterProviderResponse
	KindMessageStart
	KindMessageUpdate
	KindMessageEnd
	KindModelSelect
	KindThinkingLevelSelect
	KindUIPromptStart
	KindUIPromptEnd
	KindHookError
	KindCompactionStart
	KindCompactionEnd
	KindAutoCompactionStart
	KindAutoCompactionEnd
	KindAutoRetryStart
	KindAutoRetryEnd

	KindToolCall
	KindToolResult
	KindToolExecutionStart
	KindToolExecutionUpdate
	KindToolExecutionEnd
	KindUserBash

	KindNotice          // not for hooks: a line for the person
	KindCustomShow      // not for hooks: a message of a hook that is to be shown came into the session
	KindAutoRetryWaited // not for hooks: the wait that auto_retry_start told of is over
	numKinds
)

var kindNames = [numKinds]string{
	"",
	"project_trust", "app_start", "session_directory", "session_start", "session_before_switch", "session_switch",
	"session_before_new", "session_new", "session_before_branch", "session_branch", "session_before_compact",
	"session_compacting", "session_compact", "session_compact_failed", "session_info_changed", "session_before_tree",
	"session_tree", "session_shutdown",
	"input", "before_agent_start", "agent_start", "agent_end", "agent_before_settle", "agent_settled", "turn_start",
	"turn_end", "context", "before_provider_request", "before_provider_headers", "after_provider_response",
	"message_start", "message_update", "message_end", "model_select", "thinking_level_select", "ui_prompt_start",
	"ui_prompt_end", "hook_error", "compaction_start", "compaction_end", "auto_compaction_start", "auto_compaction_end",
	"auto_retry_start", "auto_retry_end",
	"tool_call", "tool_result", "tool_execution_start", "tool_execution_update", "tool_execution_end", "user_bash",
	"notice", "custom_show", "auto_retry_waited",
}

func (k Kind) String() string { return kindNames[k] }

// Event is a pointer to one of the structs of the event_*.go files. Fields
// under "result" are written by listeners, everything else is read only.
type Event interface{ Kind() Kind }
