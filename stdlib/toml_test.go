package stdlib

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// depthOf is how deep a decoded value is nested.
func depthOf(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, sub := range v {
			deepest = max(deepest, depthOf(sub))
		}
	case []any:
		for _, sub := range v {
			deepest = max(deepest, depthOf(sub))
		}
	case []map[string]any:
		for _, sub := range v {
			deepest = max(deepest, depthOf(sub))
		}
	default:
		return 0
	}
	return deepest + 1
}

// The oracle is the parser: what it makes of a text that was let through is not deeper than the
// headers, keys and values of one place together may be.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{"a = 1", "a = \"[[[\" # [[[", "a = '''[''' \n[b.c]\nd=[1,[2]]", "[[x]]\ny={z=1}", "a=\"\\\"[\"", "a=\"\"\"\"[\"\"\"\"", "a." + strings.Repeat("b.", 10) + "c=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkTOML(text) != nil {
			return
		}
		var v map[string]any
		if _, err := toml.Decode(text, &v); err == nil && depthOf(v) > 4*maxNested {
			t.Errorf("%d deep", depthOf(v))
		}
	})
}

func TestTOMLIsScannedAsTheParserReadsIt(t *testing.T) {
	deep := strings.Repeat("[", 300)
	for _, text := range []string{
		"a = \"" + deep + "\"", "a = '" + deep + "'", "a = \"\"\"\n" + deep + "\"\"\"", "a = '''\n" + deep + "'''", "# " + deep, "a = \"\\\"" + deep + "\"",
		"a = \"\"\"x\"\"\"\"\" # " + deep, "a = [" + strings.Repeat("1.5,", 300) + "]",
	} {
		if err := checkTOML(text); err != nil {
			t.Errorf("%.20s: %v", text, err)
		}
		var v map[string]any
		if _, err := toml.Decode(text, &v); err != nil {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	for _, text := range []string{"a = " + deep, "a = \"\" \nb = " + deep, "a = ''''''\nb = " + deep, "a = \"\"\"\"\"\"\nb = " + deep, "a = '\\'\nb = " + deep, "a = 1 # '\nb = " + deep} {
		if checkTOML(text) == nil {
			t.Errorf("%.30s is not refused", text)
		}
	}
}
