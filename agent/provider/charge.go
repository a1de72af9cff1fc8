package provider

import (
	"encoding/json"

	"pi/agent/llm"
	"pi/session/message"
)

// Charge is what gateways add to the usage of a request: what it cost, in dollars. With a
// key of one's own at the maker (bring your own key) the gateway charges a fee alone, and
// the maker the rest.
type Charge struct {
	Cost    json.RawMessage `json:"cost"`
	OwnKey  json.RawMessage `json:"is_byok"`
	Details struct {
		Upstream json.RawMessage `json:"upstream_inference_cost"`
	} `json:"cost_details"`
}

// Of prices a usage: by what was charged, if the server can be believed and says it, else by
// the price.
func (c *Charge) Of(price *llm.Price, u message.Usage, believed bool) *message.Usage {
	total, ok := dollars(c.Cost)
	if !believed || !ok {
		return price.Of(u)
	}
	if upstream, ok := dollars(c.Details.Upstream); ok && string(c.OwnKey) == "true" {
		total += upstream
	}
	return price.Charged(u, total)
}

// dollars reads an amount; what is no number, or none that can be charged, is none.
func dollars(raw json.RawMessage) (amount float64, ok bool) {
	const dearest = 1e6 // of one request
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &amount) != nil {
		return 0, false
	}
	return amount, amount >= 0 && amount <= dearest
}
