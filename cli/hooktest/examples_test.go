package hooktest

import (
	"fmt"
	"strings"
	"testing"
)

// The tests beside the examples pass.
func TestExamples(t *testing.T) {
	var report strings.Builder
	r := Report{Out: &report}
	summary, err := Run(t.Context(), Options{Paths: []string{"../../examples"}, Done: r.Done})
	if err != nil || summary.Failed > 0 {
		t.Errorf("%d failed of %s, %v\n%s", summary.Failed, fmt.Sprint(summary.Cases), err, &report)
	}
}
