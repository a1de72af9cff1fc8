package repl

import (
	"context"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/repl/terminal"
	"pi/session/message"
)

func TestTheRowSaysWhatIsDoneOrWaitedFor(t *testing.T) {
	retry := func(x *stage) {
		e := &agent.AutoRetryStart{Attempt: 2, MaxAttempts: 3, ErrorMessage: "acme: HTTP 529\noverloaded \x1b[31mat this moment"}
		x.activity.retries = append(x.activity.retries, &retryWait{e, x.at, x.at.Add(3500 * time.Millisecond)})
	}
	for _, c := range []struct {
		name, doing string
		columns     int
		set         func(x *stage)
		want        string
	}{
		{"nothing known", "", 80, func(*stage) {}, "⠹ working 14 s  Esc interrupts"},
		{"the answer", "", 80, func(x *stage) { x.activity.note(waitsForAnswer, x.at.Add(-time.Second)) }, "⠹ waiting for m 14 s  Esc interrupts"},
		{"the answer, for a moment", "", 80, func(x *stage) { x.activity.note(waitsForAnswer, x.at.Add(-time.Second/2)) }, "⠹ working 14 s  Esc interrupts"},
		{"arguments", "", 80, func(x *stage) {
			x.activity.note(waitsForArguments, x.at)
			x.activity.name, x.activity.bytes = "wri\nte", 1200
		}, "⠹ writing wri te (1200 bytes) 14 s  Esc interrupts"},
		{"a hook", "", 80, func(x *stage) { x.activity.hook = func() string { return "gate" } }, "⠹ waiting for hook gate 14 s  Esc interrupts"},
		{"the words of a hook", "", 80, func(x *stage) { x.activity.text = "counting sheep" }, "⠹ counting sheep 14 s  Esc interrupts"},
		{"another attempt", "", 80, retry, "⠹ retry 2/3 in 4 s: acme: HTTP 529 overloaded at this moment  Esc interrupts"},
		{"another attempt, 40 columns", "", 40, retry, "⠹ retry 2/3 in 4 s: acm…  Esc interrupts"},
		{"another attempt of a command", "compacting", 80, retry, "⠹ compacting 14 s · retry 2/3 in 4 s: acme: HTTP 529 overloaded at…  Esc cancels"},
		{"a command", "compacting", 80, func(x *stage) { x.activity.tasks[0].size = 84_300 }, "⠹ compacting 14 s · 84.3k tokens  Esc cancels"},
		{"a command, 34 columns", "compacting", 34, func(x *stage) { x.activity.tasks[0].size = 84_300 }, "⠹ compacting 14 s  Esc cancels"},
		{"a command that was cancelled", "compacting", 80, func(x *stage) { x.activity.tasks[0].cancelled = true }, "⠹ compacting 14 s  cancelled"},
		{"facts", "", 80, func(x *stage) { x.activity.tokens, x.activity.written, x.queue = 1000, 800, make([]queuedRow, 2) }, "⠹ working 14 s · ↓ 1.2k tokens · 2 queued  Esc interrupts"},
		{"the key is said before facts", "", 48, func(x *stage) { x.activity.tokens, x.queue = 1200, make([]queuedRow, 2) }, "⠹ working 14 s · ↓ 1.2k tokens  Esc interrupts"},
		{"arguments, 40 columns", "", 40, func(x *stage) {
			x.activity.note(waitsForArguments, x.at)
			x.activity.name, x.activity.bytes = "write", 1200
		}, "⠹ writing write (1200 bytes) 14 s"},
		{"20 columns", "", 20, func(*stage) {}, "⠹ working 14 s"},
		{"8 columns", "", 8, func(*stage) {}, "⠹ … 14 s"},
		{"no signs that turn", "", 80, func(x *stage) { x.activity.frames = []string{} }, "working 14 s  Esc interrupts"},
		{"its own sign", "", 80, func(x *stage) { x.activity.frames = []string{"-", "+"}; x.activity.every = 14 * time.Second }, "+ working 14 s  Esc interrupts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newStage(c.columns)
			x.status.model = "m"
			x.activity.begin(&task{doing: c.doing, began: x.at.Add(-14*time.Second - 100*time.Millisecond)})
			c.set(x)
			x.activity.tasks[0].began = x.at.Add(-14 * time.Second)
			rows := x.activity.rows(c.columns, x.screen)
			want := strings.Replace(c.want, "⠹", x.activity.sign(x), 1)
			if len(rows) != 1 || rows[0] != want {
				t.Errorf("%q\nwant %q", rows, want)
			}
			if widthOf(rows[0]) > c.columns {
				t.Errorf("it is wider than %d", c.columns)
			}
		})
	}
}

