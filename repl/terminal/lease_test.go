package terminal

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestALateInterruptIsThatOfTheOtherProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lease
		if l.takesInterrupts() {
			t.Error("interrupts are taken before another program has the terminal")
		}
		l.set(true)
		time.Sleep(time.Hour)
		if !l.takesInterrupts() {
			t.Error("an interrupt is ours while another program has the terminal")
		}
		l.set(false)
		if !l.takesInterrupts() {
			t.Error("an interrupt that ended the other program interrupts this one, too")
		}
		time.Sleep(interruptPatience)
		if l.takesInterrupts() {
			t.Error("interrupts are taken for good")
		}
	})
}
