package luavm

import (
	"regexp"
	"strings"
	"testing"
)

// FuzzPlacesInMessagesAndTraces compares with the patterns that say what a place
// is. The program has no patterns: each costs every start.
func FuzzPlacesInMessagesAndTraces(f *testing.F) {
	prefix := regexp.MustCompile(`^([^\n]*?:\d+): `)
	inTrace := regexp.MustCompile(`(?m)^\t([^\[\n][^\n]*?:\d+): in `)
	for _, seed := range []string{
		"gate.lua:12: attempt to index nil", "no place", ":1: x", "a:b:3: c:4: d", "x:1:2: y", "a\nb:1: c", "a:1 : b", "größe.lua:7: x",
		"stack traceback:\n\t[G]: in function 'error'\n\tgate.lua:3: in function 'f'\n\tx:1: in main chunk", "\t:1: in x", "\tß:9: in ",
		"\t\n\ta:1: in b", "\t[x]:1: in y",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		where, message := "", strings.TrimPrefix(s, " ")
		if m := prefix.FindStringSubmatch(s); m != nil {
			where, message = m[1], s[len(m[0]):]
		}
		if w, m := splitPlace(s); w != where || m != message {
			t.Errorf("splitPlace(%q) = %q, %q; want %q, %q", s, w, m, where, message)
		}
		first := ""
		if m := inTrace.FindStringSubmatch(s); m != nil {
			first = m[1]
		}
		if got := firstPlace(s); got != first {
			t.Errorf("firstPlace(%q) = %q, want %q", s, got, first)
		}
	})
}
