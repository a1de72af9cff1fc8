package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestNoticeNamesTheModulesInTheBinary(t *testing.T) {
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, word := range strings.Fields(string(notice)) {
		words[word] = true
	}
	linked := map[string]bool{"charm.land/catwalk": true} // data, not code
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, module := range linkedModules(t, system) {
			linked[module] = true
			if !words[module] {
				t.Errorf("NOTICE does not name %s, which the %s binary contains", module, system)
			}
		}
	}
	for word := range words {
		if host, _, found := strings.Cut(word, "/"); found && strings.Contains(host, ".") && !linked[word] {
			t.Errorf("NOTICE names %s, which no binary contains", word)
		}
	}
}

// linkedModules are the modules of all packages that the program is built from;
// that each can be built is for other tests to say.
func linkedModules(t *testing.T, system string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages of the program: %v", err)
	}
	modules := strings.Fields(string(out))
	if len(modules) == 0 {
		t.Fatal("go list names no module")
	}
	return modules
}
