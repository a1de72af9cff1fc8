package catalogue

import (
	"strings"

	"pi/agent/llm"
)

// Like makes a model of an id that a list does not have, out of the one there
// that goes by another form of that name: in whatever case, behind the name of
// its maker, with a date or without one ("Claude-Sonnet-4.5",
// "anthropic/claude-sonnet-4-5", "claude-sonnet-4-5@20250929"). nil if there is
// none. The nearest form wins, then the first in the list. Prices change between
// dates: that of a date which the list does not have is not known.
func Like(models []*llm.Model, id string) *llm.Model {
	for _, form := range []func(string) string{strings.ToLower, plainName, undated} {
		wanted := form(id)
		for _, m := range models {
			if wanted == "" || form(m.ID) != wanted {
				continue
			}
			like := *m
			like.ID = id
			if plainName(m.ID) != plainName(id) && undated(id) != latest(plainName(id)) {
				like.Cost = nil
			}
			return &like
		}
	}
	return nil
}

// plainName is an id without its maker, and with one sign between its parts.
func plainName(id string) string {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	return strings.NewReplacer(".", "-", "@", "-", ":", "-").Replace(id)
}

// latest is a plain name without the word for the newest of that name.
func latest(name string) string { return strings.TrimSuffix(name, "-latest") }

// undated is the plain name of an id without the word for the newest, and without the
// date at its end.
func undated(id string) string {
	id = latest(plainName(id))
	for _, date := range []string{"-20##-##-##", "-20######"} {
		if at := len(id) - len(date); at > 0 && isLikeDate(id[at:], date) {
			return id[:at]
		}
	}
	return id
}

// isLikeDate compares byte by byte; # stands for a digit.
func isLikeDate(s, form string) bool {
	for i := range len(form) {
		if c := s[i]; form[i] == '#' && (c < '0' || c > '9') || form[i] != '#' && c != form[i] {
			return false
		}
	}
	return true
}
