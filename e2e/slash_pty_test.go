//go:build unix

package e2e

import (
	"testing"
)

// What waited when the work was interrupted is back in the line, and gives way as well.
func TestACommandTakesThePlaceOfWhatWaited(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.ask("go")
	s.Type("and then this\r")
	s.matches(`↳ .*: and then this`)
	s.Press("esc")
	s.rests("and then this")
	s.Type("/undo\r")
	s.See("undone")
	s.rests("go")
	s.Press("ctrl+c")
	s.quits()
}
