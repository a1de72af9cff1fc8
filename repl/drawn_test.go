package repl

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
)

// testDrawer draws its width, and what it is told, and notes when.
type testDrawer struct {
	asked  chan struct{}
	began  chan time.Time
	hold   chan struct{} // nil: it draws at once
	widths chan int
}

func newTestDrawer() *testDrawer {
	return &testDrawer{asked: make(chan struct{}, 1), began: make(chan time.Time, 100), widths: make(chan int, 100)}
}

func (d *testDrawer) Asked() <-chan struct{} { return d.asked }

func (d *testDrawer) Draw(width int, s agent.Surroundings) []string {
	d.began <- time.Now()
	if d.hold != nil {
		<-d.hold
	}
	d.widths <- width
	return []string{fmt.Sprintf("%d on %s with %v %s", width, s.Branch, s.Statuses, strings.Repeat("x", width))}
}

// footer is the footer as it is at last, when it is one that satisfies is.
func (x *stage) footer(t *testing.T, columns int, is func(rows []string) bool) []string {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) { // a goroutine draws
		x.mu.Lock()
		rows := x.widgets.rows(x.palette, columns, agent.Footer)
		x.mu.Unlock()
		if is(rows) {
			return rows
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("the footer is %q", rows)
		}
	}
}

func begins(text string) func([]string) bool {
	return func(rows []string) bool { return len(rows) == 1 && strings.HasPrefix(rows[0], text) }
}

func TestADrawerDrawsForTheWidthAndAnewWhenWhatItIsToldOfChanges(t *testing.T) {
	x := newStage(40)
	p := &user{screen: x.screen}
	d := newTestDrawer()
	p.SetDrawer(agent.Footer, "h", d)
	defer p.SetDrawer(agent.Footer, "h", nil)
	rows := x.footer(t, 40, begins("40 on  with map[] x"))
	if widthOf(rows[0]) != 40 {
		t.Errorf("%q is cut to %d", rows[0], widthOf(rows[0]))
	}
	p.SetStatus("k", "word")
	x.footer(t, 40, begins("40 on  with map[k:word]"))
	p.SetStatus("k", "word") // nothing new
	x.mu.Lock()
	narrow := x.widgets.rows(x.palette, 10, agent.Footer)
	x.mu.Unlock()
	if widthOf(narrow[0]) > 10 {
		t.Errorf("until it is drawn anew %q is wider than the window", narrow[0])
	}
	x.footer(t, 10, begins("10 on  "))
	if len(d.widths) != 3 {
		t.Errorf("it was drawn %d times", len(d.widths))
	}
	p.SetWidget(agent.Footer, "h", []string{"lines"})
	if got := x.footer(t, 10, begins("lines")); !slices.Equal(got, []string{"lines"}) {
		t.Errorf("%q", got)
	}
}

func TestADrawerIsDrawnTenTimesASecondAtMost(t *testing.T) {
	x := newStage(40)
	p := &user{screen: x.screen}
	d := newTestDrawer()
	p.SetDrawer(agent.Footer, "h", d)
	x.footer(t, 40, begins("40"))
	last := <-d.began
	for range 5 {
		wake(d.asked)
		p.SetStatus("k", fmt.Sprint(time.Now().UnixNano()))
		began := <-d.began
		if pause := began.Sub(last); pause < drawPause-time.Millisecond {
			t.Errorf("drawn again after %v", pause)
		}
		last = began
	}
	p.SetDrawer(agent.Footer, "h", nil)
}

// A hook that is stuck keeps nobody: what it drew last stays, and it ends with its drawer.
func TestADrawerThatIsStuckHoldsNobodyUp(t *testing.T) {
	x := newStage(40)
	p := &user{screen: x.screen}
	d := newTestDrawer()
	p.SetDrawer(agent.Footer, "h", d)
	x.footer(t, 40, begins("40"))
	<-d.began
	x.mu.Lock()
	d.hold = make(chan struct{})
	x.mu.Unlock()
	wake(d.asked)
	<-d.began
	x.footer(t, 40, begins("40"))
	p.SetDrawer(agent.Footer, "h", nil)
	x.footer(t, 40, func(rows []string) bool { return len(rows) == 0 })
	close(d.hold)
}

