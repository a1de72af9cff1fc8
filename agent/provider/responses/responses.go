// Package responses speaks OpenAI's Responses API ("openai-responses"), to
// OpenAI itself and to services that copy it. Nothing is kept at the server:
// each request carries the whole conversation.
//
// An answer is a list of items. Its events name them by their index in it, and some servers
// give several the same; see places.go. The model that made an item needs parts of it again,
// which are in the signatures and ids of the session's blocks:
//
//	thinking     the whole reasoning item, as JSON: sent back unchanged, in front of
//	             the text or call that it led to, or else not at all
//	text         the id of the message, or {"v":1,"id":…,"phase":…} if it has a phase
//	tool call    "call_id|item_id"; results name the call_id alone
//
// To another model the text of a thought goes as text, and ids of items do not go.
// An item is also sent without its id when the thought before it cannot be sent,
// because servers look for that thought by the id.
//
// Switches in Model.Compat; the defaults are for OpenAI:
//
//	store                 send "store": false
//	encrypted_reasoning   ask a reasoning model for its thoughts in a form that can be sent back
//	reasoning_summary     "auto", "concise", "detailed", or "": what to show of the thoughts
//	reasoning_efforts     table of thinking level → word of the server; "" sends nothing
//	send_reasoning        thinking goes back to the model that thought it
//	max_output_tokens     limit the answer
//	instructions          the system prompt is the field "instructions", not an item
//	developer_role        the system prompt of a reasoning model is an item of role developer
//	message_ids           give every message of the model an id, made up if it has none
//	prompt_cache_key      send the session id as a key for the prompt cache
//	cache_retention       "long": as long as the server can, see long_cache; that is the key cache of a provider
//	long_cache            the longest that the server can: "24h", "30m" (newer models), or "" if it is not known
//	session_header        names of headers for the session id, set apart by blanks
//	usage_cost            the usage says in dollars what a request cost, which counts in place of the estimate
//	tools                 false: never send tools
//	strict                tools have strict schemas, where theirs have such a form
//	parallel_tool_calls   send "parallel_tool_calls": true
//	tool_result_images    results hold images; else they follow in a message of the user
//	auth                  how the key goes: "bearer", "api-key", "both", …; see provider.KeySchemes
//	extra_body            table of further fields of the request
package responses

import (
	"net/http"

	"pi/agent/llm"
	"pi/agent/provider"
)

// New returns the client. It may be shared; nil is a client of its own, see
// [provider.NewClient].
func New(client *http.Client) llm.Provider {
	a := new(api)
	return provider.New(client, a.encode, a.newDecoder)
}

// api has what the requests of a client have in common.
type api struct {
	switches provider.ByModel[*compat]
	drafts   provider.Drafts[*conversation, any]
}

// CheckCompat reports the first key of a compat table that is not a switch of
// this API, or whose value has the wrong type.
func CheckCompat(values map[string]any) error { return new(compat).switches().Check(values) }
