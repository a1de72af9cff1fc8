package catalogue

import (
	"strings"

	"pi/agent"
)

// Like returns the model of a list that an id is another name of: the same id in
// whatever case, behind the name of its maker, of a variant, with a date or
// without one ("claude-sonnet-4.5", "anthropic/claude-sonnet-4-5",
// "claude-sonnet-4-5@20250929"). nil if there is none. The first that fits best
// wins; the model is the one in the list, whose id differs.
func Like(models []*agent.Model, id string) *agent.Model {
	for _, name := range []func(string) string{strings.ToLower, plainName, undated} {
		wanted := name(id)
		for _, m := range models {
			if wanted != "" && name(m.ID) == wanted {
				return m
			}
		}
	}
	return nil
}

// plainName is an id without its maker and its variant.
func plainName(id string) string {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	id, _, _ = strings.Cut(id, ":")
	return strings.NewReplacer(".", "-", "@", "-").Replace(id)
}

// undated is a plain name without the date or the "latest" at its end.
func undated(id string) string {
	id = strings.TrimSuffix(plainName(id), "-latest")
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
