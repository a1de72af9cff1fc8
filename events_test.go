//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/luahooks"
)

// notInOnePrompt are the events that need more than one prompt with a tool call:
// other tests see them come.
func notInOnePrompt() []string {
	return strings.Fields(`project_trust
		session_before_switch session_switch session_before_new session_new session_before_branch session_branch
		session_before_compact session_compacting session_compact session_compact_failed session_info_changed
		session_before_tree session_tree
		before_provider_request before_provider_headers after_provider_response
		model_select thinking_level_select ui_prompt_start ui_prompt_end
		compaction_start compaction_end auto_compaction_start auto_compaction_end auto_retry_start auto_retry_end
		tool_execution_update user_bash`)
}

// An event that is documented but never comes would be a lie; this one prompt
// with a tool call makes the program emit every event that belongs to one.
func TestEveryEventOfAPromptIsEmitted(t *testing.T) {
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
		comes := strings.Contains(string(log), "saw "+e.Name+"\n")
		if elsewhere := slices.Contains(notInOnePrompt(), e.Name); comes == elsewhere {
			t.Errorf("%s was emitted: %v", e.Name, comes)
		}
	}
}
