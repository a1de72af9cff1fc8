//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACallByHandIsAskedAboutInTheTerminalButNotForAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := filepath.Join(t.TempDir(), "mcp-server")
	program, err := os.Executable()
	if err == nil {
		err = os.Symlink(program, server)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.write(w.agentFile("mcp.json"), `{"mcpServers": {"t": {"command": "`+server+`"}}}`)
	w.write(w.agentFile("hooks/gate.lua"), `pi.on("tool_call", function(event, ctx)
  if not ctx.ui.confirm("Really add?", "") then return { block = true, reason = "nobody said yes" } end
end)`)
	call := []string{"mcp", "call", "t", "add", `{"a": 40, "b": 2}`}
	s := w.inTerminal(call...)
	s.see(1, "Really add?")
	s.see(1, "y, or Enter for No:")
	s.keys("y\r")
	s.see(1, `{"sum":42}`)
	s.leave(statusDone)

	w.env = append(w.env, "PI_SESSION_ID=x") // as a model has it, who may make a terminal
	s = w.inTerminal(call...)
	s.see(1, "nobody said yes")
	s.leave(1)
	if strings.Contains(s.output(), "Really add?") {
		t.Error("an agent is asked whether its call may be made")
	}
}
