//go:build unix

package terminal

import (
	"testing"
	"time"
)

// A line that is ended before there was anything to be seen is sent, whichever byte ends it.
func TestALineFeedIsEnterUntilTheLineIsSeen(t *testing.T) {
	s := onStage(t, 20, 4)
	s.press("hello\n", "h e l l o enter")
	s.show("> ")
	s.see(">")
	s.press("a\n", "a enter")
	s.term.painter.shown.Store(time.Now().Add(-seenAfter).UnixNano())
	s.press("b\n", "b ctrl+j")
}
