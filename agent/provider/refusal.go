package provider

import (
	"net/http"
	"strconv"
	"strings"

	"pi/agent/llm"
)

// Refusals are phrases, in lower case, in which servers refuse what was sent, each
// with what to do about it: a switch of compat and its value, or a sentence in
// which NAME stands for the provider and MODEL for the model, in quotes.
type Refusals [][2]string

// ofModel is where in config.toml something is said of one model, as a part of a sentence
// of [Refusals]. What is said of a provider counts for all its models.
const ofModel = "of the model (id = MODEL in a [[providers.NAME.models]] of config.toml)"

// NoTools is what to do about a model that takes no tools, in any API.
const NoTools = "this model takes no tools: go without them (--no-tools), or set compat.tools = false " + ofModel

// Hint is the Hint of a [Call]: what to do about the first phrase that an answer
// with status 400 or 422 contains.
func (r Refusals) Hint(m *llm.Model) func(status int, said string) string {
	return func(status int, said string) string {
		if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
			return ""
		}
		said = strings.ToLower(said)
		for _, row := range r {
			if phrase, remedy := row[0], row[1]; strings.Contains(said, phrase) {
				if !strings.Contains(remedy, "NAME") {
					remedy = "set compat." + remedy + " of [providers.NAME]"
				}
				return strings.NewReplacer("NAME", m.Provider, "MODEL", strconv.Quote(m.ID)).Replace(remedy)
			}
		}
		return ""
	}
}
