package rpc

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"pi/agent/command"
	"pi/agent/llm"
	"pi/serve/record"
	"pi/session"
	"pi/session/message"
)

// reading returns the command whose answer has the data that get returns.
func reading(get func() any) known {
	return known{read, func(*request) work {
		return func(context.Context, func()) (any, error) { return get(), nil }
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

// stateNow is the data of get_state.
func (s *Server) stateNow() any {
	current, settings, is := s.agent.Session(), s.agent.Settings(), s.now()
	return stateData{
		Model: record.Model(s.agent.Model()), ThinkingLevel: s.agent.Thinking(),
		IsStreaming: is.streaming, IsCompacting: is.compactions > 0 || is.summing && !s.agent.IsIdle(),
		SteeringMode: modeWord(settings.SteerAll), FollowUpMode: modeWord(settings.FollowUpAll),
		SessionFile: current.File(), SessionID: current.ID(), SessionName: current.Name(),
		AutoCompaction: settings.Compaction.Enabled, MessageCount: len(messagesOf(current)), PendingCount: is.pending,
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
func (s *Server) messages() any {
	return map[string]any{"messages": record.Messages(messagesOf(s.agent.Session()))}
}

// lastText is the data of get_last_assistant_text.
func (s *Server) lastText() any {
	for _, m := range slices.Backward(messagesOf(s.agent.Session())) {
		if m.Role != message.RoleAssistant || m.StopReason == message.StopAborted && len(m.Content) == 0 {
			continue
		}
		if text := strings.TrimSpace(m.Text()); text != "" {
			return map[string]any{"text": text}
		}
		break
	}
	return map[string]any{"text": nil}
}

// availableModels is the data of get_available_models: those that can be used, and behind them
// the one that needs no server.
func (s *Server) availableModels() any {
	list, own := []json.RawMessage{}, []json.RawMessage{}
	for _, m := range s.agent.Models().Available() {
		if m.Provider == "demo" {
			own = append(own, record.Model(m))
		} else {
			list = append(list, record.Model(m))
		}
	}
	return map[string]any{"models": append(list, own...)}
}

// levels is the data of get_available_thinking_levels.
func (s *Server) levels() any {
	levels := []string{"off"}
	if m := s.agent.Model(); m.Reasoning {
		levels = llm.OfferedLevels(m)
	}
	return map[string]any{"levels": levels}
}

// offered is a command as get_commands lists it.
type offered struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Source      string     `json:"source"`
	Info        sourceInfo `json:"sourceInfo"`
}

// sourceInfo says where a command comes from.
type sourceInfo struct {
	Path   string `json:"path"`
	Source string `json:"source"`
	Scope  string `json:"scope"`
	Origin string `json:"origin"`
	Dir    string `json:"baseDir,omitempty"`
}

// offers is the data of get_commands: those of hooks, then templates, then skills. Those
// of the program are not for a client.
func (s *Server) offers() any {
	list := []offered{}
	for _, is := range []struct{ kind, source string }{{"hook", "extension"}, {"template", "prompt"}, {"skill", "skill"}} {
		for _, c := range s.commands.All() {
			if c.Kind() == is.kind {
				list = append(list, offered{c.Name, c.Help, is.source, infoOf(c.From)})
			}
		}
	}
	return map[string]any{"commands": list}
}

// infoOf says in the words of the protocol where a command comes from.
func infoOf(from command.Provenance) sourceInfo {
	info := sourceInfo{Path: from.Path, Source: "auto", Scope: "user", Origin: "top-level"}
	if from.Path != "" {
		info.Dir = filepath.Dir(from.Path)
	}
	switch {
	case from.Named:
		info.Source, info.Scope = "cli", "temporary"
	case from.OfProject:
		info.Scope = "project"
	}
	return info
}
