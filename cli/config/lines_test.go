package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestLinesOfKeys(t *testing.T) {
	text := strings.Join([]string{
		"\ufeffa = 1 # b = 2", // 1
		"'q k' . \"x\\u0041\" = [ # c",
		"  1, # two = 2",
		"  [2, 3],",
		"  { in = \"]}#\", 'o' = [4,",
		"  5] }, ] # end",
		"\r",
		"s = '''", // 8
		"z = 1",
		"'''' # that was one more quote",
		"e = \"\\\"\" # y", // 11
		"[t . u] # v",
		"w = 1979-05-27 07:32:00 # date",
		"[[ l ]]",
		"k = 1",
		"[[l]]",
		"k = 1",
		"[[l.m]]",
		"n.o = 1",
		"[[l.m]]",
	}, "\n")
	want := lineIndex{
		"a": 1, `"q k"`: 2, `"q k".xA`: 2, `"q k".xA[0]`: 3, `"q k".xA[1]`: 4, `"q k".xA[1][0]`: 4, `"q k".xA[1][1]`: 4,
		`"q k".xA[2]`: 5, `"q k".xA[2].in`: 5, `"q k".xA[2].o`: 5, `"q k".xA[2].o[0]`: 5, `"q k".xA[2].o[1]`: 6,
		"s": 8, "e": 11, "t": 12, "t.u": 12, "t.u.w": 13, "l": 14, "l[0]": 14, "l[0].k": 15, "l[1]": 16, "l[1].k": 17,
		"l[1].m": 18, "l[1].m[0]": 18, "l[1].m[0].n": 19, "l[1].m[0].n.o": 19, "l[1].m[1]": 20,
	}
	var doc map[string]any
	if _, err := toml.Decode(text, &doc); err != nil {
		t.Fatal(err)
	}
	if got, _ := indexLines(text); !maps.Equal(got, want) {
		for path := range got {
			if got[path] != want[path] {
				t.Errorf("%s: line %d, want %d", path, got[path], want[path])
			}
		}
		for path := range want {
			if got[path] == 0 {
				t.Errorf("%s: not found", path)
			}
		}
	}
}

// pathsOf is every path in a decoded document, the oracle of the line index.
func pathsOf(path string, v any, visit func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, elem := range v {
			visit(KeyPath(path, key))
			pathsOf(KeyPath(path, key), elem, visit)
		}
	case []any:
		for i, elem := range v {
			visit(indexPath(path, i))
			pathsOf(indexPath(path, i), elem, visit)
		}
	case []map[string]any:
		for i, elem := range v {
			visit(indexPath(path, i))
			pathsOf(indexPath(path, i), elem, visit)
		}
	}
}

func deepSeed(open, shut string) string {
	return "a=" + strings.Repeat(open, 17) + strings.Repeat(shut, 17)
}

// depthOf is how many levels of a document stand inside each other.
func depthOf(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, elem := range v {
			deepest = max(deepest, depthOf(elem))
		}
	case []any:
		for _, elem := range v {
			deepest = max(deepest, depthOf(elem))
		}
	case []map[string]any:
		for _, elem := range v {
			deepest = max(deepest, depthOf(elem))
		}
	default:
		return 0
	}
	return deepest + 1
}

func TestASettingsFileBeyondTheBoundsIsLeftOut(t *testing.T) {
	deep := func(n int) string { return "models = " + strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, c := range map[string]struct{ text, want string }{
		"lists inside lists":       {"model = 'a/b'\n" + deep(17), ":2: lists and tables stand inside each other deeper than 16 levels"},
		"lists that never end":     {"a=" + strings.Repeat("[", 80_000), ":1: lists and tables stand inside each other deeper than 16 levels"},
		"tables inside tables":     {"keys = " + strings.Repeat("{a=", 17) + "1" + strings.Repeat("}", 17), ":1: lists and tables"},
		"a dotted key":             {strings.Repeat("a.", 10_000) + "a = 1", ":1: a key has more than 16 parts"},
		"a dotted table":           {"\n[" + strings.Repeat("a . ", 17) + "a]", ":2: a key has more than 16 parts"},
		"a long key":               {strings.Repeat("a", 257) + " = 1", ":1: a key is longer than 256 bytes"},
		"a long quoted key":        {"[keys.'" + strings.Repeat("a", 1000) + "']", ":1: a key is longer than 256 bytes"},
		"many keys":                {strings.Repeat("[[a]]\n", 10_001), ": there are more than 10000 keys and elements of lists"},
		"many elements":            {"models = [" + strings.Repeat("'a',", 10_001) + "]", ":1: there are more than 10000 keys"},
		"a size that is too large": {"#" + strings.Repeat("x", maxSize), ": read settings: 262145 bytes are too many"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.global(c.text)
			cfg, problems := s.load()
			if len(problems) != 1 || !strings.HasPrefix(problems[0], "G") || !strings.Contains(problems[0], c.want) || !strings.HasSuffix(problems[0], "; the file is left out") {
				t.Errorf("problems %.300q", problems)
			}
			if cfg.Model != "" {
				t.Error("part of the file counts")
			}
		})
	}
	s := newSandbox(t)
	s.global("[keys]\n" + strings.Repeat("a", 250) + " = []\n[providers.x.compat]\na = " + strings.Repeat("[", 15) + strings.Repeat("]", 15))
	if _, problems := s.load(); len(problems) != 0 {
		t.Errorf("within the bounds: problems %q", problems)
	}
}

