package prompts

import (
	"regexp"
	"strings"
	"testing"
)

// What names are is said by patterns; they are not in the program because it would take
// milliseconds to compile them.
func TestNamesAreWhatThePatternsSay(t *testing.T) {
	skill := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	template := regexp.MustCompile(`^[\pL\pN_][\pL\pN_-]{0,63}$`)
	long := strings.Repeat("n", 63)
	for _, name := range []string{
		"", "a", "Z9", "9", "_", "-", "_a", "-a", "a-", "a_b-c", "a b", " a", "a\n", "a.b", "a/b", "a:b", "é", "aé", "٣x", "²", "日本", "a日", "\u0301a",
		long, long + "n", long + "nn", long + "é", "é" + long, strings.Repeat("é", 64), strings.Repeat("é", 65), "\x7f", "a\x7f", "\xff", "a\xff", "😀",
	} {
		if got, want := isSkillName(name), skill.MatchString(name); got != want {
			t.Errorf("skill %q: %v, want %v", name, got, want)
		}
		if got, want := isTemplateName(name), template.MatchString(name); got != want {
			t.Errorf("template %q: %v, want %v", name, got, want)
		}
	}
}
