package repl

import (
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"pi/agent/command"
)

func TestCompletionOffersOnlyWhatKeepsWhatWasTyped(t *testing.T) {
	for _, c := range []struct{ typed, offered, want string }{
		{"", "alpha beta", "/x alpha|/x beta"},
		{"be", "alpha beta", "/x beta"},
		{"BE", "alpha beta", "/x beta"},
		{"a", "beta alpha", "/x alpha|/x beta"},
		{"ah", "alpha beta", "/x alpha"},
		{"hp", "alpha beta", ""},
		{"zz", "alpha beta", ""},
		{"alphas", "alpha beta", ""},
		{"3 b", "alpha beta", "/x 3 beta"},
		{"a b", "alpha beta", "/x a beta"},
		{"a\nb", "alpha beta", "/x a\nbeta"},
		{"go a", "go/alpha alpha", "/x go alpha|/x go go/alpha"},
		{"go ", "alpha", "/x go alpha"},
		{"é", "ÉTÉ ete", "/x ÉTÉ"},
	} {
		r := &REPL{commands: command.NewSet(nil, func() []command.Command {
			return []command.Command{{Name: "x", Hook: "h", Complete: func(string) []string { return strings.Fields(c.offered) }}}
		})}
		head, words, tail := r.suggest("/x "+c.typed+" tail", len([]rune("/x "+c.typed)))
		for i := range words {
			words[i] = head + words[i]
		}
		if got := strings.Join(words, "|"); got != c.want || tail != " tail" {
			t.Errorf("%q of %q becomes %q %q, want %q", c.typed, c.offered, got, tail, c.want)
		}
	}
}

// Whatever a hook offers, Tab takes nothing away.
func TestCompletionNeverRemovesWhatWasTyped(t *testing.T) {
	keeps := func(typed string, offered []string) bool {
		return !slices.ContainsFunc(matchingTyped(typed, offered), func(c string) bool { return !containsInOrder(c, typed) })
	}
	if err := quick.Check(keeps, nil); err != nil {
		t.Error(err)
	}
	if !keeps("a b", []string{"b", "ab", "a b", "B", " b", "ba", "b a"}) {
		t.Error("something was lost")
	}
}
