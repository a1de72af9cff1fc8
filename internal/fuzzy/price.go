package fuzzy

import (
	"bytes"
	"slices"
)

// The price of a match is the sum of what its runs of neighbouring characters cost, each
// by where it starts. So a match at the starts of words is better than one run inside of
// a word, and that is better than several.
const (
	priceExact  = 0 // the text is what was typed
	pricePrefix = 1 // it begins with that
	priceStart  = 2 // a run at the start of a word of the last part of a path
	priceBefore = 3 // a run at the start of a word of a part before
	priceInside = 2048
	noMatch     = 1 << 30

	// longestTyped is how many characters are ranked: so many runs at starts of words
	// cost less than one inside. What is longer is found, and keeps its order.
	longestTyped = priceInside/priceBefore - 1
)

// pattern is what was typed, folded.
type pattern struct {
	runes  []rune
	narrow []byte // the same, if each byte is a character; else nil
}

func newPattern(typed string) pattern {
	p := pattern{runes: foldText(typed).runes}
	if s := string(p.runes); isASCII(s) {
		p.narrow = []byte(s)
	}
	return p
}

// price returns what the best match in a candidate costs, noMatch if there is none. costs
// is room for the calculation, which grows as needed.
func (p pattern) price(c *candidate, costs *[]int32) int32 {
	switch {
	case len(p.runes) == 0:
		return priceExact
	case c.wide != nil:
		return price(c.wide, p.runes, c.prices, costs)
	case p.narrow == nil || !inOrder(c.narrow, p.narrow):
		return noMatch
	case bytes.HasPrefix(c.narrow, p.narrow):
		return prefixPrice(c.narrow, p.narrow)
	}
	return price(c.narrow, p.narrow, c.prices, costs)
}

func prefixPrice[C byte | rune](text, typed []C) int32 {
	if len(text) == len(typed) {
		return priceExact
	}
	return pricePrefix
}

// inOrder is isSequence for bytes, which can be searched for many at a time.
func inOrder(text, typed []byte) bool {
	for _, c := range typed {
		i := bytes.IndexByte(text, c)
		if i < 0 {
			return false
		}
		text = text[i+1:]
	}
	return true
}

// isSequence reports whether text has the characters of typed in their order.
func isSequence[C byte | rune](typed, text []C) bool {
	for _, c := range text {
		if len(typed) > 0 && typed[0] == c {
			typed = typed[1:]
		}
	}
	return len(typed) == 0
}

// price finds the best of all matches. It goes through typed, and knows for each
// character of text what it costs at least to match up to here and end there.
func price[C byte | rune](text, typed []C, prices []uint16, room *[]int32) int32 {
	switch {
	case !isSequence(typed, text):
		return noMatch
	case slices.Equal(text[:len(typed)], typed):
		return prefixPrice(text, typed)
	case len(typed) > longestTyped:
		return longestTyped * priceInside
	}
	costs := slices.Grow((*room)[:0], len(text))[:len(text)]
	*room = costs
	firstCosts(costs, text, typed[0], prices)
	for _, c := range typed[1:] {
		nextCosts(costs, costs, text, c, prices)
	}
	return slices.Min(costs)
}

// firstCosts sets the costs to match the first typed character at each of text.
func firstCosts[C byte | rune](costs []int32, text []C, c C, prices []uint16) {
	for i := range costs {
		costs[i] = noMatch
		if text[i] == c {
			costs[i] = int32(prices[i])
		}
	}
}

// nextCosts sets the costs to match one more typed character at each of text, from those
// up to the one before it. Both may be the same slice.
func nextCosts[C byte | rune](costs, before []int32, text []C, c C, prices []uint16) {
	least, adjacent := int32(noMatch), int32(noMatch)
	for i := range costs {
		cost := int32(noMatch)
		if text[i] == c {
			cost = min(noMatch, adjacent, least+int32(prices[i]))
		}
		adjacent = before[i]
		least = min(least, adjacent)
		costs[i] = cost
	}
}

// Spans returns the parts of a text that match what was typed, as an [Index] ranks them;
// nil if it does not match.
func Spans(text, typed string) (spans []Span) {
	f, want := foldText(text), newPattern(typed).runes
	for _, i := range matched(f.runes, want, newWide(text, f).prices) {
		spans = addSpan(spans, Span{f.offsets[i], f.end(i)})
	}
	return spans
}

// matched returns the characters of text that the best match of typed has, in order.
func matched(text, typed []rune, prices []uint16) []int {
	if len(typed) == 0 || !isSequence(typed, text) {
		return nil
	}
	if len(typed) > longestTyped || slices.Equal(text[:len(typed)], typed) {
		return firstMatch(text, typed)
	}
	table := make([][]int32, len(typed))
	for i, c := range typed {
		table[i] = make([]int32, len(text))
		if i == 0 {
			firstCosts(table[i], text, c, prices)
		} else {
			nextCosts(table[i], table[i-1], text, c, prices)
		}
	}
	return bestMatch(table, prices)
}

// firstMatch matches each typed character as early as it can be.
func firstMatch(text, typed []rune) (at []int) {
	for i, c := range text {
		if len(at) < len(typed) && typed[len(at)] == c {
			at = append(at, i)
		}
	}
	return at
}

// bestMatch goes back through the costs of a calculation to where its best match is.
func bestMatch(table [][]int32, prices []uint16) []int {
	at := make([]int, len(table))
	row := len(table) - 1
	at[row] = slices.Index(table[row], slices.Min(table[row]))
	for ; row > 0; row-- {
		here := at[row]
		before := table[row-1][:here]
		if before[here-1] == table[row][here] { // the run goes on
			at[row-1] = here - 1
			continue
		}
		at[row-1] = slices.Index(before, table[row][here]-int32(prices[here]))
	}
	return at
}
