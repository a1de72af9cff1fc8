package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/serve/record"
	"pi/session"
	"pi/session/message"
)

// readings are the commands that only read.
type readings struct{ *parts }

// of returns the command whose answer has the data that read returns.
func (s *readings) of(read func() any) known {
	return known{atOnce, func(_ *fields, r *request) work {
		return func(context.Context, func()) { s.out.succeed(r, read()) }
	}}
}

// stateData is the data of get_state.
type stateData struct {
	Model          json.RawMessage `json:"model"`
	ThinkingLevel  string          `json:"thinkingLevel"`
	IsStreaming    bool            `json:"isStreaming"`
	IsCompacting   bool            `json:"isCompacting"`
	SteeringMode   string          `json:"steeringMode"`
	FollowUpMode   string          `json:"followUpMode"`
	SessionFile    string          `json:"sessionFile,omitempty"`
	SessionID      string          `json:"sessionId"`
	SessionName    string          `json:"sessionName,omitempty"`
	AutoCompaction bool            `json:"autoCompactionEnabled"`
	MessageCount   int             `json:"messageCount"`
	PendingCount   int             `json:"pendingMessageCount"`
}

// now is the data of get_state.
func (s *readings) now() any {
	current, settings := s.agent.Session(), s.agent.Settings()
	return stateData{
		Model: record.Model(s.agent.Model()), ThinkingLevel: s.agent.Thinking(),
		IsStreaming: s.state.isStreaming(), IsCompacting: s.state.isCompacting() || s.state.isSumming() && !s.agent.IsIdle(),
		SteeringMode: modeWord(settings.SteerAll), FollowUpMode: modeWord(settings.FollowUpAll),
		SessionFile: current.File(), SessionID: current.ID(), SessionName: current.Name(),
		AutoCompaction: settings.Compaction.Enabled, MessageCount: len(messagesOf(current)), PendingCount: s.state.pendingCount(),
	}
}

// modeWord names how many of a queue are delivered at a time.
func modeWord(all bool) string {
	if all {
		return "all"
	}
	return "one-at-a-time"
}

// messagesOf is the context of a session as a client sees it: without system messages, which
// only others write.
func messagesOf(s *session.Session) []*message.Message {
	items := s.Context()
	messages := make([]*message.Message, 0, len(items))
	for _, it := range items {
		if it.Message != nil && it.Message.Role != message.RoleSystem {
			messages = append(messages, it.Message)
		}
	}
	return messages
}

// messages is the data of get_messages.
func (s *readings) messages() any {
	return struct {
		Messages json.RawMessage `json:"messages"`
	}{record.Messages(messagesOf(s.agent.Session()))}
}

// lastText is the data of get_last_assistant_text.
func (s *readings) lastText() any {
	var data struct {
		Text *string `json:"text"`
	}
	for _, m := range slices.Backward(messagesOf(s.agent.Session())) {
		if m.Role != message.RoleAssistant || m.StopReason == message.StopAborted && len(m.Content) == 0 {
			continue
		}
		if text := strings.TrimSpace(m.Text()); text != "" {
			data.Text = &text
		}
		break
	}
	return data
}

// models is the data of get_available_models: those that can be used, and behind them
// the one that needs no server.
func (s *readings) models() any {
	models := slices.Clone(s.agent.Models().Available())
	slices.SortStableFunc(models, func(a, b *llm.Model) int { return rank(a) - rank(b) })
	list := make([]json.RawMessage, 0, len(models))
	for _, m := range models {
		list = append(list, record.Model(m))
	}
	return struct {
		Models []json.RawMessage `json:"models"`
	}{list}
}

// rank is where a model stands in a list: those of the program itself stand last.
func rank(m *llm.Model) int {
	if m.Provider == "demo" {
		return 1
	}
	return 0
}

// levelsOf are the thinking levels of a model.
func levelsOf(m *llm.Model) []string {
	if !m.Reasoning {
		return []string{"off"}
	}
	return llm.OfferedLevels(m)
}

// levels is the data of get_available_thinking_levels.
func (s *readings) levels() any {
	return struct {
		Levels []string `json:"levels"`
	}{levelsOf(s.agent.Model())}
}
