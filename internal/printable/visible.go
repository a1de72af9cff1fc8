package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible writes text so that what is read is what is there: control characters,
// those that turn the direction of reading, have no width or look like a space,
// and bytes that are no text become \u{202e} and \x9b. Line ends and tabs stay.
func Visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		// Of what is approved even an emoji's selector is shown.
		unclear := Hidden(r) || unicode.Is(unicode.Zs, r) || !unicode.IsGraphic(r)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t' || r == ' ' || !unclear:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	return b.String()
}

// VisibleLine is Visible for what stands in one line, such as a path.
func VisibleLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Visible(text))
}
