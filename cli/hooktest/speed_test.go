package hooktest

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkOneCase runs a case with a hook, a prompt and a call, as `pi test` does.
func BenchmarkOneCase(b *testing.B) {
	dir := b.TempDir()
	for name, text := range map[string]string{
		"gate.lua": `pi.on("tool_call", function(event) if event.tool_name == "bash" then return { block = true, reason = "no" } end end)`,
		"gate_test.lua": `local t = require "pi.test"
t.case("a command is blocked", function(t)
  t.hook("gate.lua")
  t.model { { tool = "bash", input = { command = "ls" } }, "done" }
  t.prompt("go")
  t.blocked("bash", "no")
end)`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if s, err := Run(b.Context(), Options{Paths: []string{dir}, Done: func(Outcome) {}}); err != nil || s.Cases != 1 || s.Failed > 0 {
			b.Fatal(s, err)
		}
	}
}
