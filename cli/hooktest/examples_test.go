package hooktest

import (
	"slices"
	"strings"
	"testing"

	"pi/stdlib"
)

// The tests beside the examples pass.
func TestExamples(t *testing.T) {
	t.Parallel()
	pass(t, "../../examples")
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

// pass runs the tests below a folder, which have to pass, and returns the names of the cases.
func pass(t *testing.T, dir string) (cases []string) {
	t.Helper()
	var report strings.Builder
	r := Report{Out: &report}
	summary, err := Run(t.Context(), Options{Paths: []string{dir}, Done: func(o Outcome) {
		cases = append(cases, o.Case)
		r.Done(o)
	}})
	if err != nil || summary.Failed > 0 {
		t.Errorf("%d failed of %d, %v\n%s", summary.Failed, summary.Cases, err, &report)
	}
	return cases
}
