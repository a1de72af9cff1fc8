package provider

import (
	"pi/agent"
	"pi/session"
)

// Price fills in the total and the cost of u. What has no known price adds
// nothing; whoever shows it asks [agent.Price.Covers].
func Price(u session.Usage, p *agent.Price) *session.Usage {
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	if p != nil {
		u.Cost = session.Cost{
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
