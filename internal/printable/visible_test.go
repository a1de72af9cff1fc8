package printable

import (
	"testing"
)

func TestHiddenCharactersAreSeen(t *testing.T) {
	for text, want := range map[string]string{
		"plain ä 漢 ✓ 👍\n\tx":   "plain ä 漢 ✓ 👍\n\tx",
		"a\u202eb\u2066c":      `a\u{202e}b\u{2066}c`,
		"a\u200bb\u200d\ufeff": `a\u{200b}b\u{200d}\u{feff}`,
		"\U000e0041\U000e0001": `\u{e0041}\u{e0001}`,
		"a\x1b[31mb\x00\r":     `a\u{1b}[31mb\u{0}\u{d}`,
		"a\u00a0b\u3000c":      `a\u{a0}b\u{3000}c`,
		"\u3164\u115f\u2800":   `\u{3164}\u{115f}\u{2800}`,
		"\xffa\x9b":            `\xffa\x9b`,
		"\u00ad\ufe0f\u2028":   `\u{ad}\u{fe0f}\u{2028}`,
		"\ue000":               `\u{e000}`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := VisibleLine("a\nb\tc"); got != `a\nb\tc` {
		t.Errorf("got %q", got)
	}
}
