package acp

import "encoding/json"

// The shapes of what is written, by the protocol's schema v1. A field that may be absent
// is absent when it has no value, never null.

// implementation names the program.
type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

// empty is an object without members: an answer without content, or something that is
// offered.
type empty struct{}

type initialized struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities agentCapabilities `json:"agentCapabilities"`
	AuthMethods       []signIn          `json:"authMethods"`
	AgentInfo         implementation    `json:"agentInfo"`
}

// signIn is a way to sign in: the client starts the program once more in a terminal, with
// these arguments behind its own.
type signIn struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Args        []string `json:"args"`
}

type agentCapabilities struct {
	LoadSession         bool                `json:"loadSession"`
	PromptCapabilities  promptCapabilities  `json:"promptCapabilities"`
	MCPCapabilities     mcpCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities sessionCapabilities `json:"sessionCapabilities"`
}

type promptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

type mcpCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

type sessionCapabilities struct {
	List   empty `json:"list"`
	Resume empty `json:"resume"`
	Delete empty `json:"delete"`
	Close  empty `json:"close"`
}

// opened answers session/new, session/load and session/resume.
type opened struct {
	SessionID     string         `json:"sessionId,omitempty"` // only of session/new
	Modes         *modeState     `json:"modes,omitempty"`
	ConfigOptions []configOption `json:"configOptions"`
}

type modeState struct {
	Current   string     `json:"currentModeId"`
	Available []workMode `json:"availableModes"`
}

type workMode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// configOption is a select. There are no options of other types.
type configOption struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Category string         `json:"category"`
	Type     string         `json:"type"`
	Current  string         `json:"currentValue"`
	Options  []configChoice `json:"options"`
}

type configChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type configured struct {
	ConfigOptions []configOption `json:"configOptions"`
}

type listed struct {
	Sessions   []sessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitempty"`
}

type sessionInfo struct {
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

// Why a prompt ended.
const (
	endTurn         = "end_turn"
	endMaxTokens    = "max_tokens"
	endMaxRequests  = "max_turn_requests"
	endRefusal      = "refusal"
	endWasCancelled = "cancelled"
)

type prompted struct {
	StopReason string `json:"stopReason"`
}

// update is the content of a session/update: one of the types below.
type update any

type sessionUpdate struct {
	SessionID string `json:"sessionId"`
	Update    update `json:"update"`
}

// Blocks of content.
type (
	textContent struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	imageContent struct {
		Type     string `json:"type"`
		Data     string `json:"data"`
		MimeType string `json:"mimeType"`
	}
)

func textOf(text string) textContent { return textContent{"text", text} }

func imageOf(data, mimeType string) imageContent { return imageContent{"image", data, mimeType} }

// Whose words a chunk has.
const (
	userChunk    = "user_message_chunk"
	agentChunk   = "agent_message_chunk"
	thoughtChunk = "agent_thought_chunk"
)

type chunk struct {
	SessionUpdate string `json:"sessionUpdate"`
	MessageID     string `json:"messageId"`
	Content       any    `json:"content"`
}

// toolCall is a tool_call, a tool_call_update, or the call that a permission is asked for,
// which has no SessionUpdate. Of an update what is absent stays as it was.
type toolCall struct {
	SessionUpdate string          `json:"sessionUpdate,omitempty"`
	ID            string          `json:"toolCallId"`
	Title         string          `json:"title,omitempty"`
	Name          string          `json:"name,omitempty"`
	Kind          string          `json:"kind,omitempty"`
	Status        string          `json:"status,omitempty"`
	Content       *[]any          `json:"content,omitempty"` // of toolContent and diff; nil: absent
	Locations     []location      `json:"locations,omitempty"`
	RawInput      json.RawMessage `json:"rawInput,omitempty"`
}

// The states of a call.
const (
	callPending   = "pending"
	callRuns      = "in_progress"
	callCompleted = "completed"
	callFailed    = "failed"
)

type location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

type toolContent struct {
	Type    string `json:"type"`
	Content any    `json:"content"`
}

func contentOf(block any) toolContent { return toolContent{"content", block} }

type diff struct {
	Type    string  `json:"type"`
	Path    string  `json:"path"`
	OldText *string `json:"oldText,omitempty"` // nil for a new file
	NewText string  `json:"newText"`
}

type plan struct {
	SessionUpdate string      `json:"sessionUpdate"`
	Entries       []planEntry `json:"entries"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type commandsUpdate struct {
	SessionUpdate string             `json:"sessionUpdate"`
	Commands      []availableCommand `json:"availableCommands"`
}

type availableCommand struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *commandInput `json:"input,omitempty"`
}

type commandInput struct {
	Hint string `json:"hint"`
}

type modeUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	Current       string `json:"currentModeId"`
}

type configUpdate struct {
	SessionUpdate string         `json:"sessionUpdate"`
	ConfigOptions []configOption `json:"configOptions"`
}

type infoUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	Title         string `json:"title"`
	UpdatedAt     string `json:"updatedAt"`
}

type usageUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	Used          int    `json:"used"`
	Size          int    `json:"size"`
	Cost          *cost  `json:"cost,omitempty"`
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type notice struct {
	SessionUpdate string `json:"sessionUpdate"`
	Severity      string `json:"severity"`
	Title         string `json:"title"`
	Description   string `json:"description,omitempty"`
}

type compactionUpdate struct {
	SessionUpdate string         `json:"sessionUpdate"`
	ID            string         `json:"compactionId"`
	Status        string         `json:"status"`
	Summary       *[]textContent `json:"summary,omitempty"`
	Error         string         `json:"error,omitempty"`
}

// What the client is asked.
type (
	permissionRequest struct {
		SessionID string             `json:"sessionId"`
		ToolCall  toolCall           `json:"toolCall"`
		Options   []permissionOption `json:"options"`
	}
	permissionOption struct {
		ID   string `json:"optionId"`
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	// formRequest has a form, or the page where the user is asked.
	formRequest struct {
		SessionID     string      `json:"sessionId"`
		CallID        string      `json:"toolCallId,omitempty"`
		Mode          string      `json:"mode"`
		Message       string      `json:"message"`
		Schema        *formSchema `json:"requestedSchema,omitempty"`
		URL           string      `json:"url,omitempty"`
		ElicitationID string      `json:"elicitationId,omitempty"`
	}
	// pageSeen says that the user is done with the page of a formRequest.
	pageSeen struct {
		ElicitationID string `json:"elicitationId"`
	}
	formSchema struct {
		Type       string         `json:"type"`
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	fileRead struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
	}
	fileWrite struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
		Content   string `json:"content"`
	}
)
