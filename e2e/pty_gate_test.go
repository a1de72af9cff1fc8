//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// A gate of the user's own commands is shut when it denies, fails, is late or
// does not load, and answers for the command when it has an answer.
func TestGatesOfTheUsersCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, hook, settings, says string }{
		{"raises", `pi.on("user_bash", function() error("no luck") end)`, "", "no luck"},
		{"is late", `pi.on("user_bash", function() while true do end end)`, "hook_timeout = 1000\n", "ran longer than 1s"},
		{"does not load", `pi.on("user_bash", function()`, "", "did not load"},
		{"is malformed", `pi.on("user_bash", function() return { result = "yes" } end)`, "", "result"},
		{"answers", `pi.on("user_bash", function(e) return { result = { output = "instead of " .. e.command, exit_code = 0 } } end)`,
			"", "instead of touch made"},
		{"rewrites", `pi.on("user_bash", function(e) return { command = "echo not $((40 + 2))" } end)`, "", "not 42"},
		{"wraps", `pi.on("shell", function(e) return { wrap = { "echo", e.source .. "'s" } } end)`, "", "user's touch made"},
		{"wraps badly", `pi.on("shell", function(e) error("no " .. "luck") end)`, "", "hook gate.lua failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.agentFile("hooks/gate.lua"), c.hook)
			w.write(w.agentFile("config.toml"), c.settings)
			s := w.inTerminal()
			s.enter("!touch made")
			s.see(1, c.says)
			s.enter("/quit")
			s.leave(statusDone)
			if _, err := os.Stat(filepath.Join(w.project, "made")); err == nil {
				t.Error("the command ran")
			}
		})
	}
}
