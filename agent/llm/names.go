package llm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fitness grades how well a name fits a model, from 1 for best; 0: not at all.
type fitness func(n nameParts, model *Model) int

// nameParts is a name as it is compared: in lower case and with all punctuation
// alike, as a whole, in words and in parts.
type nameParts struct {
	plain string
	words []string // between blanks
	parts []string // between punctuation
}

// readName prepares a name that a person wrote for comparison with those of models.
func readName(name string) nameParts {
	n := nameParts{plain: plainName(name)}
	for _, word := range strings.Fields(name) {
		n.words = append(n.words, plainName(word))
	}
	n.parts = strings.Split(n.plain, "-")
	return n
}

// plainName returns s in lower case with one hyphen for each run of other characters than
// letters and digits, and none at the ends.
func plainName(s string) string {
	b := make([]byte, 0, len(s))
	gap := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if gap && len(b) > 0 {
			b = append(b, '-')
		}
		gap = false
		b = utf8.AppendRune(b, unicode.ToLower(r))
	}
	return string(b)
}

// closeFit grades models whose name contains the one that was written, as a whole or word
// by word in order: 1 is best (it begins with it), 0 does not fit.
func closeFit(n nameParts, model *Model) int {
	full := plainName(model.Ref())
	id := full[min(len(full), len(plainName(model.Provider))+1):]
	switch {
	case strings.HasPrefix(id+"-", n.plain+"-") || strings.HasPrefix(full, n.plain+"-"): // and not 4.10 for 4.1
		return 1
	case strings.HasPrefix(id, n.plain) || strings.HasPrefix(full, n.plain):
		return 2
	case strings.Contains(full+"-", "-"+n.plain+"-"):
		return 3
	case strings.Contains(full, "-"+n.plain): // and not the mini of gemini
		return 4
	case strings.Contains(full, n.plain):
		return 5
	case containsInOrder(full, n.words):
		return 6
	}
	return 0
}

// containsInOrder reports whether s contains all words, each behind the one before.
func containsInOrder(s string, words []string) bool {
	for _, word := range words {
		i := strings.Index(s, word)
		if i < 0 {
			return false
		}
		s = s[i+len(word):]
	}
	return true
}

// looseFit grades models by the parts of a name between punctuation: every part has to
// begin a part of the model's name. 1 is in the same order, 2 in any order, 0 does not
// fit.
func looseFit(n nameParts, model *Model) int {
	parts := strings.Split(plainName(model.Ref()), "-")
	begins := func(want string) func(string) bool {
		return func(part string) bool { return strings.HasPrefix(part, want) }
	}
	rest, ordered := parts, true
	for _, want := range n.parts {
		if !slices.ContainsFunc(parts, begins(want)) {
			return 0
		}
		i := slices.IndexFunc(rest, begins(want))
		ordered = ordered && i >= 0
		rest = rest[i+1:]
	}
	if ordered {
		return 1
	}
	return 2
}

// undatedOnly returns models without the dated versions of one that is there too: of ids
// of a provider that differ only in their date, the one without a date stays, or else the
// newest.
func undatedOnly(models []*Model) []*Model {
	var kept []*Model
	at := map[string]int{}
	for _, model := range models {
		base, date := dated(model.ID)
		i, known := at[model.Provider+"/"+base]
		if !known {
			at[model.Provider+"/"+base] = len(kept)
			kept = append(kept, model)
			continue
		}
		if _, other := dated(kept[i].ID); other != "" && (date == "" || date > other) {
			kept[i] = model
		}
	}
	return kept
}

// dated splits an id into the name and its date, as digits, such as 20250929. The date is
// "latest" for -latest, which sorts behind all others, and "" for an id without one.
func dated(id string) (base, date string) {
	if base, ok := strings.CutSuffix(id, "-latest"); ok {
		return base, "latest"
	}
	for _, form := range []string{"-dddddddd", "@dddddddd", "-dddd-dd-dd"} {
		if i := len(id) - len(form); i > 0 && hasForm(id[i:], form) {
			return id[:i], strings.ReplaceAll(id[i+1:], "-", "")
		}
	}
	return id, ""
}

// hasForm reports whether s, which is as long as form, has a digit wherever form has a d,
// and elsewhere the same character.
func hasForm(s, form string) bool {
	for i := range len(form) {
		if digit := s[i] >= '0' && s[i] <= '9'; form[i] == 'd' && !digit || form[i] != 'd' && s[i] != form[i] {
			return false
		}
	}
	return true
}