func TestOfManyProblemsTheFirstAreTold(t *testing.T) {
	s := newSandbox(t)
	var text strings.Builder
	for i := range 9_000 {
		fmt.Fprintf(&text, "k%d = 1\n", i)
	}
	s.global(text.String())
	_, problems := s.load()
	if len(problems) != maxProblems+1 || problems[0] != `G:1: unknown key "k0"` || problems[maxProblems] != "G:50: and 8950 more problems in this file" {
		t.Errorf("%d problems: %.300q …", len(problems), problems)
	}
}

func FuzzLoad(f *testing.F) {
	example := readExample(f)
	for _, seed := range []string{
		example, uncommented(example), "", "a", "[[a]]\n[[a.b]]\nc.d=1", "a=[1,{b=2}]", "a='''x\ny''''", "\"\\u0041\"=1",
		"[providers.\"a b\"]\nmodels=[{id='x',cost={input=1}}]", "model=1e400", "hooks=['\\u0000']", "\xef\xbb\xbfa=1", "[keys]\na=[[]]",
		"[providers.x.compat]\na=[{b=1979-05-27}]\nc=nan", "a={\n b=1,\n}", deepSeed("[", "]"), deepSeed("{a=", "}"), strings.Repeat("a.", 30) + "a=1", "[keys.a]", "[providers.a]", "hook_timeout=-1\nthinking='maxx'",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, project bool) {
		at := place{file: filepath.FromSlash("/a/config.toml"), home: "/home"}
		if project {
			at.project = "/a"
		}
		cfg := Default()
		d := decode(&cfg, at, []byte(text))
		lines := strings.Count(text, "\n") + 1
		for _, p := range d.problems {
			if p.File == "" || p.Line < 1 || p.Line > lines || p.Text == "" || strings.ContainsAny(p.String(), "\n\x1b") {
				t.Errorf("problem %+v in a file of %d lines", p, lines)
			}
		}
		if cfg.HookTimeout < 1 || !slices.Contains([]string{"turn", "entry"}, cfg.Session.Durability) {
			t.Errorf("a broken rule got through: %+v", cfg)
		}
		untouched := func() bool { // but for what is not known of hooks and tools
			plain := cfg
			plain.Lost, plain.Tools.Confine = nil, false
			return reflect.DeepEqual(plain, Default()) && len(cfg.Lost) <= 1
		}
		var doc map[string]any
		if _, err := toml.Decode(text, &doc); err != nil {
			if len(d.problems) != 1 || !untouched() {
				t.Errorf("a file with a syntax error: problems %v, config %+v", d.problems, cfg)
			}
			return
		}
		if _, beyond := indexLines(text); beyond != nil || len(text) > maxSize {
			if len(d.problems) != 1 || !strings.HasSuffix(d.problems[0].Text, "the file is left out") || !untouched() {
				t.Errorf("a file beyond the bounds: problems %v, config %+v", d.problems, cfg)
			}
			return
		}
		if depth := depthOf(doc); depth > 2*maxDepth*maxDepth {
			t.Errorf("a document %d levels deep is within the bounds", depth)
		}
		pathsOf("", doc, func(path string) {
			if line := d.lines[path]; line < 1 || line > lines {
				t.Errorf("%s has line %d of %d", path, line, lines)
			}
		})
		checkPrinted(t, cfg)
	})
}
