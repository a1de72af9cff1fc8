//go:build unix

package e2e

import (
	"path/filepath"
	"testing"
)

// What the end waits for is a row with seconds, and Esc cuts it short.
func TestTheUserSeesWhatTheEndWaitsForAndCutsItShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/notes.lua"), `pi.on("session_shutdown", function()
		local done = pi.defer_exit("pushing notes")
		require("pi.timer").sleep(60000)
		done()
	end)`)
	s := w.inTerminal()
	s.enter("/quit")
	s.see(1, "hook notes: pushing notes")
	s.keys("\x1b")
	s.see(1, "hook notes: pushing notes was cut off: you cut it short")
	s.leave(statusDone)
}

// Without that it ends by itself.
func TestTheTerminalIsLeftWhenWhatTheEndWaitsForIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/notes.lua"), `local timer, fs = require "pi.timer", require "pi.fs"
		pi.on("session_shutdown", function()
			local done = pi.defer_exit("pushing notes")
			while not fs.exists("go") do timer.sleep(10) end
			fs.write("pushed", "")
			done()
		end)`)
	s := w.inTerminal()
	s.enter("/quit")
	s.see(1, "hook notes: pushing notes")
	w.write(filepath.Join(w.project, "go"), "")
	s.leave(statusDone)
	mustRead(t, filepath.Join(w.project, "pushed"))
}
