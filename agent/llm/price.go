package llm

import (
	"pi/session/message"
)

// at returns the price of a request with these counts, by the length of its prompt.
func (p *Price) at(u *message.Usage) *Price {
	for p != nil && p.Above != nil && u.Input+u.CacheRead+u.CacheWrite > p.Above.Tokens {
		p = &p.Above.Price
	}
	return p
}

// Covers reports whether the price of everything in u is known.
func (p *Price) Covers(u *message.Usage) bool {
	p = p.at(u)
	return p != nil && (u.Input == 0 || p.Input >= 0) && (u.Output == 0 || p.Output >= 0) &&
		(u.CacheRead == 0 || p.CacheRead >= 0) && (u.CacheWrite == 0 || p.CacheWrite >= 0)
}

// Of returns a copy of u, the usage of one request, with the total of its tokens and their
// cost in dollars. Tokens whose price is not known cost nothing there; Covers reports
// whether there are any.
func (p *Price) Of(u message.Usage) *message.Usage {
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	if p = p.at(&u); p != nil {
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

// Charged is Of where the server says what the request cost, in dollars: that is the total,
// and the parts are those of the price, in proportion to it. Where a part of the price is not
// known there is the total alone.
func (p *Price) Charged(u message.Usage, total float64) *message.Usage {
	charged := p.Of(u)
	c := &charged.Cost
	share := func(float64) float64 { return 0 }
	if estimate := c.Total; estimate > 0 && p.Covers(&u) {
		share = func(part float64) float64 { return part / estimate * total }
	}
	*c = message.Cost{Input: share(c.Input), Output: share(c.Output), CacheRead: share(c.CacheRead), CacheWrite: share(c.CacheWrite), Total: total}
	return charged
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

	Above []PublishedStep `json:"above,omitempty"` // what longer prompts cost, the shortest first
}

// PublishedStep is what a request costs whose prompt has more than so many tokens.
type PublishedStep struct {
	Tokens     int      `json:"tokens"`
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
	published := &Published{Input: known(p.Input), Output: known(p.Output), CacheRead: known(p.CacheRead), CacheWrite: known(p.CacheWrite)}
	for above := p.Above; above != nil; above = above.Price.Above {
		q := &above.Price
		published.Above = append(published.Above, PublishedStep{above.Tokens, known(q.Input), known(q.Output), known(q.CacheRead), known(q.CacheWrite)})
	}
	return published
}
