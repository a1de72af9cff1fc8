package hooktest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/stdlib"
)

// Each example passes its test alone in a folder, as it is where a user added it: nothing of another one is
// missing. Those that go together pass theirs where all are.
func TestExamples(t *testing.T) {
	t.Parallel()
	hooks, err := filepath.Glob("../../examples/*.lua")
	if err != nil || len(hooks) == 0 {
		t.Fatal("no examples", err)
	}
	paths := []string{"../../examples/together_test.lua"}
	for _, hook := range hooks {
		if strings.HasSuffix(hook, "_test.lua") {
			continue
		}
		alone := t.TempDir()
		for _, file := range []string{hook, strings.TrimSuffix(hook, ".lua") + "_test.lua"} {
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(filepath.Join(alone, filepath.Base(file)), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		paths = append(paths, alone)
	}
	pass(t, paths...)
}

// Every module of the standard library is as its spec says, in a hook that runs as always.
func TestModules(t *testing.T) {
	t.Parallel()
	seen := pass(t, "../../stdlib/spec")
	for _, name := range stdlib.Names() {
		if !strings.HasPrefix(name, "pi.compat.") && !slices.Contains(seen, name) {
			t.Errorf("%s has no case in stdlib/spec/modules_test.lua", name)
		}
	}
}

// pass runs the tests at paths, which have to pass, and returns the names of the cases.
func pass(t *testing.T, paths ...string) (cases []string) {
	t.Helper()
	var report strings.Builder
	r := Report{Out: &report}
	summary, err := Run(t.Context(), Options{Paths: paths, Done: func(o Outcome) {
		cases = append(cases, o.Case)
		r.Done(o)
	}})
	if err != nil || summary.Failed > 0 {
		t.Errorf("%d failed of %d, %v\n%s", summary.Failed, summary.Cases, err, &report)
	}
	return cases
}
