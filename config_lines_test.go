package main

import (
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
	if got := indexLines(text); !maps.Equal(got, want) {
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
			visit(keyPath(path, key))
			pathsOf(keyPath(path, key), elem, visit)
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

func FuzzLoad(f *testing.F) {
	example := readExample(f)
	for _, seed := range []string{
		example, uncommented(example), "", "a", "[[a]]\n[[a.b]]\nc.d=1", "a=[1,{b=2}]", "a='''x\ny''''", "\"\\u0041\"=1",
		"[providers.\"a b\"]\nmodels=[{id='x',cost={input=1}}]", "model=1e400", "hooks=['\\u0000']", "\xef\xbb\xbfa=1", "[keys]\na=[[]]",
		"[providers.x.compat]\na=[{b=1979-05-27}]\nc=nan", "a={\n b=1,\n}", "[keys.a]", "[providers.a]", "hook_timeout=-1\nthinking='maxx'",
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
		d := decodeConfig(&cfg, at, []byte(text))
		lines := strings.Count(text, "\n") + 1
		for _, p := range d.problems {
			if p.File == "" || p.Line < 1 || p.Line > lines || p.Text == "" || strings.ContainsAny(p.String(), "\n\x1b") {
				t.Errorf("problem %+v in a file of %d lines", p, lines)
			}
		}
		if cfg.HookTimeout < 1 || !slices.Contains([]string{"turn", "entry"}, cfg.Session.Durability) {
			t.Errorf("a broken rule got through: %+v", cfg)
		}
		var doc map[string]any
		if _, err := toml.Decode(text, &doc); err != nil {
			if len(d.problems) != 1 || !reflect.DeepEqual(cfg, Default()) {
				t.Errorf("a file with a syntax error: problems %v, config %+v", d.problems, cfg)
			}
			return
		}
		pathsOf("", doc, func(path string) {
			if line := d.lines[path]; line < 1 || line > lines {
				t.Errorf("%s has line %d of %d", path, line, lines)
			}
		})
		checkPrinted(t, cfg)
	})
}
