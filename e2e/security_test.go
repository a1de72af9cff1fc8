package e2e

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWhatIsPromisedNamesTheTestsThatHoldIt holds docs/security.md against the
// tests: each promise names some, all that it names exist, and every attack is
// held for some promise.
func TestWhatIsPromisedNamesTheTestsThatHoldIt(t *testing.T) {
	b, err := os.ReadFile(inModule("docs/security.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	_, promised, _ := strings.Cut(text, "\n## Promised\n")
	promised, _, found := strings.Cut(promised, "\n## Not promised\n")
	if !found {
		t.Fatal("the sections have other names")
	}
	promises := strings.Split(promised, "\n- ")[1:]
	if len(promises) < 15 {
		t.Fatalf("%d promises", len(promises))
	}
	attacks := attackScripts(t)
	known := testNames(t)
	for name := range attacks {
		known = append(known, "attack/"+name)
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range scripts {
		known = append(known, "script/"+strings.TrimSuffix(filepath.Base(file), ".txtar"))
	}
	held := map[string]bool{}
	for _, promise := range promises {
		names := promiseHolders.FindAllStringSubmatch(promise, -1)
		if len(names) == 0 {
			t.Errorf("no test is named for: %s", promise)
		}
		for _, name := range names {
			holders := slices.DeleteFunc(slices.Clone(known), func(test string) bool {
				matches, err := path.Match(name[1], test)
				return err != nil || !matches
			})
			if len(holders) == 0 {
				t.Errorf("there is no %s", name[1])
			}
			for _, test := range holders {
				held[test] = true
			}
		}
	}
	for name := range attacks {
		if !held["attack/"+name] {
			t.Errorf("the attack %s belongs to no promise of docs/security.md", name)
		}
	}
}

// promiseHolders are what a promise names: tests, and scripts or several of them.
var promiseHolders = regexp.MustCompile("`((?:attack|script)/[^`]+|(?:Test|Fuzz)[A-Z][^`]*)`")

// testNames are the names of all tests of the module.
func testNames(t *testing.T) []string {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	var names []string
	err := filepath.WalkDir(moduleDir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		b, err := os.ReadFile(file)
		for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
			names = append(names, m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
