// Package recordings is a test only: it says whether the recorded traffic of real
// services is there. It lies beside the checkout and is no part of it, and tests
// that play it skip without it.
package recordings

import (
	"fmt"
	"testing"

	"pi/internal/testing/wiretest"
)

// TestTheRecordingsAreThere is skipped where they are not. The go command hides
// what the tests of a package say that passes, so a run of all packages could not
// be told from one with the recordings; the one thing it does pass on is this
// warning, by which the line of this package says [no tests to run].
func TestTheRecordingsAreThere(t *testing.T) {
	if root := wiretest.Missing(t); root != "" {
		fmt.Println("\ntesting: warning: no tests to run")
		t.Skipf("no recorded traffic in %s: the tests that play it are skipped", root)
	}
	if n := len(wiretest.All(t)); n == 0 {
		t.Error("the index of the recordings is empty")
	}
}