// sign is the sign that turns after 14 seconds.
func (b *activity) sign(x *stage) string {
	return strings.TrimSpace((&activity{}).spinner(x.at, x.at.Add(-14*time.Second)))
}

func TestTheSignTurnsFourTimesASecondAndAHooksAsItWants(t *testing.T) {
	began := time.Unix(1000, 0)
	for _, c := range []struct {
		b     activity
		turns int // in two seconds
	}{
		{activity{}, 8},
		{activity{every: time.Millisecond}, 8},
		{activity{frames: []string{"a", "b", "c"}, every: time.Millisecond}, 25},
		{activity{frames: []string{"a", "b", "c"}, every: 80 * time.Millisecond}, 25},
		{activity{frames: []string{"a", "b", "c"}, every: 500 * time.Millisecond}, 4},
	} {
		turns, last := 0, ""
		for ms := 0; ms < 2000; ms += 5 {
			if sign := c.b.spinner(began.Add(time.Duration(ms)*time.Millisecond), began); sign != last {
				last = sign
				turns++
			}
		}
		if turns != c.turns {
			t.Errorf("%q every %v: %d turns in two seconds, want %d", c.b.frames, c.b.every, turns, c.turns)
		}
	}
}

func TestAHooksWorkingMessageKeepsTheThemesColours(t *testing.T) {
	x := newStage(80)
	x.palette = terminal.Palette{On: true}
	p := &user{screen: x.screen}
	x.activity.begin(&task{began: x.at})
	p.SetIndicator([]string{x.palette.Paint("error", "*") + "\x1b[2J"}, 0)
	p.SetWorking(x.palette.Paint("warning", "mind") + " the\n\x1b[1;1Hgap")
	x.at = x.at.Add(time.Second)
	row := strings.Join(x.activity.rows(80, x.screen), "|")
	for _, want := range []string{x.palette.Paint("error", "*"), x.palette.Paint("warning", "mind") + " the", "gap", x.palette.Paint("accent", " 1 s")} {
		if !strings.Contains(row, want) {
			t.Errorf("%q has no %q", row, want)
		}
	}
	if strings.Contains(row, "\x1b[2J") || strings.Contains(row, "\x1b[1;1H") || strings.Contains(row, "\n") {
		t.Errorf("%q moves the cursor", row)
	}
	p.SetWorking(x.palette.Paint("warning", ""))
	p.SetIndicator(nil, 0)
	if row := strings.Join(x.activity.rows(80, x.screen), "|"); !strings.Contains(row, "⠼ ") || !strings.Contains(row, "working") {
		t.Errorf("%q is not the usual row", row)
	}
}

func TestACommandIsNotShownBeforeItTakesLongNorWhileItAsks(t *testing.T) {
	x := newStage(80)
	x.activity.begin(&task{doing: "/name", began: x.at})
	if rows := x.activity.rows(80, x.screen); rows != nil {
		t.Errorf("at once: %q", rows)
	}
	x.at = x.at.Add(shown)
	if rows := x.activity.rows(80, x.screen); len(rows) != 1 {
		t.Errorf("after 300 ms: %q", rows)
	}
	x.open(&fakePanel{}, true, nil)
	if rows := x.activity.rows(80, x.screen); rows != nil {
		t.Errorf("while it asks: %q", rows)
	}
}

