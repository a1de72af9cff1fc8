//go:build unix

package repl

import (
	"strings"
	"testing"
)

// A panic on the goroutine that reads keys, or on the one that paints, ends the run in
// order and gives the terminal back.
func TestAPanicOfTheTerminalIsTold(t *testing.T) {
	for _, where := range []string{"keys", "painter"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := start(t, "REPL_TEST_BREAKS="+where)
			s.prompt("")
			s.enter("slow")
			if err := s.leave(); err == nil {
				t.Error("it ended as if nothing had happened")
			}
			s.see("left: context canceled; broke: broken on purpose")
			if strings.Contains(s.text(), "test/one") {
				t.Errorf("the zone is still there:\n%s", s.text())
			}
		})
	}
}