func TestWhatAUserMustKnowStaysWithoutTheStatusLine(t *testing.T) {
	x := newStage(60)
	x.status.model, x.status.full, x.status.hooks = "test/one:off", "34% of 200k", map[string]string{"k": "word"}
	p := &user{screen: x.screen}
	p.HideStatus(true)
	if rows := x.statusRows(60); rows != nil {
		t.Errorf("with nothing to know: %q", rows)
	}
	x.status.mode, x.status.alerts = "plan mode", []string{"tools are shut: hook gate did not load", "2 changes of hooks to approve: /hooks approve"}
	want := []string{"plan mode · tools are shut: hook gate did not load · 2", "changes of hooks to approve: /hooks approve"}
	if rows := x.statusRows(60); !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
	x.widgets.set(agent.Footer, "h", widget{lines: slices.Repeat([]string{"footer"}, 20)})
	x.widgets.set(agent.Above, "w", widget{lines: slices.Repeat([]string{"widget"}, 20)})
	if z := x.zone(60, 6); !slices.Contains(z.Rows, want[0]) || !slices.Contains(z.Rows, want[1]) {
		t.Errorf("in a low window: %q", z.Rows)
	}
	p.HideStatus(false)
	if rows := x.statusRows(60); len(rows) != 1 || !strings.Contains(rows[0], "34% of 200k") {
		t.Errorf("%q is no status line", rows)
	}
}

func TestTheTerminalTellsOfItsWindowWhileSomebodyWantsToKnow(t *testing.T) {
	x := newStage(40)
	p := &user{screen: x.screen, focusing: focusing{changed: make(chan struct{}, 1)}}
	wants := func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return p.wantsFocus()
	}
	for _, c := range []struct {
		notify string
		listen bool
		want   bool
	}{{"off", false, false}, {"", false, false}, {"off", true, true}, {"bell", false, true}, {"osc9", false, true}, {"bell", true, true}, {"off", false, false}} {
		p.Adjust("ui.notify", c.notify)
		p.ReportFocus(c.listen)
		if got := wants(); got != c.want {
			t.Errorf("with notify %q and a listener %v: %v", c.notify, c.listen, got)
		}
	}
	p.focus(true)
	if x.window != (window{true, true}) {
		t.Errorf("%+v", x.window)
	}
	p.ReportFocus(false)
	if x.window != (window{}) {
		t.Error("what the terminal said counts though it says nothing any more")
	}
}

func TestANoticeOnTheDesktopSaysWhyNobodyWasTold(t *testing.T) {
	x := newStage(40)
	p := &user{screen: x.screen, opts: Options{Out: os.Stdout}}
	for _, c := range []struct {
		way    string
		window window
		want   string
	}{
		{"off", window{}, "[ui] notify is off"},
		{"osc9", window{true, true}, "the terminal is in front"},
		{"osc9", window{}, "there is no desktop here"}, // the terminal was not taken over
	} {
		x.notifyWith, x.window = c.way, c.window
		if err := p.NotifyDesktop("t", "b"); err == nil || err.Error() != c.want {
			t.Errorf("%s, %+v: %v", c.way, c.window, err)
		}
	}
}

// Of the same end nobody is told twice.
func TestTheEndOfARunIsNotToldBehindAHooksNotice(t *testing.T) {
	x := newStage(40)
	p := &user{screen: x.screen}
	if err := p.NotifyDesktop("t", ""); err == nil || p.toldByHook() {
		t.Errorf("what was not told counts as told: %v", err)
	}
	x.hookTold = x.at
	if !p.toldByHook() {
		t.Error("what was told does not count")
	}
	x.at = x.at.Add(hookToldFor)
	if p.toldByHook() {
		t.Error("it counts for longer than a moment")
	}
}

// The window may come to the front and leave it at any time, and mostly nobody wants to know.
func BenchmarkFocus(b *testing.B) {
	x := newStage(40)
	p := &user{screen: x.screen, focusing: focusing{changed: make(chan struct{}, 1)}}
	b.ReportAllocs()
	for i := range b.N {
		p.focus(i%2 == 0)
	}
}

func TestTheFocusOfTheWindowAllocatesNothing(t *testing.T) {
	x := newStage(40)
	p := &user{screen: x.screen, focusing: focusing{changed: make(chan struct{}, 1)}}
	if n := testing.AllocsPerRun(100, func() { p.focus(true) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
