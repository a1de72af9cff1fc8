package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A search of what is cached reads the words alone; where these are not those that its row
// knows, it reads the definitions.
func TestASearchReadsTheWordsInTheCache(t *testing.T) {
	o := thousand(t)
	folder := filepath.Join(o.Dir, "cache", "mcp")
	hash := o.Entries[3].Hash()
	hits := func() int {
		t.Helper()
		s := Open(o)
		defer s.Close()
		n := 0
		for _, h := range s.Search(t.Context(), "merge server3", nil).Hits {
			if h.Server == "server3" {
				n++
			}
		}
		return n
	}
	definitions, err := os.ReadFile(filepath.Join(folder, hash+".json"))
	if err != nil {
		t.Fatal(err)
	}
	words, err := os.ReadFile(filepath.Join(folder, hash+".words"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		definitions, words string // "": there is no such file
		found              bool
	}{
		"both":                {string(definitions), string(words), true},
		"words alone":         {"", string(words), true},
		"other words":         {string(definitions), strings.ReplaceAll(string(words), "merge", "march"), true},
		"no words":            {string(definitions), "", true},
		"other words, alone":  {"", strings.ReplaceAll(string(words), "merge", "march"), false},
		"none, and no server": {"", "", false},
	} {
		for file, text := range map[string]string{hash + ".json": test.definitions, hash + ".words": test.words} {
			path := filepath.Join(folder, file)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if text != "" {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := hits(); (n > 0) != test.found {
			t.Errorf("%s: %d hits", name, n)
		}
	}
}

func TestWordsCountByWhatTheyAreOf(t *testing.T) {
	x := newSearchIndex(&definitions{
		Tools: []Tool{
			{Tool: "readIssue", Description: "Reads what is open\nin the tracker", Schema: json.RawMessage(`{"properties":{"label":{"description":"of the tracker"}}}`)},
			{Tool: "a\tb\n", Title: "Strange"},
		},
		Resources: []Resource{{URI: "test://one", Name: "first"}},
	})
	for _, test := range []struct {
		document int
		word     string
		weight   float64
	}{
		{0, "read", 6}, {0, "issue", 6}, {0, "iss", 3}, {0, "is", 1}, {0, "i", 0}, {0, "sue", 0},
		{0, "reads", 1}, {0, "label", 2}, {0, "lab", 1}, {0, "tracker", 1}, {0, "track", 0.5}, {0, "x", 0},
		{1, "a", 6}, {1, "strange", 6}, {2, "one", 6}, {2, "first", 6},
	} {
		if got := x[test.document].weight(" " + test.word); got != test.weight {
			t.Errorf("%q in %q: %v, want %v", test.word, x[test.document].id, got, test.weight)
		}
	}
	if x[0].shown != "Reads what is open" || x[1].shown != "Strange" || x[2].shown != "first" || !x[2].isResource {
		t.Errorf("%+v", x)
	}
	if again, ok := parseSearchIndex(string(x.encode())); !ok || !reflect.DeepEqual(again, x) {
		t.Errorf("%v: %+v", ok, again)
	}
}

// FuzzSearchIndex checks that what is read is what was written, and that any words can be
// searched for in it.
func FuzzSearchIndex(f *testing.F) {
	x := newSearchIndex(&definitions{Tools: []Tool{{Tool: "get_issue", Description: "gets"}}, Resources: []Resource{{URI: "a://b", Name: "c\td"}}})
	f.Add(string(x.encode()), "get issue")
	f.Add(indexFormat+"\n", "a")
	f.Add(indexFormat+"\ntool\t\"a\"\t\"b\"\t \t a \t  \n", "a")
	f.Add(indexFormat+"\ntool\t\"a\"\t\"b\"\ta\t\t\n", "a")
	f.Fuzz(func(t *testing.T, text, words string) {
		x, ok := parseSearchIndex(text)
		if !ok {
			return
		}
		again, ok := parseSearchIndex(string(x.encode()))
		if !ok || !reflect.DeepEqual(x, again) {
			t.Errorf("%+v becomes %+v", x, again)
		}
		if hits := x.find(newQuery(words), &Entry{Name: "s"}, nil); len(hits) > len(x) {
			t.Errorf("%d hits in %d documents", len(hits), len(x))
		}
	})
}
