package prompts

import (
	"strings"
	"unicode"
)

// mostName is how many characters the name of a skill or a template may have.
const mostName = 64

// isSkillName reports whether a skill may be called so: it has to be typed.
func isSkillName(name string) bool {
	return isName(name, isASCIILetter, "-_") && isASCIILetter(rune(name[0]))
}

// isTemplateName reports whether a template may be called so: it has to be typed, without a
// slash, a dot or a colon.
func isTemplateName(name string) bool { return isName(name, isLetter, "-_") && name[0] != '-' }

// isName reports whether a name is of characters that letter accepts, or of others.
func isName(name string, letter func(rune) bool, others string) bool {
	n := 0
	for _, c := range name {
		if n++; n > mostName || !letter(c) && !strings.ContainsRune(others, c) {
			return false
		}
	}
	return n > 0
}

func isLetter(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

func isASCIILetter(c rune) bool { return c < unicode.MaxASCII && isLetter(c) }
