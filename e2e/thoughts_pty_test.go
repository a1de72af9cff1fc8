//go:build unix

package e2e

import (
	"strings"
	"testing"
)

// Claude Sonnet 5.5 says in thoughts what it does between its calls. Who hides thoughts sees
// that, and nothing else of them; without thinking there is nothing else.
func TestWhatIsSaidBetweenCallsIsSeenWhileThoughtsAreHidden(t *testing.T) {
	t.Parallel()
	const script = `think I weigh it up.
call read {"path":"a.txt"}
---
think It is the other one, I suppose.
think It names b.txt, so I read that.
call read {"path":"b.txt"}
---
think That is all.
text It says no.`
	for level, seen := range map[string]bool{"high": false, "off": true} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := newModelServer("anthropic-messages", script, "")
			t.Cleanup(s.http.Close)
			w.write(w.agentFile("config.toml"), "[ui]\nshow_thinking = false\n"+s.settings())
			w.write(w.projectFile("a.txt"), "see b.txt\n")
			w.write(w.projectFile("b.txt"), "no\n")
			x := w.inTerminal("--model", "local/claude-sonnet-5-5:"+level)
			x.prompt()
			x.enter("what does it say?")
			x.see(1, "It says no.")
			x.see(1, "It names b.txt, so I read that.")
			for _, thought := range []string{"weigh it up", "I suppose", "That is all"} {
				if got := strings.Contains(x.text(), thought); got != seen {
					t.Errorf("at %s %q is seen: %v\n%s", level, thought, got, x.text())
				}
			}
			x.prompt()
			x.enter("/quit")
			x.leave(statusDone)
		})
	}
}
