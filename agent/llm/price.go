package llm

import (
	"pi/session/message"
)

// Covers reports whether the price of everything in u is known.
func (p *Price) Covers(u *message.Usage) bool {
	return p != nil && (u.Input == 0 || p.Input >= 0) && (u.Output == 0 || p.Output >= 0) &&
		(u.CacheRead == 0 || p.CacheRead >= 0) && (u.CacheWrite == 0 || p.CacheWrite >= 0)
}

// Of returns a copy of u with the total of its tokens and their cost in dollars. Tokens
// whose price is not known cost nothing there; Covers reports whether there are any.
func (p *Price) Of(u message.Usage) *message.Usage {
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	if p != nil {
		u.Cost = message.Cost{
			Input:      perMillion(u.Input, p.Input),
			Output:     perMillion(u.Output, p.Output),
			CacheRead:  perMillion(u.CacheRead, p.CacheRead),
			CacheWrite: perMillion(u.CacheWrite, p.CacheWrite),
		}
		u.Cost.Total = u.Cost.Input + u.Cost.Output + u.Cost.CacheRead + u.Cost.CacheWrite
	}
	return &u
}

func perMillion(tokens int, price float64) float64 { return float64(tokens) * max(0, price) / 1e6 }

// Known reports whether the prices of input and output are known; a nil price is not.
func (p *Price) Known() bool { return p != nil && p.Input >= 0 && p.Output >= 0 }

// Published are the prices of a model per million tokens, as listings and hooks see
// them: nil for one that is not known.
type Published struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

// Published returns the prices for those who show them; nil if there are none.
func (p *Price) Published() *Published {
	if p == nil {
		return nil
	}
	known := func(price float64) *float64 {
		if price < 0 {
			return nil
		}
		return &price
	}
	return &Published{known(p.Input), known(p.Output), known(p.CacheRead), known(p.CacheWrite)}
}
