package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"pi/agent/llm"
	"pi/internal/suggest"
)

// Like makes a model of an id that a list does not have, out of the one there
// that goes by another form of that name: in whatever case, behind the name of
// its maker, with a date or without one ("Claude-Sonnet-4.5",
// "anthropic/claude-sonnet-4-5", "claude-sonnet-4-5@20250929"). nil if there is
// none. The nearest form wins, then the first in the list. Prices change between
// dates: that of a date which the list does not have is not known. The field Like of what
// it makes is the id in the list.
func Like(models []*llm.Model, id string) *llm.Model {
	for _, form := range []func(string) string{strings.ToLower, plainName, undated} {
		wanted := form(id)
		for _, m := range models {
			if wanted == "" || form(m.ID) != wanted {
				continue
			}
			like := *m
			like.ID, like.Like = id, m.ID
			if plainName(m.ID) != plainName(id) && undated(id) != latest(plainName(id)) {
				like.Cost = nil
			}
			return &like
		}
	}
	return nil
}

// Describe gives a model of which only id, provider and API are known the facts of its
// family, and where that says nothing those of a listed relative, which m.Like names. Its
// price stays unknown. own lists the models of the service that serves it, none for a server
// of the user's own; makers those of the maker of the
// API, which are not asked for where they cannot help: what speaks Chat Completions may be anything. A model that the maker lists under
// another form of the name is that one.
func Describe(m *llm.Model, own []*llm.Model, makers func() []*llm.Model) {
	family := FamilyOf(m.ID)
	m.Reasoning, m.Levels, m.MaxTokens = family.Thinks, family.Levels, family.Answer
	m.MayThink = !family.thinkingKnown
	ofMaker, maker := m.API != chatAPI, family.Window > 0 && isMaker(m.Provider)
	if maker {
		m.ContextWindow = family.Window
	}
	var like *llm.Model
	if family.known || ofMaker {
		listed := makers()
		if like = Like(listed, m.ID); like == nil && ofMaker {
			own = slices.Concat(own, listed)
		}
	}
	exact := like != nil
	if !exact {
		if like = relative(own, m.ID, family.known); like == nil {
			return
		}
	}
	m.Like = like.Provider + "/" + cmp.Or(like.Like, like.ID)
	m.MaxTokens = cmp.Or(m.MaxTokens, like.MaxTokens)
	switch window := cmp.Or(like.ContextWindow, family.Window); {
	case exact || family.Window == 0:
		m.ContextWindow = window
	case maker || ofMaker:
		m.ContextWindow = family.Window
	default: // a gateway may serve less of it
		m.ContextWindow = min(window, family.Window)
	}
	if m.Input = like.Input; family.Images && !slices.Contains(m.Input, "image") {
		m.Input = append(slices.Clone(m.Input), "image")
	}
	if !family.thinkingKnown && (exact || !isLater(like.ID, m.ID)) {
		m.Reasoning, m.Levels, m.MayThink = like.Reasoning, like.Levels, false
	}
}

// isMaker reports whether a provider serves the models of makers as those do.
func isMaker(provider string) bool {
	return slices.ContainsFunc(sources(), func(p source) bool { return p.Name == provider && p.Trust == asMaker })
}

// isLater reports whether a model is of a later major version than another one.
func isLater(id, than string) bool {
	a, b := versionOf(id), versionOf(than)
	return len(a) > 0 && len(b) > 0 && a[0] > b[0]
}

// versionOf is the numbers in the name of a model, without dates.
func versionOf(id string) []int {
	const leastDate = 1000 // 2512 is December of 2025
	_, version := lineOf(plainName(id))
	return slices.DeleteFunc(version, func(n int) bool { return n >= leastDate })
}

// relative is the model whose name is nearest to that of an id: both begin with the same word,
// or with two where nothing is known of the family. Of several it is the one with most words
// in common, then of the same major version, then of the nearest version, an earlier one if
// there is one, then the one that is spelt most alike. nil if there is none.
func relative(models []*llm.Model, id string, familyKnown bool) (best *llm.Model) {
	words, _ := lineOf(plainName(id))
	wanted, version := strings.Fields(words), versionOf(id)
	least := 2
	if familyKnown {
		least = 1
	}
	var most kinship
	for _, m := range models {
		own, _ := lineOf(plainName(m.ID))
		k := kinship{common: commonWords(wanted, strings.Fields(own)), version: versionOf(m.ID), extra: len(strings.Fields(own)), distance: suggest.Distance(plainName(id), plainName(m.ID))}
		if k.common >= least && (best == nil || k.isNearer(most, version)) {
			best, most = m, k
		}
	}
	return best
}

// kinship is how near a model is to a wanted one.
type kinship struct {
	common   int // words
	version  []int
	extra    int // words
	distance int // of spelling
}

// isNearer reports whether k is nearer than other to a wanted version.
func (k kinship) isNearer(other kinship, wanted []int) bool {
	return cmp.Or(
		cmp.Compare(k.common, other.common),
		majors(k.version, wanted)-majors(other.version, wanted),
		nearer(k.version, other.version, wanted),
		cmp.Compare(other.extra, k.extra),
		cmp.Compare(other.distance, k.distance)) > 0
}

// majors is 1 if two versions begin with the same number.
func majors(a, b []int) int {
	if len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		return 1
	}
	return 0
}

// nearer is above 0 if the version a is nearer to a wanted one than b: the last that is not
// later, else the first that is. Of no wanted one the newest is nearest.
func nearer(a, b, wanted []int) int {
	early := func(v []int) int {
		if len(wanted) == 0 || slices.Compare(v, wanted) <= 0 {
			return 1
		}
		return 0
	}
	if d := early(a) - early(b); d != 0 {
		return d
	}
	return slices.Compare(a, b) * (2*early(a) - 1)
}

// commonWords counts the words that two names have in common; 0 if they do not begin alike.
func commonWords(a, b []string) (n int) {
	if len(a) == 0 || len(b) == 0 || a[0] != b[0] {
		return 0
	}
	for _, word := range a {
		if slices.Contains(b, word) {
			n++
		}
	}
	return n
}

// plainName is an id without its maker, and with one sign between its parts. Bedrock has the
// maker and its own version around a name: "us.anthropic.claude-haiku-4-5-20251001-v1:0".
func plainName(id string) string {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	if _, name, found := strings.Cut(id, "anthropic."); found {
		id = strings.TrimSuffix(name, "-v1:0")
	}
	return strings.NewReplacer(".", "-", "@", "-", ":", "-").Replace(id)
}

// latest is a plain name without the word for the newest of that name.
func latest(name string) string { return strings.TrimSuffix(name, "-latest") }

// undated is the plain name of an id without the word for the newest, and without the
// date of our time at its end.
func undated(id string) string {
	id = latest(plainName(id))
	if base, date := llm.Dated(id); strings.HasPrefix(date, "20") {
		return base
	}
	return id
}
