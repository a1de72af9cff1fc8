package fuzzy

import (
	"unicode"
	"unicode/utf8"
)

// candidate is a text, folded: narrow if each byte is a character, else wide.
type candidate struct {
	narrow []byte
	wide   []rune
	prices []uint16 // of a run that starts at each character
}

// newCandidate folds a text and prices its characters.
func newCandidate(text string) (c candidate) {
	if isASCII(text) {
		c.narrow, c.prices = make([]byte, len(text)), make([]uint16, len(text))
		for i := range len(text) {
			c.narrow[i] = foldASCII(text[i])
		}
		priceStarts(c.prices, func(i int) rune { return rune(text[i]) })
		return c
	}
	return newWide(text, foldText(text))
}

// newWide prices the characters of a text that was folded.
func newWide(text string, f folded) candidate {
	c := candidate{wide: f.runes, prices: make([]uint16, len(f.runes))}
	before, original := -1, rune(0)
	priceStarts(c.prices, func(i int) rune {
		if f.offsets[i] == before {
			return f.runes[i] // an accent behind its letter
		}
		before = f.offsets[i]
		for _, original = range text[before:] {
			break
		}
		return original
	})
	return c
}

// priceStarts fills in what a run costs that starts at each character. at returns a
// character, and is called once for each, in order.
func priceStarts(prices []uint16, at func(i int) rune) {
	var before rune
	last := 0 // where the last part of a path begins
	for i := range prices {
		r := at(i)
		prices[i] = priceInside
		if i == 0 || startsWord(before, r) {
			prices[i] = priceStart
		}
		if before == '/' {
			last = i
		}
		before = r
	}
	for i, price := range prices[:last] {
		if price == priceStart {
			prices[i] = priceBefore
		}
	}
}

// startsWord reports whether a word or a sign begins with r behind another character:
// fileName has two words, v2 and tool_test as well.
func startsWord(before, r rune) bool {
	switch {
	case unicode.IsMark(r):
		return false
	case unicode.IsMark(before):
		return !unicode.IsLetter(r)
	}
	k, was := kindOf(r), kindOf(before)
	return k != was && (k != lower || was != upper)
}

// What a character is for where words begin.
const (
	sign = iota
	lower
	upper
	digit
)

func kindOf(r rune) int {
	switch {
	case r >= 'a' && r <= 'z':
		return lower
	case r >= 'A' && r <= 'Z', r >= utf8.RuneSelf && unicode.IsUpper(r):
		return upper
	case r >= '0' && r <= '9', r >= utf8.RuneSelf && unicode.IsNumber(r):
		return digit
	case r >= utf8.RuneSelf && unicode.IsLetter(r):
		return lower
	}
	return sign
}
