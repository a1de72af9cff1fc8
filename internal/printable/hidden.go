package printable

import (
	"fmt"
	"strings"
	"unicode"
)

// Hidden reports whether a user does not see r, or sees others in another order
// because of it, while a program or a model reads it: controls (but for the line
// end and the tab), marks of direction, zero-width characters, joiners, selectors,
// tags, fillers, and characters for private use. It is the one table of them.
// Signs of Arabic and Egyptian script that Unicode counts among the formats are
// seen, and so not here.
func Hidden(r rune) bool {
	switch {
	case r < 0xa0:
		return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f
	case r < 0x2000:
		return r == 0x00ad || r == 0x034f || r == 0x061c || r == 0x115f || r == 0x1160 ||
			r == 0x17b4 || r == 0x17b5 || r >= 0x180b && r <= 0x180f
	case r < 0xd800:
		return r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f ||
			r == blankBraille || r == 0x3164
	case r < 0x10000:
		return private(r) || r >= 0xfe00 && r <= 0xfe0f || r == 0xfeff || r == 0xffa0 || r >= 0xfff0 && r <= 0xfffb
	}
	return r >= 0x1bca0 && r <= 0x1bca3 || r >= 0x1d173 && r <= 0x1d17a || r >= 0xe0000 && r <= 0xe0fff || private(r)
}

const (
	zeroWidthNonJoiner = 0x200c
	zeroWidthJoiner    = 0x200d
	textSelector       = 0xfe0e
	emojiSelector      = 0xfe0f
	keycap             = 0x20e3
	blankBraille       = 0x2800
)

// private reports whether r is for private use, so that the font says what it means, or
// half of a surrogate pair, which means nothing.
func private(r rune) bool {
	return r >= 0xd800 && r <= 0xf8ff || r >= 0xf0000 && r <= unicode.MaxRune
}

// Belongs reports whether a hidden character makes up what is seen, between the
// characters before and after it (0: none): the selector of an emoji, the joiner
// between two, the joiners of Arabic and Indic script. One is enough for that; a
// second in a row is there for something else.
func Belongs(before, r, after rune) bool {
	switch r {
	case textSelector, emojiSelector:
		return pictograph(before) || after == keycap && (before >= '0' && before <= '9' || before == '#' || before == '*')
	case zeroWidthJoiner:
		return (pictograph(before) || before == emojiSelector) && pictograph(after) || shapes(before, after)
	case zeroWidthNonJoiner:
		return shapes(before, after)
	}
	return false
}

// shapes reports whether a joiner between the two characters changes how letters look.
func shapes(before, after rune) bool {
	return joining(before) || joining(after) && (before == 0 || !Hidden(before))
}

// joining reports whether r is a letter or mark of a script in which neighbours are
// joined.
func joining(r rune) bool {
	return r >= 0x0600 && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Balinese, unicode.Javanese) &&
		!Hidden(r)
}

// pictograph reports whether r is or may be an emoji. It goes by ranges, and whatever
// else lies in them is visible too.
func pictograph(r rune) bool {
	switch {
	case r < 0x2000:
		return r == 0xa9 || r == 0xae
	case r < 0x3000:
		return r == 0x203c || r == 0x2049 || r >= 0x2122 && r <= 0x21aa || r >= 0x231a && r <= 0x23ff || r == 0x24c2 ||
			r >= 0x25aa && r <= 0x27bf || r >= 0x2934 && r <= 0x2935 || r >= 0x2b05 && r <= 0x2b55
	}
	return r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299 || r >= 0x1f000 && r <= 0x1faff
}

// HiddenIn says how many characters of a text a user does not see and which is the
// first, as "2 hidden characters, the first is U+200B in line 1"; "" if there are none.
func HiddenIn(text string) string {
	n, first := 0, ""
	for number, line := range strings.Split(text, "\n") {
		runes, before := []rune(strings.TrimSuffix(line, "\r")), rune(0)
		for i, r := range runes {
			after := rune(0)
			if i+1 < len(runes) {
				after = runes[i+1]
			}
			if !Hidden(r) || Belongs(before, r, after) {
				before = r
				continue
			}
			before = unicode.ReplacementChar // nothing belongs to what is not seen
			if n++; n == 1 {
				first = fmt.Sprintf("%U in line %d", r, number+1)
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "hidden character " + first
	}
	return fmt.Sprintf("%d hidden characters, the first is %s", n, first)
}
