//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pi/luahooks"
)

// An event that is documented but never comes would be a lie; this one prompt
// with a tool call makes the program emit every event of the table.
func TestEveryEventOfTheTableIsEmitted(t *testing.T) {
	home := t.TempDir()
	hooks := filepath.Join(home, ".pi", "agent", "hooks")
	if err := os.MkdirAll(hooks, 0o700); err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, e := range luahooks.Events() {
		fmt.Fprintf(&source, "pi.on(%q, function(event) pi.log('saw', event.type) end)\n", e.Name)
	}
	if err := os.WriteFile(filepath.Join(hooks, "all.lua"), []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("pi", "-p", "--model", "demo/tour", "list")
	cmd.Env = append(os.Environ(), "HOME="+home, "PI_CODING_AGENT_DIR=")
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pi: %v\n%s", err, out)
	}
	log, err := os.ReadFile(filepath.Join(home, ".pi", "agent", "hooks.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range luahooks.Events() {
		if !strings.Contains(string(log), "saw "+e.Name+"\n") {
			t.Errorf("%s was not emitted", e.Name)
		}
	}
}
