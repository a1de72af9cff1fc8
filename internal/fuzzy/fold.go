package fuzzy

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isASCII reports whether each byte of a text is a character.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldASCII is a character in lower case.
func foldASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// foldRune returns the one character that stands for r in every case: k for the sign of
// Kelvin, and the same for the three forms of sigma.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return rune(foldASCII(byte(r)))
	}
	r = unicode.ToLower(r) // İ too is an i, which the cycle below does not know
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least < utf8.RuneSelf {
		return rune(foldASCII(byte(least)))
	}
	return least
}

// folded is a text with its case aside and its accents as characters of their own.
type folded struct {
	runes   []rune
	offsets []int // where the character that each is from begins, and the length of the text
}

// foldText folds a text of any characters. What is no UTF-8 becomes U+FFFD.
func foldText(s string) folded {
	f := folded{make([]rune, 0, len(s)), make([]int, 0, len(s)+1)}
	composed := !norm.NFD.IsNormalString(s)
	for i, r := range s {
		r = foldRune(r)
		if !composed || r < utf8.RuneSelf {
			f.runes, f.offsets = append(f.runes, r), append(f.offsets, i)
			continue
		}
		for _, part := range norm.NFD.String(string(r)) {
			f.runes, f.offsets = append(f.runes, foldRune(part)), append(f.offsets, i)
		}
	}
	f.offsets = append(f.offsets, len(s))
	return f
}

// end returns where in the text the character ends that the folded character i is from.
func (f folded) end(i int) int {
	at := f.offsets[i]
	for f.offsets[i] == at && i < len(f.runes) {
		i++
	}
	return f.offsets[i]
}

// foldString folds a text into a text.
func foldString(s string) string {
	if !isASCII(s) {
		return string(foldText(s).runes)
	}
	for i := range len(s) {
		if s[i] != foldASCII(s[i]) {
			return lowerASCII(s)
		}
	}
	return s
}

func lowerASCII(s string) string {
	lower := make([]byte, len(s))
	for i := range len(s) {
		lower[i] = foldASCII(s[i])
	}
	return string(lower)
}
