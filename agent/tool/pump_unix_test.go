//go:build unix

package tool

import (
	"os"
	"strings"
	"testing"
)

// Nobody has read from the pipe when the time for that is over, as on a machine that is busy.
func TestOutputThatNobodyGotToReadIsNotLost(t *testing.T) {
	for _, c := range []struct {
		name string
		open bool
	}{{"all who wrote have ended", false}, {"a process in the background has it open", true}} {
		t.Run(c.name, func(t *testing.T) {
			p, reports := watched(t)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			if _, err := w.WriteString("the end"); err != nil {
				t.Fatal(err)
			}
			if !c.open {
				w.Close()
			}
			late := make(chan []byte, 1)
			late <- []byte("late, but in time for ")
			close(late)
			p.chunks = late
			if open := p.cutOff(r); open != c.open {
				t.Errorf("open: %v, want %v", open, c.open)
			}
			p.report()
			if got := strings.Join(*reports, ""); got != "late, but in time for the end" {
				t.Errorf("got %q", got)
			}
		})
	}
}
