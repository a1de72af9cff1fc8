package provider

import (
	"pi/agent"
	"pi/session"
)

// Price fills in the total and the cost of u, see [agent.Price.Of].
func Price(u session.Usage, p *agent.Price) *session.Usage { return p.Of(u) }
