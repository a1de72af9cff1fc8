package rpc

import (
	"pi/session"
	"pi/session/message"
)

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
