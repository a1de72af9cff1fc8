package record

import (
	"pi/agent/llm"

	lua "github.com/yuin/gopher-lua"
)

// ModelInfo has the fields of ctx.model.
type ModelInfo struct {
	Provider      string
	ID            string
	Name          string
	API           string
	ContextWindow int
	MaxTokens     int
	Reasoning     bool
	Levels        []string
	Input         []string
	Cost          *priceInfo
}

// priceInfo is ctx.model.cost; a price that is not known is nil.
type priceInfo struct{ Input, Output, CacheRead, CacheWrite *float64 }

// priceOf returns a price for Lua: a part that is negative in p is not known, and nil.
func priceOf(p *llm.Price) *priceInfo {
	if p == nil {
		return nil
	}
	known := func(price float64) *float64 {
		if price < 0 {
			return nil
		}
		return &price
	}
	return &priceInfo{known(p.Input), known(p.Output), known(p.CacheRead), known(p.CacheWrite)}
}

// Model is a model as ctx.model shows it; nil for none.
func (c *Converter) Model(m *llm.Model) lua.LValue {
	if m == nil {
		return lua.LNil
	}
	info := ModelInfo{Provider: m.Provider, ID: m.ID, Name: m.Name, API: m.API, ContextWindow: m.ContextWindow,
		MaxTokens: m.MaxTokens, Reasoning: m.Reasoning, Levels: llm.OfferedLevels(m), Input: m.Input, Cost: priceOf(m.Cost)}
	return c.vm.Value(info)
}
