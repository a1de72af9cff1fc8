//go:build unix

package mcp

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestALogThatIsAPipeHoldsNobodyUp(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, logName), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, Options{Dir: dir, Entries: []Entry{entry("s", "banner")}})
	if got := l.ask("echo", `{}`); got != "after the banner" {
		t.Errorf("%q", got)
	}
}
