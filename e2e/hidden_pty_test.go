//go:build unix

package e2e

import "testing"

func TestWhatNobodySeesOfAPasteIsShownInTheLineAndSentAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/counts.lua"), `pi.on("input", function(e, ctx) ctx.ui.notify("it got " .. #e.text .. " bytes") end)`)
	s := w.inTerminal()
	s.prompt()
	s.keys(pasted("hi\U000e0041\ue0b0 👩\u200d💻"))
	s.see(1, "hi<U+E0041><U+E0B0> 👩\u200d💻")
	s.harmless("\U000e0041", "\ue0b0")
	s.keys("\x1b[D\x1b[D\x7f\x1b[F!") // one step and one Backspace each
	s.see(1, "hi<U+E0041> 👩\u200d💻!")
	s.keys("\r")
	s.see(1, "it got 19 bytes") // and an icon less
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
	s.harmless("\U000e0041")
}
