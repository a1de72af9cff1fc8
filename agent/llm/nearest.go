package llm

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"pi/internal/suggest"
)

// kin is a model whose name is like one that nobody has.
type kin struct {
	model   *Model
	bare    string  // its name in letters and digits only, without maker and date
	missing float64 // so many of the words it does not have; one that is misspelt counts in part
	foreign int     // 0: it is of the provider that was named, if one was; 1: of one that is spelt like it
	off     float64 // how far its version is from that of the name
	locked  int     // 1: it cannot be used
	version float64 // its own
	edits   int     // from the name to the bare one
}

// nearest returns the names of at most three models that share words with ref, the nearest
// first, or else the one whose name is spelt most like it. If the nearest can be used, so can
// the others.
func (p providers) nearest(ref string) (names []string) {
	readings := readingsOf(strings.ToLower(strings.TrimSpace(ref)))
	name := readings[len(readings)-1].name
	const longest = 100 // longer than any name that is meant as one
	if len(name) > longest {
		return nil
	}
	all := p.kinOf(name)
	slices.SortStableFunc(all, func(a, b kin) int {
		return cmp.Or(cmp.Compare(a.missing, b.missing), a.foreign-b.foreign, cmp.Compare(a.off, b.off), a.locked-b.locked, cmp.Compare(b.version, a.version), a.edits-b.edits)
	})
	all = usableOnly(all)
	seen := map[string]bool{} // the same model at several providers is one suggestion
	for _, k := range all {
		if seen[k.bare] || !k.isAsNearAs(all[0]) {
			continue
		}
		seen[k.bare] = true
		if names = append(names, k.model.Ref()); len(names) == 3 {
			return names
		}
	}
	if near := p.spelledLike(name); len(names) == 0 && near != "" {
		return []string{near}
	}
	return names
}

// usableOnly drops what cannot be used from names of which the nearest comes first, if one that
// can be has one word less at most, and is otherwise as near.
func usableOnly(all []kin) []kin {
	serves := func(k kin) bool {
		return k.locked == 0 && k.missing <= all[0].missing+1 && k.off <= all[0].off && k.foreign <= all[0].foreign
	}
	if !slices.ContainsFunc(all, serves) {
		return all
	}
	return slices.DeleteFunc(all, func(k kin) bool { return k.locked == 1 })
}

// isAsNearAs reports whether k may be named beside the nearest one: it has about as many
// words of the name, a version if that has one, and the very same if that has it.
func (k kin) isAsNearAs(first kin) bool {
	return k.missing <= first.missing+0.5 && k.locked <= first.locked && (first.off > 0 || k.off == 0) && (math.IsInf(first.off, 1) || !math.IsInf(k.off, 1))
}

// kinOf returns the models that have half or more of the words of a name, which is in lower
// case, behind its provider or maker.
func (p providers) kinOf(name string) (all []kin) {
	provider, _, qualified := strings.Cut(name, "/")
	own, _, _ := strings.Cut(ownName(name), ":") // a variant, such as :free, is one of many models
	typed, bare := piecesOf(own), bareName(name)
	words := 0
	for _, piece := range typed {
		if len(piece.word) > 2 { // shorter ones are in too many names
			words++
		}
	}
	for _, s := range p {
		k := kin{}
		if qualified && p.findFold(provider) != s {
			k.foreign = 1 + int(misspelt(provider, s.Name))
		}
		if s.isUnusable() {
			k.locked = 1
		}
		for _, model := range undatedOnly(s.list()) {
			k.model = model
			has := piecesOf(ownName(model.ID))
			if k.missing, k.off = unlikeness(typed, has); words > 0 && k.missing*2 <= float64(words) {
				k.version = 0
				if at := slices.IndexFunc(has, func(of piece) bool { return of.run != nil }); at >= 0 {
					k.version = versionValue(has[at].run)
				}
				k.bare = bareName(model.ID)
				k.edits = suggest.Distance(bare, k.bare)
				all = append(all, k)
			}
		}
	}
	return all
}

// ownName returns what is behind the provider or the maker of a name.
func ownName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// bareName returns an own name in letters and digits only, without its date.
func bareName(name string) string {
	base, _ := Dated(ownName(name))
	return strings.ReplaceAll(plainName(base), "-", "")
}

// unlikeness returns how many of the typed words a model's name does not have, and how far
// its version is from the typed one.
func unlikeness(typed, has []piece) (missing, off float64) {
	for _, p := range typed {
		least := 1.0
		if p.run != nil {
			least = math.Inf(1)
		}
		for _, of := range has {
			switch {
			case p.run != nil && of.run != nil:
				least = min(least, math.Abs(versionValue(p.run)-versionValue(of.run)))
			case p.run == nil && of.run == nil:
				least = min(least, misspelt(p.word, of.word))
			}
		}
		if p.run != nil {
			off += least
		} else {
			missing += least
		}
	}
	return missing, off
}

// versionValue returns a number by which versions can be compared: 4.10 is more than 4.9.
func versionValue(run []string) (value float64) {
	unit := 1.0
	for _, n := range run[:dateIn(run)] {
		part, _ := strconv.Atoi(n) // at most three digits
		value += float64(part) * unit
		unit /= 1000
	}
	return value
}

// misspelt returns which part of a typed word is wrong if a word of a model's name was
// meant: 0 if it is that or its beginning, 1 if they have too little in common.
func misspelt(typed, word string) float64 {
	if typed == word || len(typed) >= 3 && strings.HasPrefix(word, typed) {
		return 0
	}
	const short = 4 // of shorter words a slip of the first letter makes another one
	most := len(typed) / 3
	if most == 0 || len(typed) < short && typed[0] != word[0] || len(word) > len(typed)+most || len(typed) > len(word)+most {
		return 1
	}
	if edits := suggest.Distance(typed, word); edits <= most {
		return float64(edits) / float64(len(typed))
	}
	return 1
}

// spelledLike returns the name of the model that is spelt most like name, which is in lower
// case; "" if none is. A model that can be used is preferred.
func (p providers) spelledLike(name string) string {
	for _, candidates := range [][]*Model{p.models((*ProviderSpec).isUsable), p.models(anyProvider)} {
		near, least := "", len(name)/4+2
		for _, model := range candidates {
			for _, known := range []string{model.Ref(), model.ID} {
				if len(known)-len(name) >= least || len(name)-len(known) >= least {
					continue // farther than that
				}
				if d := suggest.Distance(name, strings.ToLower(known)); d < min(least, len(model.ID)) {
					near, least = model.Ref(), d
				}
			}
		}
		if near != "" {
			return near
		}
	}
	return ""
}

// didYouMean is the end of an error about a name that nobody has; "" if no names are near
// it.
func didYouMean(near []string) string {
	switch n := len(near); n {
	case 0:
		return ""
	case 1:
		return "; did you mean " + near[0] + "?"
	default:
		return "; did you mean " + strings.Join(near[:n-1], ", ") + " or " + near[n-1] + "?"
	}
}
