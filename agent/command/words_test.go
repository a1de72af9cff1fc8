package command

import (
	"reflect"
	"strings"
	"testing"
)

func TestWordsAreSplitAsAShellQuotesThem(t *testing.T) {
	cases := map[string][]string{
		"":                {},
		"  a  b\t":        {"a", "b"},
		`"a b" 'c "d'`:    {"a b", `c "d`},
		`""`:              {""},
		`a"b"'c'`:         {"abc"},
		`a\ b \"`:         {"a b", `"`},
		`"a\"b\n\\"`:      {`a"b\n\`},
		`'a\'`:            {`a\`},
		`"open end`:       {"open end"},
		`$HOME *.go a;b `: {"$HOME", "*.go", "a;b"},
		`end\`:            {`end\`},
		"ü 日本":            {"ü", "日本"},
	}
	for in, want := range cases {
		if got := Words(in); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"a b", `"x\"`, `'\''`, "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		quoted := "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		if got := Words(" " + quoted + " x"); len(got) != 2 || got[0] != s || got[1] != "x" {
			t.Errorf("%s is split into %q", quoted, got)
		}
	})
}
