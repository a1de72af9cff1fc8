//go:build unix

package e2e

import (
	"slices"
	"testing"

	"pi/stdlib/compat"
)

func TestTheAnnotationsHaveEverythingOfOtherPrograms(t *testing.T) {
	a := readAnnotations(t)
	for _, module := range compat.Names() {
		about, err := compat.Describe(module)
		if err != nil {
			t.Fatal(err)
		}
		class := a.modules[module]
		if class == nil {
			t.Fatalf("%s is not annotated", module)
		}
		var annotated []string
		for _, m := range class.members {
			annotated = append(annotated, m.name)
			if !slices.Contains(about.Members, m.name) {
				t.Errorf("%s.%s is only in the annotations", module, m.name)
			}
		}
		for _, name := range about.Members {
			if !slices.Contains(annotated, name) {
				t.Errorf("%s.%s is not annotated", module, name)
			}
		}
	}
}
