package repl

import (
	"context"
	"testing"
	"time"

	"pi/repl/terminal"
)

// fakePanel is done after Enter.
type fakePanel struct {
	keys string
	done bool
}

func (p *fakePanel) Key(k terminal.Key) bool {
	p.keys += k.Name
	p.done = k.Name == "enter"
	return true
}

func (p *fakePanel) Done() bool { return p.done }

func (p *fakePanel) Render(int, int) ([]string, int, int) { return []string{"fake"}, 0, 4 }

func TestAPanelThatNobodyAskedForTakesKeysWhenNoneCameForAWhile(t *testing.T) {
	x, p := newStage(80), &fakePanel{}
	shown := x.open(p, false, nil)
	for range 3 {
		if x.at = x.at.Add(quietBefore - time.Millisecond); x.panelKey(terminal.Key{Name: "y"}) {
			t.Error("it has the keys")
		}
	}
	x.at = x.at.Add(quietBefore)
	x.giveKeys(&shown.quiet)
	if !x.panelKey(terminal.Key{Name: "n"}) || p.keys != "n" {
		t.Errorf("it got %q", p.keys)
	}
	if !x.panelKey(terminal.Key{Name: "o"}) { // at once: it has them now
		t.Error("it has lost the keys")
	}
	x.panelKey(terminal.Key{Name: "enter"})
	if x.panels.top() != nil {
		t.Error("it is still there")
	}
	select {
	case <-shown.done:
	default:
		t.Error("nobody is told that it is done")
	}
}

// Where the program stood still, what was typed before the question could be seen is read after
// the time in which no key would have come.
func TestKeysThatWaitToBeReadAnswerNothing(t *testing.T) {
	x, p := newStage(80), &fakePanel{}
	shown := x.open(p, false, nil)
	waits := true
	x.keysWait = func() bool { return waits }
	x.at = x.at.Add(quietBefore)
	if x.panelKey(terminal.Key{Name: "y"}) { // read before the time is looked at
		t.Error("a key that was typed before has answered")
	}
	x.at = x.at.Add(quietBefore)
	if x.giveKeys(&shown.quiet); x.panelKey(terminal.Key{Name: "y"}) {
		t.Error("a key that waited to be read has answered")
	}
	waits = false
	if x.giveKeys(&shown.quiet); shown.hasKeys() {
		t.Error("it has the keys at once when the last one was read")
	}
	x.at = x.at.Add(quietBefore)
	if x.giveKeys(&shown.quiet); !x.panelKey(terminal.Key{Name: "n"}) || p.keys != "n" {
		t.Errorf("it got %q", p.keys)
	}
}

func TestAPanelThatTheUserAskedForTakesKeysAtOnce(t *testing.T) {
	x, p := newStage(80), &fakePanel{}
	x.open(p, true, nil)
	if !x.panelKey(terminal.Key{Name: "y"}) || p.keys != "y" {
		t.Errorf("it got %q", p.keys)
	}
}

func TestOfACommandOnlyTheFirstQuestionThatComesSoonHasTheKeysAtOnce(t *testing.T) {
	at := time.Now()
	ctx := asUser(context.Background(), at)
	for _, c := range []struct {
		name string
		ctx  context.Context
		came time.Duration // after the Enter
		want bool
	}{
		{"nobody began it", context.Background(), 0, false},
		{"the first", ctx, quietBefore - 1, true},
		{"the second", ctx, quietBefore - 1, false},
		{"a first one that comes late", asUser(context.Background(), at), quietBefore, false},
		{"of a line that nobody sent", asUser(context.Background(), time.Time{}), 0, false},
	} {
		if got := initiativeOf(c.ctx).asksAtOnce(at.Add(c.came)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestASecondPanelWaitsForTheFirstAndTakesNoneOfItsKeys(t *testing.T) {
	x, one, two, three := newStage(80), &fakePanel{}, &fakePanel{}, &fakePanel{}
	x.open(one, true, nil)
	second := x.open(two, false, nil)
	x.open(three, true, nil)
	x.at = x.at.Add(time.Minute)
	for _, key := range []string{"a", "enter", "b", "enter"} {
		x.panelKey(terminal.Key{Name: key})
	}
	if one.keys != "aenter" || two.keys != "" {
		t.Errorf("the first got %q, the second %q", one.keys, two.keys)
	}
	x.closePanel(second) // given up by the one who asked
	x.closePanel(second)
	x.panelKey(terminal.Key{Name: "c"})
	if three.keys != "c" {
		t.Errorf("the third got %q", three.keys)
	}
}
