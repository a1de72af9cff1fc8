package provider

import (
	"net/http"
	"strings"

	"pi/agent/llm"
)

// Refusals are phrases, in lower case, in which servers refuse what was sent, each
// with what to do about it: a switch of compat and its value, or a sentence in
// which NAME stands for the provider.
type Refusals [][2]string

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
				return strings.ReplaceAll(remedy, "NAME", m.Provider)
			}
		}
		return ""
	}
}
