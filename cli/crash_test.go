//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestOldReportsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PI_CODING_AGENT_DIR", dir)
	for range 3 * maxReports {
		if said := writeReport("a test", allStacks()); !strings.Contains(said, "crashes") || strings.Contains(said, "could not") {
			t.Fatal(said)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "crashes", "*.txt"))
	if err != nil || len(left) > maxReports {
		t.Errorf("%d reports are left, %v", len(left), err)
	}
}

func TestStacksHaveNoArguments(t *testing.T) {
	const in = "goroutine 1 [running, 2 minutes]:\nmain.run({0xc000012120, 0x2, 0x2}, {0x0, ...})\n\t/src/main.go:5 +0x1d (deep)\n" +
		"pi/agent.(*Agent).Prompt(0xc0001?, {0x6b2d, 0x10})\n\t/src/a.go:1\ncreated by pi/agent.(*Agent).x in goroutine 1\n\t/src/b.go:9 +0x5\n"
	const want = "goroutine 1 [running, 2 minutes]:\nmain.run(…)\n\t/src/main.go:5 +0x1d (deep)\n" +
		"pi/agent.(*Agent).Prompt(…)\n\t/src/a.go:1\ncreated by pi/agent.(*Agent).x in goroutine 1\n\t/src/b.go:9 +0x5\n"
	if got := string(withoutArguments([]byte(in))); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
