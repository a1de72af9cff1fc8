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

// ofModel is where config.toml says something of one model, as the end of a sentence of
// [Refusals]. What it says of a provider counts for all its models.
const ofModel = " in a section [[providers.NAME.models]] of config.toml with id = MODEL"

// What to do about a model that does not take what any model may be sent, in all APIs.
const (
	NoTools     = "this model takes no tools: go without them (--no-tools), or write compat = { tools = false }" + ofModel
	NoLevels    = `write compat = { reasoning_efforts = { minimal = "", low = "", medium = "", high = "", xhigh = "", max = "" } }` + ofModel
	NotThinking = "write reasoning = false" + ofModel
	noOff       = `write reasoning = false, or the levels that it offers, such as levels = ["low", "high"],` + ofModel
)

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
				return filled(remedy, m)
			}
		}
		return ""
	}
}

// filled returns a sentence of [Refusals] for a model.
func filled(sentence string, m *llm.Model) string {
	return strings.NewReplacer("NAME", m.Provider, "MODEL", strconv.Quote(m.ID)).Replace(sentence)
}
