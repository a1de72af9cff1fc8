//go:build unix

package e2e

import (
	"strings"
	"testing"

	"pi/internal/testing/wiretest"
)

// insertingHook puts a message before the others; version tells its files apart.
func insertingHook(version, text string) string {
	return `pi.on("context", function(event)
  table.insert(event.messages, 1, { role = "user", content = ` + text + `, timestamp = 1 })
  return { messages = event.messages }
end)
pi.on("session_start", function(event, ctx)
  if event.reason == "reload" then ctx.ui.notify("loaded ` + version + `") end
end)`
}

func TestTheStatusLineNamesTheHookThatMadeTheCacheUseless(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.agentFile("hooks/clock.lua")
	w.write(file, insertingHook("first", `"the rules"`))
	s, m := talk(t, w, "text One.\n---\ntext Two.\n---\ntext Three.\n---\ntext Four.\n---\ntext Five.")
	s.enter("1st")
	s.see(1, "One.")
	s.enter("2nd")
	s.see(1, "Two.")
	s.prompt()
	w.write(file, insertingHook("second", `"the " .. "rules"`))
	s.see(1, "loaded second")
	s.enter("3rd")
	s.see(1, "Three.")
	s.prompt()
	if strings.Contains(s.text(), "cache:") {
		t.Errorf("a hook that says what it said before is blamed:\n%s", s.text())
	}
	w.write(file, insertingHook("third", `"other rules"`))
	s.see(1, "loaded third")
	s.enter("4th")
	s.see(1, "Four.")
	s.see(1, "cache: clock changed message 1")
	s.enter("5th")
	s.see(1, "Five.")
	s.until("the hook is named no more", func() bool { return !strings.Contains(s.text(), "cache:") })
	s.enter("/context")
	s.see(1, "hook clock added 1 message")
	s.see(1, "█░")
	s.enter("/quit")
	s.leave(statusDone)
	asked := m.asked()
	for i := 1; i < 3; i++ {
		wiretest.Extends(t, asked[i-1].body, asked[i].body, "tools")
	}
	wiretest.Extends(t, asked[3].body, asked[4].body, "tools")
}
