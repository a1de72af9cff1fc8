package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The command of README builds a binary that needs no other file, and .ci/run
// builds a release with the same flags.
func TestTheBinaryOfTheReadmeIsStatic(t *testing.T) {
	t.Parallel()
	const command = `CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o pi .`
	if !strings.Contains(mustRead(t, "README.md"), "\n"+command+"\n") {
		t.Fatalf("README does not say how the binary is built: %s", command)
	}
	release := regexp.MustCompile(`(?s)CGO_ENABLED=0 [^\n]*\\\n *go build [^\n]*-trimpath -ldflags "-s -w"`)
	if !release.MatchString(mustRead(t, filepath.Join(".ci", "run"))) {
		t.Error(".ci/run builds something else")
	}
	pi := filepath.Join(t.TempDir(), "pi")
	build := exec.Command("sh", "-c", strings.Replace(command, "-o pi", `-buildvcs=false -o "$PI"`, 1))
	build.Env = append(os.Environ(), "PI="+pi, "CGO_ENABLED=1", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
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
	if out, err := exec.Command(pi, "--version").Output(); err != nil || string(out) != "pi "+version+"\n" {
		t.Errorf("pi --version: %q, %v", out, err)
	}
}
