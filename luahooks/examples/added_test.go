package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/luahooks/trust"
)

// agentDir is an agent directory with these files among its hooks.
func agentDir(t *testing.T, files map[string]string) trust.Places {
	t.Helper()
	p := trust.Places{AgentDir: t.TempDir()}
	if err := os.Mkdir(p.GlobalDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.GlobalDir(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestTheStateOfAnExampleIsThatOfItsFiles(t *testing.T) {
	t.Parallel()
	was, is := Example{"a", "was", "was tested"}, Example{"a", "is", "is tested"}
	for name, c := range map[string]struct {
		files map[string]string
		want  State
	}{
		"none":                     {nil, Absent},
		"a test alone":             {map[string]string{"a_test.lua": "is tested"}, Absent},
		"both":                     {map[string]string{"a.lua": "is", "a_test.lua": "is tested"}, Current},
		"no test":                  {map[string]string{"a.lua": "is"}, Current},
		"what was written":         {map[string]string{"a.lua": "was", "a_test.lua": "was tested"}, Older},
		"that without a test":      {map[string]string{"a.lua": "was"}, Older},
		"a changed hook":           {map[string]string{"a.lua": "mine", "a_test.lua": "was tested"}, Changed},
		"a changed test":           {map[string]string{"a.lua": "was", "a_test.lua": "mine"}, Changed},
		"a test of another day":    {map[string]string{"a.lua": "is", "a_test.lua": "was tested"}, Changed},
		"the hook of another name": {map[string]string{"b.lua": "is"}, Absent},
	} {
		p := agentDir(t, c.files)
		if err := Note(p, was); err != nil {
			t.Fatal(err)
		}
		added, err := ReadAdded(p)
		if got := added.State(is); err != nil || got != c.want || !added.Known(is) {
			t.Errorf("%s: %q, want %q; %v", name, got, c.want, err)
		}
	}
}

func TestWhatWasAddedIsRememberedBesideOthers(t *testing.T) {
	t.Parallel()
	p := agentDir(t, nil)
	a, b := Example{"a", "1", "2"}, Example{"b", "3", "4"}
	for _, e := range []Example{a, b, {"a", "5", "6"}, {"d", "7", "8"}} {
		if err := Note(p, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := Drop(p, Example{Name: "d"}); err != nil {
		t.Fatal(err)
	}
	added, err := ReadAdded(p)
	if err != nil || added.sums["a"] != (Example{"a", "5", "6"}).sums() || added.sums["b"] != b.sums() || added.Known(Example{Name: "c"}) || added.Known(Example{Name: "d"}) {
		t.Errorf("%v, %v", added.sums, err)
	}
}

// What cannot be read makes nobody lose a hook: all of them count as the user's.
func TestWhatIsNoListOfExamplesKnowsNothing(t *testing.T) {
	t.Parallel()
	e := Example{"a", "was", "was tested"}
	for _, text := range []string{"", "[", `{"examples": 3}`, `{"examples": {"a": {"hook": 1}}}`, strings.Repeat("x", maxAdded+1)} {
		p := agentDir(t, map[string]string{"a.lua": "was"})
		if err := os.WriteFile(lockPath(p), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		added, err := ReadAdded(p)
		if err == nil || added.State(Example{"a", "is", ""}) != Changed {
			t.Errorf("%.20q: %v, %v", text, added.sums, err)
		}
		if err := Note(p, e); len(text) < maxAdded && err != nil {
			t.Errorf("%.20q: not written anew: %v", text, err)
		}
	}
}
