package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// idRules are the rules of all APIs, and the form that each promises.
func idRules() map[string]struct {
	rule IDRule
	form *regexp.Regexp
} {
	return map[string]struct {
		rule IDRule
		form *regexp.Regexp
	}{
		"word":  {WordIDs(64), regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)},
		"short": {ShortIDs(40), regexp.MustCompile(`^[!-~]{1,40}$`)},
		"nine":  {ExactIDs(9), regexp.MustCompile(`^[A-Za-z0-9]{9}$`)},
	}
}

// FuzzCallIDs holds for any ids: names have the form of the rule, no two calls
// have one name, each result has that of its call, an id of the right form that
// comes once keeps it unless another got it before, and a conversation that goes
// on keeps the names of its beginning.
func FuzzCallIDs(f *testing.F) {
	long := strings.Repeat("x", 450)
	for _, seed := range []string{
		"call_1 call_1 call_1_2 call_1", "a.b a:b a_b a_b_2", "  ", "gSIMJiOkT gSIMJiOkT", long + "1 " + long + "2 " + long + "1",
		"call_x|fc_y call_x|fc_z call_x", "日本 \x00 \xff", "0 0 0 0_2 0_3", "|fc_1 |fc_2", strings.Repeat("y", 64) + " " + strings.Repeat("y", 64),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := strings.Split(text, " ")
		if len(ids) > 100 {
			return
		}
		for name, c := range idRules() {
			all, some := NewCallIDs(c.rule), NewCallIDs(c.rule)
			var names []string
			for i, id := range ids {
				got := all.Call(id)
				switch {
				case !c.form.MatchString(got):
					t.Errorf("%s: %q became %q", name, id, got)
				case slices.Contains(names, got):
					t.Errorf("%s: %q became %q, as another did", name, id, got)
				case got != id && c.rule(id) == id && !slices.Contains(names, id):
					t.Errorf("%s: %q became %q though it was free", name, id, got)
				}
				names = append(names, got)
				if i < len(ids)/2 && some.Call(id) != got {
					t.Errorf("%s: in a longer conversation %q has another name", name, id)
				}
			}
			for i, id := range ids {
				if got := all.Result(id); got != names[i] {
					t.Errorf("%s: the result of %q is that of %q; want %q", name, id, got, names[i])
				}
			}
		}
	})
}

func TestManyCallsOfOneIDAreNamedInOneGo(t *testing.T) {
	const calls = 3000
	for name, c := range idRules() {
		asked := 0
		ids := NewCallIDs(func(id string) string { asked++; return c.rule(id) })
		for range calls {
			ids.Call("functions.read:0")
		}
		if asked > 2*calls {
			t.Errorf("%s: the rule was asked %d times for %d calls", name, asked, calls)
		}
	}
}

// BenchmarkCallIDs names the calls of a long conversation with a server that
// starts over with its numbers in each answer.
func BenchmarkCallIDs(b *testing.B) {
	for b.Loop() {
		ids := NewCallIDs(WordIDs(64))
		for i := range 5000 {
			id := fmt.Sprintf("functions.read:%d", i%3)
			ids.Call(id)
			ids.Result(id)
		}
	}
}
