//go:build unix

package e2e

import "testing"

func TestAHookThatDecidesAboutAProjectTellsInTheTerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--plain"}} {
		w := newWorld(t)
		w.write(w.projectFile("hooks/a.lua"), hookSays("one"))
		w.write(w.agentFile("hooks/decides.lua"), `pi.on("project_trust", function(event, ctx)
  ctx.ui.notify("looked at " .. #event.files .. " file\27[2J of it")
  ctx.ui.notify("not signed", "warning")
  return { trusted = { [event.files[1].sha256] = true } }
end)`)
		s := w.inTerminal(args...)
		s.see(1, "looked at 1 file of it")
		s.see(1, "warning: not signed")
		s.see(1, "hook says one")
		s.prompt()
		s.enter("/quit")
		s.leave(statusDone)
		s.harmless("\x1b[2J")
	}
}
