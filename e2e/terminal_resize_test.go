//go:build unix

package e2e

import (
	"fmt"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// open is something that is open while the window is resized: how it is brought about,
// the text of its row that must be there exactly once afterwards, and of others that may
// be there at most once.
type open struct {
	begin func(s *desk)
	once  string
	end   func(s *desk)
}

const windowHook = `pi.command("sure", { description = "asks", handler = function(ctx) ctx.ui.confirm("Really go on?", "It is only a test.") end })
pi.command("panel", { description = "shows", handler = function(ctx)
  ctx.ui.custom { wait = true, render = function(width) return { "a component of a hook", ("="):rep(width) } end,
    handle_input = function(key, handle) if key == "q" then handle.close() end end }
end })`

func openThings() map[string]open {
	return map[string]open{
		"a line":      {func(s *desk) { s.Type("half a line"); s.rests("half a line") }, "> half a line", func(s *desk) { s.Press("ctrl+c") }},
		"a picker":    {func(s *desk) { s.Type("/resume\r"); s.See("▸ talk") }, "Resume", func(s *desk) { s.Press("esc") }},
		"a dialog":    {func(s *desk) { s.Type("/sure\r"); s.See("Really go on?") }, "Really go on?", func(s *desk) { s.Pause(time.Second); s.Press("esc") }},
		"a component": {func(s *desk) { s.Type("/panel\r"); s.See("a component of a hook") }, "a component of", func(s *desk) { s.Type("q") }},
		"a stream": {func(s *desk) {
			turn := s.ask("go")
			turn.Text("A sentence that is long enough to be wrapped in fifty columns, and that does not")
			s.See("that does not")
			s.Type("half a line")
			s.steers("half a line")
		}, "steer> half a line", func(s *desk) { s.Press("esc"); s.rests("half a line"); s.Press("ctrl+c") }},
	}
}

// A window that changes its size has the live zone redrawn, once, and nothing of the one
// before is left, on terminals that wrap their rows anew and on those that cut them.
func TestAResizeLeavesOnePrompt(t *testing.T) {
	t.Parallel()
	sizes := [][2]int{{50, 30}, {100, 30}, {100, 10}, {100, 30}, {50, 10}, {100, 30}, {20, 8}, {100, 30}}
	for name, o := range openThings() {
		for _, clips := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, clips %v", name, clips), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				for i := range 20 {
					w.keepsTalk(fmt.Sprintf("talk%04d", i), talked{prompts: []string{fmt.Sprintf("talk %02d of nothing", i)}})
				}
				s := newDesk(t, scenery{world: w, hook: windowHook, terminal: screentest.Options{Cols: 100, Rows: 30, Clips: clips}})
				s.answered("hello", "Hello yourself.")
				o.begin(s)
				for _, size := range sizes {
					before := s.Written()
					s.Resize(size[0], size[1])
					s.Until(fmt.Sprintf("it is redrawn at %v", size), func(screentest.Screen) bool { return s.Written() > before })
					s.Quiet(150 * time.Millisecond)
					s.Until(fmt.Sprintf("%q is there once, and no status twice, at %v", o.once, size), func(now screentest.Screen) bool {
						return now.Count(o.once) == 1 && (clips || len(rowsWith(now, "% of 100k")) <= 1)
					})
				}
				o.end(s)
				s.UntilGone(o.once)
				s.quits()
			})
		}
	}
}