func TestEscStopsTheNewestThatIsNotStopping(t *testing.T) {
	stops := func() bool { return true }
	one, two := &task{doing: "one", cancel: stops}, &task{doing: "two", cancel: stops}
	var b activity
	b.begin(one)
	b.begin(two)
	if b.stop() != two || b.steers() {
		t.Error("it does not stop the newest")
	}
	if b.stop() != one {
		t.Error("it stops the same again")
	}
	b.end(one)
	if b.stop() != nil {
		t.Error("there is nothing to stop")
	}
	b.begin(&task{})
	if !b.steers() || b.isCancelled() {
		t.Error("the agent works")
	}
}

func TestWaitsBesideEachOtherEndOneByOne(t *testing.T) {
	at := time.Unix(1000, 0)
	short, long := &retryWait{until: at.Add(time.Second)}, &retryWait{until: at.Add(time.Minute)}
	b := activity{retries: []*retryWait{long, short}}
	if b.retry() != long {
		t.Error("the longest is not shown")
	}
	if b.waited(); b.retry() != long {
		t.Error("the end of one has ended the other")
	}
	b.waited()
	if b.waited(); b.retry() != nil {
		t.Error("there is one left")
	}
}

func TestTokensAreThoseOfTheProviderOrFourBytesEach(t *testing.T) {
	var b activity
	b.written = 400
	b.used(&message.Usage{Output: 70})
	b.written = 400
	b.used(nil)
	if b.tokens != 170 || b.written != 0 {
		t.Errorf("%d tokens", b.tokens)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1k", 1234: "1.2k", 200_000: "200k", 1_500_000: "1.5M"} {
		if got := tokenCount(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestPlainModeSaysEveryFiveSecondsThatSomethingRuns(t *testing.T) {
	x := newStage(80)
	x.plain, x.status.model = true, "m"
	x.activity.begin(&task{began: x.at})
	x.activity.note(waitsForAnswer, x.at)
	for range 13 {
		x.at = x.at.Add(time.Second)
		x.tickPlain()
	}
	if got := strings.Join(x.pending, "|"); got != "... waiting for m 5 s|... waiting for m 10 s" {
		t.Errorf("%q", got)
	}
	x.shows(begun("1", "bash", `{"command":"make"}`), &agent.ToolClock{ID: "1", Runs: true})
	x.pending = nil
	x.at = x.at.Add(6 * time.Second)
	if x.tickPlain(); len(x.pending) != 1 || x.pending[0] != "... bash make 6 s" {
		t.Errorf("%q", x.pending)
	}
	defer newWork(x.screen).await()()
	x.at = x.at.Add(6 * time.Second)
	if x.tickPlain(); len(x.pending) != 1 {
		t.Errorf("while a question waits it says %q", x.pending)
	}
}

func TestTheRowSaysThatItWaitsForTheAnswer(t *testing.T) {
	x := newStage(80)
	w := newWork(x.screen)
	x.work(w)
	x.at = x.at.Add(time.Minute)
	row := func() string { return strings.TrimLeft(strings.Join(x.activity.rows(80, x.screen), "|"), spinners) }
	first := w.await()
	x.at = x.at.Add(3 * time.Second)
	second := w.await()
	x.at = x.at.Add(3 * time.Second)
	if got := row(); got != " waiting for your answer 6 s" {
		t.Errorf("%q", got)
	}
	first()
	if got := row(); got != " waiting for your answer 3 s" {
		t.Errorf("%q", got)
	}
	second()
	if got := row(); got != " working 1 min 6 s  Esc interrupts" {
		t.Errorf("%q", got)
	}
}

const spinners = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

func TestOnlyTheAgentsQuestionsAreItsWaits(t *testing.T) {
	for doing, want := range map[string]bool{"": true, "/model": false} {
		s := newStage(80).screen
		newWork(s).do(context.Background(), s, doing, func(ctx context.Context) {
			if isOfAgent(ctx) != want || s.activity.isOfAgent() != want {
				t.Errorf("%q: %v, %v", doing, isOfAgent(ctx), s.activity.isOfAgent())
			}
		})
	}
	if isOfAgent(context.Background()) {
		t.Error("a hook's timer is no work of the agent")
	}
}

func TestWhatWasInterruptedIsSaid(t *testing.T) {
	for _, c := range []struct {
		what    string
		columns int
		want    string
	}{
		{"bash sleep 60", 80, "interrupted (Esc) · bash sleep 60 · 14 s"},
		{"", 80, "interrupted (Esc) · 14 s"},
		{"bash " + strings.Repeat("x", 99), 50, "interrupted (Esc) · bash xxxxxxxxxxxxxxxx… · 14 s"},
	} {
		if got := interruptedText("Esc", c.what, 14*time.Second, c.columns); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTheInterruptNamesWhatRan(t *testing.T) {
	x := newStage(80)
	w := newWork(x.screen)
	x.work(w)
	x.shows(begun("1", "bash", `{"command":"sleep 60"}`), &agent.ToolClock{ID: "1", Runs: true}, text("half an ans"))
	x.at = x.at.Add(3 * time.Second)
	if !w.interrupt("Esc") {
		t.Error("nothing runs")
	}
	const said = "interrupted (Esc) · bash sleep 60 · 3 s"
	if got := strings.Join(x.notices.waitingRows(80, x.at), "|"); got != said || strings.Contains(strings.Join(x.pending, "|"), said) {
		t.Errorf("until its row is there %q is in the zone, and in the transcript %q", got, x.pending)
	}
	result := agent.Result{IsError: true, Interrupted: true}
	x.shows(&agent.ToolExecutionEnd{ID: "1", Result: result, Took: 3 * time.Second})
	if got, want := strings.Join(x.pending, "|"), "half an ans||• bash sleep 60 ✗ interrupted · 3 s|"+said; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(x.pending); !w.interrupt("Esc") || len(x.pending) != n || len(x.notices.waiting) > 0 {
		t.Errorf("it is told twice: %q", x.pending)
	}
}

// work begins the work of the agent.
func (x *stage) work(*work) {
	x.activity.begin(&task{began: x.at, cancel: func() bool { return true }})
}

func TestAHookHidesThatTheAgentWorksAndNothingThatAUserMustKnow(t *testing.T) {
	for name, c := range map[string]struct {
		doing string
		set   func(x *stage)
		shown bool
	}{
		"work":            {"", func(*stage) {}, false},
		"the model":       {"", func(x *stage) { x.activity.note(waitsForAnswer, x.at.Add(-time.Minute)) }, false},
		"a command":       {"compacting", func(*stage) {}, true},
		"a hook":          {"", func(x *stage) { x.activity.hook = func() string { return "gate" } }, true},
		"a question":      {"", func(x *stage) { x.activity.asked = append(x.activity.asked, &x.at) }, true},
		"an interruption": {"", func(x *stage) { x.activity.tasks[0].cancelled = true }, true},
	} {
		x := newStage(80)
		p := &user{screen: x.screen}
		x.activity.begin(&task{doing: c.doing, began: x.at})
		x.at = x.at.Add(2 * time.Second)
		c.set(x)
		if p.HideWorking(true); (len(x.activity.rows(80, x.screen)) > 0) != c.shown {
			t.Errorf("%s: %q", name, x.activity.rows(80, x.screen))
		}
		if p.HideWorking(false); len(x.activity.rows(80, x.screen)) == 0 {
			t.Errorf("%s is not shown again", name)
		}
	}
}
