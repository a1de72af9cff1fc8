package fuzzy

import "slices"

// Index ranks candidates. Best are those that are what was typed, then those that begin
// with it, then those where it is made of starts of words, then those that have it in one
// piece, then the rest. Of equal ones the earlier candidate comes first.
type Index struct {
	texts []candidate

	typed pattern // of the last search
	found []int   // all that it found
	asked bool
	costs []int32 // of the calculation, so that they are made once
}

// NewIndex returns an index of texts. Candidates are named by their position in it.
func NewIndex(texts []string) *Index {
	x := &Index{texts: make([]candidate, len(texts))}
	for i, text := range texts {
		x.texts[i] = newCandidate(text)
	}
	return x
}

// Len is how many candidates there are.
func (x *Index) Len() int { return len(x.texts) }

// Find returns at most so many candidates that have the characters of typed in their
// order, the best first. For an empty text they are the first ones.
func (x *Index) Find(typed string, most int) []int { return positions(x.rank(typed, most)) }

// Best is Find without the candidates in which what was typed is scattered, in two parts
// or more that are inside of words, if another has it in one piece or at starts of words.
func (x *Index) Best(typed string, most int) []int {
	ranked := x.rank(typed, most)
	if len(ranked) > 0 && ranked[0]>>32 <= priceInside {
		n, _ := slices.BinarySearch(ranked, 2*priceInside<<32)
		ranked = ranked[:n]
	}
	return positions(ranked)
}

// rank returns the prices of candidates, each above the position, in order.
func (x *Index) rank(typed string, most int) []uint64 {
	want := newPattern(typed)
	from := x.found
	if !x.asked || !isSequence(x.typed.runes, want.runes) {
		from = make([]int, len(x.texts))
		for i := range from {
			from[i] = i
		}
	}
	found := make([]int, 0, len(from))
	ranked := make([]uint64, 0, len(from)) // the price above the position, so that equal ones keep their order
	for _, i := range from {
		price := want.price(&x.texts[i], &x.costs)
		if price == noMatch {
			continue
		}
		found = append(found, i)
		ranked = append(ranked, uint64(price)<<32|uint64(i))
	}
	x.typed, x.found, x.asked = want, found, true
	return least(ranked, most)
}

// least returns the n least ranks, in order.
func least(ranked []uint64, n int) []uint64 {
	n = max(0, min(n, len(ranked)))
	top := ranked[:n]
	slices.Sort(top)
	for _, r := range ranked[n:] {
		if n > 0 && r < top[n-1] {
			at, _ := slices.BinarySearch(top, r)
			copy(top[at+1:], top[at:])
			top[at] = r
		}
	}
	return top
}

// positions are the positions of the candidates that were ranked.
func positions(ranked []uint64) []int {
	list := make([]int, len(ranked))
	for i, r := range ranked {
		list[i] = int(uint32(r))
	}
	return list
}
