//go:build unix

package e2e

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Every start pays for what is made while packages are set up. What a package of ours makes
// there, such as an expression that is compiled to megabytes, is to be made when it is used.
func TestNoPackageMakesMuchBeforeTheProgramBegins(t *testing.T) {
	t.Parallel()
	const most = 64 << 10 // bytes
	pi, err := binary.build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pi, "--version")
	cmd.Env = []string{"GODEBUG=inittrace=1", "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line) // init NAME @AT ms, LONG ms clock, N bytes, M allocs
		if len(f) < 9 || f[0] != "init" || !strings.HasPrefix(f[1], "pi/") {
			continue
		}
		seen++
		if n, err := strconv.Atoi(f[7]); err != nil || n > most {
			t.Errorf("%s makes %s bytes (%v), want at most %d", f[1], f[7], err, most)
		}
	}
	if seen == 0 {
		t.Errorf("no package of ours is told of:\n%s", out)
	}
}
