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
