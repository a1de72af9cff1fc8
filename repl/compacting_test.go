package repl

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLineOfACompactionFitsANarrowTerminalInWhatMatters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := false
		l := compactionLine{doing: "compacting", began: time.Now(), tokens: 84_300, cancelled: func() bool { return cancelled }, waits: func() *waiting { return nil }}
		for after, want := range map[time.Duration]string{
			0:                "compacting … Esc cancels · 84.3k tokens",
			90 * time.Second: "compacting … Esc cancels · 90 s · 84.3k tokens",
		} {
			l.began = time.Now().Add(-after)
			if got := l.text(80); got != want {
				t.Errorf("after %v: %q", after, got)
			}
			if got := l.text(39); !strings.HasPrefix(got, "compacting … Esc cancels · ") {
				t.Errorf("in 40 columns: %q", got)
			}
		}
		if cancelled = true; !strings.HasPrefix(l.text(80), "compacting … cancelled") {
			t.Errorf("cancelled: %q", l.text(80))
		}
	})
}

func TestWhatIsSpareMakesRoomForDialogsAndComesBeforeThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor()
		var order []string
		wanted, err := f.acquireBackground(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if f.acquirePrompt(t.Context()) == nil {
				order = append(order, "prompt")
				f.releasePrompt()
			}
		}()
		synctest.Wait()
		select {
		case <-wanted:
			t.Error("the prompt wants the floor")
		default:
		}
		go func() {
			if f.acquireDialog(t.Context()) == nil {
				order = append(order, "dialog")
				f.releaseDialog()
			}
		}()
		<-wanted
		f.releaseDialog()
		if _, err := f.acquireBackground(t.Context()); err != nil {
			t.Fatal(err)
		}
		order = append(order, "spare")
		f.releaseDialog()
		synctest.Wait()
		if want := []string{"dialog", "spare", "prompt"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

func TestWhatIsSpareHasAnOpenPromptClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor()
		if err := f.acquirePrompt(t.Context()); err != nil {
			t.Fatal(err)
		}
		taken := false
		go func() {
			_, err := f.acquireBackground(t.Context())
			taken = err == nil
		}()
		<-f.poke
		if !f.wanted() || taken {
			t.Errorf("wanted %v, taken %v", f.wanted(), taken)
		}
		f.releasePrompt()
		synctest.Wait()
		if !taken {
			t.Error("it did not get the floor")
		}
	})
}
