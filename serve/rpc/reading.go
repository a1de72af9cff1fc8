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
	Version        string          `json:"version"` // of the program; ours alone
}

// stateNow is the data of get_state.
func (s *Server) stateNow() any {
	current, settings, is := s.agent.Session(), s.agent.Settings(), s.now()
	return stateData{
		Model: record.Model(s.agent.Model()), ThinkingLevel: s.agent.Thinking(),
		IsStreaming: is.streaming, IsCompacting: is.compactions > 0 || is.summing && !s.agent.IsIdle(),
		SteeringMode: modeWord(settings.SteerAll), FollowUpMode: modeWord(settings.FollowUpAll),
		SessionFile: current.File(), SessionID: current.ID(), SessionName: current.Name(),
		AutoCompaction: settings.Compaction.Enabled, MessageCount: len(messagesOf(current)), PendingCount: is.pending, Version: s.Version,
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

// leafOf is the id of the entry that the next one hangs on; nil in an empty session.
func leafOf(s *session.Session) *string {
	if id := s.Leaf(); id != "" {
		return &id
	}
	return nil
}

// openEntries is the command get_entries.
func (s *Server) openEntries(r *request) work {
	has := r.has("since")
	since := r.optionalText("since")
	return func(context.Context, func()) (any, error) {
		current := s.agent.Session()
		leaf, entries := leafOf(current), current.Entries()
		if has {
			at := slices.IndexFunc(entries, func(e *session.Entry) bool { return e.ID == since })
			if at < 0 {
				return nil, wording("Entry not found: " + since)
			}
			entries = entries[at+1:]
		}
		list := make([]json.RawMessage, 0, len(entries))
		for _, e := range entries {
			list = append(list, record.Entry(e))
		}
		return map[string]any{"entries": list, "leafId": leaf}, nil
	}
}

// tree is the data of get_tree. It is written by hand: a long conversation is nested
// deeper than an encoder that calls itself should go.
func (s *Server) tree() any {
	current := s.agent.Session()
	leaf, _ := json.Marshal(leafOf(current)) // a string or null
	t := treeWriter{children: current.Children(), labels: lastLabels(current)}
	t.out = append(t.out, `{"tree":`...)
	t.write()
	t.out = append(append(append(t.out, `,"leafId":`...), leaf...), '}')
	return written(t.out)
}

// treeWriter writes the entries as they hang on each other.
type treeWriter struct {
	out      []byte
	children map[string][]*session.Entry
	labels   map[string]label
}

// label is the name of an entry, and since when it has it.
type label struct{ text, timestamp string }

// lastLabels are the names that entries have.
func lastLabels(s *session.Session) map[string]label {
	labels := map[string]label{}
	for _, e := range s.Entries() {
		if e.Type != session.TypeLabel {
			continue
		}
		if l, err := session.Body[session.Label](e); err == nil {
			labels[l.TargetID] = label{l.Label, e.Timestamp}
		}
	}
	return labels
}

// siblings are the entries that hang on one and are still to be written.
type siblings struct {
	rest  []*session.Entry
	first bool
}

// write writes the roots and all that hangs on them.
func (t *treeWriter) write() {
	stack := []siblings{t.below("")}
	t.out = append(t.out, '[')
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.rest) == 0 {
			t.out = append(t.out, ']')
			if stack = stack[:len(stack)-1]; len(stack) > 0 {
				t.out = append(t.out, '}')
			}
			continue
		}
		e := top.rest[0]
		if top.rest = top.rest[1:]; !top.first {
			t.out = append(t.out, ',')
		}
		top.first = false
		t.begin(e)
		stack = append(stack, t.below(e.ID))
	}
}

// below are the entries that hang on one, the oldest first.
func (t *treeWriter) below(id string) siblings {
	children := slices.Clone(t.children[id])
	slices.SortStableFunc(children, func(a, b *session.Entry) int { return strings.Compare(a.Timestamp, b.Timestamp) })
	return siblings{children, true}
}

// begin writes an entry up to those that hang on it.
func (t *treeWriter) begin(e *session.Entry) {
	t.out = append(append(t.out, `{"entry":`...), record.Entry(e)...)
	if l := t.labels[e.ID]; l.text != "" {
		text, _ := encode(l.text)
		stamp, _ := encode(l.timestamp)
		t.out = append(append(t.out, `,"label":`...), text...)
		t.out = append(append(t.out, `,"labelTimestamp":`...), stamp...)
	}
	t.out = append(t.out, `,"children":[`...)
}

// forks is the data of get_fork_messages.
func (s *Server) forks() any {
	list := []map[string]string{}
	for _, e := range s.agent.Session().Entries() {
		if isUserMessage(e) {
			if text := e.Message().Text(); text != "" {
				list = append(list, map[string]string{"entryId": e.ID, "text": text})
			}
		}
	}
	return map[string]any{"messages": list}
}

// isUserMessage reports whether an entry is a message of a user.
func isUserMessage(e *session.Entry) bool {
	if e == nil || e.Type != session.TypeMessage {
		return false
	}
	m := e.Message()
	return m != nil && m.Role == message.RoleUser
}

// tokens counts what models have read and written.
type tokens struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
	Total      int `json:"total"`
}

// contextUsage says how full the context is. What is not known is null.
type contextUsage struct {
	Tokens  *int     `json:"tokens"`
	Window  int      `json:"contextWindow"`
	Percent *float64 `json:"percent"`
}

// statistics is the data of get_session_stats.
type statistics struct {
	SessionFile string        `json:"sessionFile,omitempty"`
	SessionID   string        `json:"sessionId"`
	User        int           `json:"userMessages"`
	Assistant   int           `json:"assistantMessages"`
	ToolCalls   int           `json:"toolCalls"`
	ToolResults int           `json:"toolResults"`
	Total       int           `json:"totalMessages"`
	Tokens      tokens        `json:"tokens"`
	Cost        float64       `json:"cost"`
	Context     *contextUsage `json:"contextUsage,omitempty"`
}

// stats is the data of get_session_stats: the messages of the whole file, and what was
// used for all of it.
func (s *Server) stats() any {
	current, used := s.agent.Session(), s.agent.Totals()
	data := statistics{SessionFile: current.File(), SessionID: current.ID(), Cost: used.Cost.Total}
	for _, e := range current.Entries() {
		m := e.Message()
		if e.Type != session.TypeMessage || m == nil {
			continue
		}
		data.Total++
		switch m.Role {
		case message.RoleUser:
			data.User++
		case message.RoleAssistant:
			data.Assistant++
			data.ToolCalls += len(m.ToolCalls())
		case message.RoleToolResult:
			data.ToolResults++
		}
	}
	data.Tokens = tokens{used.Input, used.Output, used.CacheRead, used.CacheWrite, used.Input + used.Output + used.CacheRead + used.CacheWrite}
	if used.Window > 0 {
		data.Context = &contextUsage{Window: used.Window}
		if used.Tokens >= 0 {
			data.Context.Tokens, data.Context.Percent = &used.Tokens, &used.Percent
		}
	}
	return data
}
