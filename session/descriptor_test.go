package session

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestASessionThatIsReplacedWhileItIsOpenedLeavesNoDescriptorBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("open descriptors are counted in /proc")
	}
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	path, other := filepath.Join(t.TempDir(), "s.jsonl"), filepath.Join(t.TempDir(), "other")
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const tries = 300
	before := descriptors()
	for range tries {
		if _, err := reopen(f, path); !errors.Is(err, errGone) {
			t.Fatalf("the error is %v", err)
		}
	}
	if more := descriptors() - before; more > tries/2 {
		t.Errorf("%d descriptors more are open", more)
	}
}
