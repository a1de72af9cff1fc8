package record

import (
	"pi/agent/llm"
	"pi/internal/printable"

	lua "github.com/yuin/gopher-lua"
)

// ModelInfo has the fields of ctx.model.
type ModelInfo struct {
	Provider      string
	ID            string
	Name          string
	API           string
	BaseURL       *string // without a key; nil: none
	ContextWindow int
	MaxTokens     int
	Reasoning     bool
	Levels        []string
	Input         []string
	Cost          *llm.Published
}

// Model is a model as ctx.model shows it; nil for none.
func (c *Converter) Model(m *llm.Model) lua.LValue {
	if m == nil {
		return lua.LNil
	}
	var address *string
	if m.BaseURL != "" {
		shown := printable.URL(m.BaseURL)
		address = &shown
	}
	info := ModelInfo{Provider: m.Provider, ID: m.ID, Name: m.Name, API: m.API, BaseURL: address, ContextWindow: m.ContextWindow,
		MaxTokens: m.MaxTokens, Reasoning: m.Reasoning, Levels: llm.OfferedLevels(m), Input: m.Input, Cost: m.Cost.Published()}
	return c.vm.Value(info)
}
