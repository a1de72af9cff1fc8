package e2e

import (
	"debug/elf"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The command of docs/using.md builds a binary that needs no other file, and .ci/run
// builds a release with the same flags.
func TestTheBinaryOfTheGuideIsStatic(t *testing.T) {
	t.Parallel()
	if !strings.Contains(mustRead(t, inModule("docs/using.md")), "\n"+buildCommand+"\n") {
		t.Fatalf("docs/using.md does not say how the binary is built: %s", buildCommand)
	}
	release := regexp.MustCompile(`(?s)CGO_ENABLED=0 [^\n]*\\\n *go build [^\n]*-trimpath -ldflags "-s -w"`)
	if !release.MatchString(mustRead(t, inModule(".ci/run"))) {
		t.Error(".ci/run builds something else")
	}
	pi, err := binary.build()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(pi)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("it needs %q, %v", libraries, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("it is loaded by a program of the system")
		}
	}
	want := newWorld(t).pi("--version")
	if want != "pi devel\n" {
		t.Errorf("pi --version: %q", want)
	}
	if out, err := exec.Command(pi, "--version").Output(); err != nil || string(out) != want {
		t.Errorf("pi --version: %q, %v", out, err)
	}
}
