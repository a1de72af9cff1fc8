package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// chooser answers each Select with the next of its values, after a time.
type chooser struct {
	NoUI
	client  bool
	after   time.Duration
	answers []string
	asked   [][]string // the choices, behind the title
	always  string     // the answer behind those
}

func (*chooser) HasUI() bool      { return true }
func (c *chooser) IsClient() bool { return c.client }

func (c *chooser) Select(ctx context.Context, title string, choices []Choice, o DialogOptions) ([]string, bool, error) {
	asked := []string{title}
	for _, choice := range choices {
		asked = append(asked, choice.Text())
	}
	c.asked = append(c.asked, asked)
	select {
	case <-time.After(c.after):
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if len(c.answers) == 0 {
		return []string{c.always}, c.always != "", nil
	}
	answer := c.answers[0]
	c.answers = c.answers[1:]
	return []string{answer}, answer != "", nil
}

// limitRig is an agent with limits of 2, whose listener to turn_end always goes on, as a hook
// with the name tests. It answers n requests.
func limitRig(t *testing.T, ui UI, n int, o Options) (r *harness, limits *[]string) {
	t.Helper()
	limits = &[]string{}
	o.Settings.MaxContinuations = 2
	o.Listeners = append(o.Listeners, goOnTimes(1000), on(func(e *ContinuationLimit) {
		*limits = append(*limits, e.Hook+" "+string(rune('0'+e.Used))+" of "+string(rune('0'+e.Limit))+": "+e.Answer)
	}))
	r = newHarness(t, o, scriptedAnswers(n)...)
	if ui != nil {
		r.AskAt(ui)
	}
	return r, limits
}

func wantLimit(t *testing.T, err error, want string) {
	t.Helper()
	var limited *LimitError
	if !errors.As(err, &limited) || limited.Limit != "max_continuations" || err.Error() != want {
		t.Errorf("it ended with %v, want %s", err, want)
	}
}

const stoppedTests = "stopped: hook tests wants the model asked once more, and hooks may add 2 requests until somebody says something (max_continuations)"

func TestTheUserIsAskedWhetherAHookGoesOn(t *testing.T) {
	ui := &chooser{answers: []string{ContinueMore, ContinueMore, ContinueStop}}
	r, limits := limitRig(t, ui, 20, Options{})
	err := r.Prompt(t.Context(), Prompt{Text: "go"})
	wantLimit(t, err, "stopped: hook tests wants the model asked once more, and it may add 6 requests until somebody says something (what it was allowed)")
	if n := len(r.model.requests); n != 7 {
		t.Errorf("%d requests, want one and three times two", n)
	}
	if want := []string{"tests 2 of 2: more", "tests 4 of 4: more", "tests 6 of 6: stop"}; !slices.Equal(*limits, want) {
		t.Errorf("told %q, want %q", *limits, want)
	}
	want := [][]string{
		{"hook tests wants the model asked once more, and hooks have added 2 requests since you said something.", "Stop", "2 more", "Until I interrupt"},
		{"hook tests wants the model asked once more, and it has added 4 requests since you said something.", "Stop", "2 more", "Until I interrupt"},
		{"hook tests wants the model asked once more, and it has added 6 requests since you said something.", "Stop", "2 more", "Until I interrupt"},
	}
	if !slices.EqualFunc(ui.asked, want, slices.Equal[[]string]) {
		t.Errorf("asked %q", ui.asked)
	}
	if err := r.Submit(t.Context(), Prompt{Text: "x", Origin: Origin{Kind: FromHook, Hook: "tests"}}); !heldBack(err) {
		t.Errorf("what a hook sends that was stopped: %v", err)
	}
	if err := r.Submit(t.Context(), byHook("of another")); err != nil {
		t.Errorf("what another hook sends: %v", err)
	}
}

func TestNobodyIsAskedWhetherAHookGoesOnWhere(t *testing.T) {
	for name, c := range map[string]struct {
		ui UI
		o  Options
	}{
		"there is no front end":                 {},
		"nobody is there":                       {ui: NoUI{}},
		"another pi has started this one":       {ui: &chooser{always: ContinueMore}, o: Options{IsChild: true}},
		"that is a client of a child's program": {ui: &chooser{client: true, after: time.Second, always: ContinueMore}, o: Options{IsChild: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, limits := limitRig(t, c.ui, 9, c.o)
				wantLimit(t, r.Prompt(t.Context(), Prompt{Text: "go"}), stoppedTests)
				if want := []string{"tests 2 of 2: stop"}; !slices.Equal(*limits, want) {
					t.Errorf("told %q, want %q", *limits, want)
				}
				if ui, ok := c.ui.(*chooser); ok && len(ui.asked) > 0 {
					t.Errorf("asked %q", ui.asked)
				}
				if err := r.AllowContinuations(t.Context(), byHook("").Origin, 5); err == nil {
					t.Error("it was allowed")
				}
			})
		})
	}
}

// With a limit of none the user has decided, and is not asked each time.
func TestALimitOfNoneIsNoQuestion(t *testing.T) {
	ui := &chooser{always: ContinueMore}
	r, _ := limitRig(t, ui, 9, Options{})
	r.SetSettings(Settings{})
	wantLimit(t, r.Prompt(t.Context(), Prompt{Text: "go"}), strings.Replace(stoppedTests, "2", "0", 1))
	if len(ui.asked) > 0 {
		t.Errorf("asked %q", ui.asked)
	}
}

func TestAClientIsOfferedLess(t *testing.T) {
	for name, c := range map[string]struct {
		ui       *chooser
		requests int // that one prompt makes
		asked    int
	}{
		"one that says yes is asked three times": {&chooser{after: 400 * time.Millisecond, always: ContinueMore}, 1 + 2 + 3*2, 3},
		"one that answers at once says no":       {&chooser{after: 399 * time.Millisecond, always: ContinueMore}, 1 + 2, 1},
		"one that answers late says no":          {&chooser{after: time.Hour, always: ContinueMore}, 1 + 2, 1},
		"one that answers in time says yes":      {&chooser{after: 59 * time.Second, answers: []string{ContinueMore, ""}}, 1 + 2 + 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.ui.client = true
				r, _ := limitRig(t, c.ui, 50, Options{})
				answers := slices.Clone(c.ui.answers)
				for range 2 { // the offers are counted for each prompt
					c.ui.asked, c.ui.answers = nil, slices.Clone(answers)
					before := len(r.model.requests)
					var limited *LimitError
					if err := r.Prompt(t.Context(), Prompt{Text: "go", Source: "rpc"}); !errors.As(err, &limited) {
						t.Fatal(err)
					}
					if n := len(r.model.requests) - before; n != c.requests || len(c.ui.asked) != c.asked {
						t.Errorf("%d requests, want %d; asked %q", n, c.requests, c.ui.asked)
					}
					if got := c.ui.asked[0][1:]; !slices.Equal(got, []string{"Stop", "2 more"}) {
						t.Errorf("offered %q", got)
					}
				}
			})
		})
	}
}

// ofTests is what the hook of limitRig sends.
func ofTests() Origin { return Origin{Kind: FromHook, Hook: "tests"} }

func TestUntilIInterruptEndsWith(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(r *harness)
		later int // requests until the next question
	}{
		"an interrupt": {func(r *harness) { r.Inbox().EndAllowed() }, 0},
		"a prompt":     {func(r *harness) { r.prompt("more") }, 2},
		"a prompt while the agent works": {func(r *harness) {
			r.inbox.enter(inRun)
			r.inbox.enqueue(Prompt{Text: "x"}, Steer)
			r.inbox.enter(atRest)
		}, 2},
		"another session":                             {func(r *harness) { r.inbox.forget(func() {}) }, 0},
		"not with a command":                          {func(r *harness) { r.CommandContext(r.t.Context(), Prompt{Text: "/x"}) }, -1},
		"not with an answer to a hook":                {func(r *harness) { r.ResetBrake(Origin{Kind: FromUser, Hook: "tests"}) }, -1},
		"not with what comes from outside":            {func(r *harness) { r.ResetBrake(Origin{Kind: FromOutside, Hook: "tests"}) }, -1},
		"not with what a command of the user's sends": {func(r *harness) { _ = r.Submit(r.t.Context(), Prompt{Text: "x", Origin: Origin{Hook: "tests"}}) }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			ui := &chooser{answers: []string{ContinueOn}}
			r := newHarness(t, Options{Settings: Settings{MaxContinuations: 2}}, scriptedAnswers(3)...)
			r.AskAt(ui)
			add := func() (n int) {
				for n < 50 && r.continuations.addRequest(t.Context(), ofTests()) == nil {
					n++
				}
				return n
			}
			if n := add(); n != 50 || len(ui.asked) != 1 {
				t.Fatalf("%d requests, asked %q", n, ui.asked)
			}
			c.do(r)
			c.do(r) // once more is no different
			want := c.later
			if want < 0 {
				want = 50
			}
			if n := add(); n != want || len(ui.asked) == 1 != (c.later < 0) {
				t.Errorf("%d requests, want %d; asked %q", n, want, ui.asked)
			}
		})
	}
}

// What the user allows a hook lifts no other limit.
func TestAHookThatGoesOnStopsAtTheOtherLimits(t *testing.T) {
	r, _ := limitRig(t, &chooser{always: ContinueOn}, 50, Options{Settings: Settings{MaxTurns: 5}})
	var limited *LimitError
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &limited) || limited.Limit != "max_turns" || len(r.model.requests) != 5 {
		t.Errorf("it ended with %v after %d requests", err, len(r.model.requests))
	}
}

// An interrupt of the run is one of the hook that may go on until then.
func TestAnInterruptedRunEndsWhatWasAllowed(t *testing.T) {
	ui := &chooser{answers: []string{ContinueOn}}
	r, _ := limitRig(t, ui, 50, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	turns := 0
	r.Listen(on(func(*TurnEnd) {
		if turns++; turns == 20 {
			cancel()
		}
	}))
	if err := r.Prompt(ctx, Prompt{Text: "go"}); !errors.Is(err, ErrAborted) || len(ui.asked) != 1 {
		t.Fatalf("%v, asked %q", err, ui.asked)
	}
	wantLimit(t, r.continuations.addRequest(t.Context(), ofTests()), stoppedTests)
	if title := ui.asked[1][0]; !strings.Contains(title, "hooks have added 19 requests") && !strings.Contains(title, "hooks have added 20 requests") {
		t.Errorf("asked %q", title)
	}
}

// An interrupt while the question is open ends the run as ever.
func TestAnInterruptIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, limits := limitRig(t, &chooser{after: time.Hour, always: ContinueMore}, 9, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Prompt(ctx, Prompt{Text: "go"}); !errors.Is(err, ErrAborted) || len(*limits) > 0 {
			t.Errorf("%v, told %q", err, *limits)
		}
	})
}

func TestAHookWithALimitOfItsOwnSharesNone(t *testing.T) {
	r := newHarness(t, Options{Settings: Settings{MaxContinuations: 2}})
	three, none := 3, 0
	hooks := map[string]Origin{
		"own":   {Kind: FromHook, Hook: "h", Path: "/user/h.lua", Limit: &three},
		"none":  {Kind: FromHook, Hook: "none", Path: "/user/none.lua", Limit: &none},
		"same":  {Kind: FromHook, Hook: "h", Path: "/project/h.lua"},
		"other": {Kind: FromHook, Hook: "other", Path: "/user/other.lua"},
	}
	add := func(name string) error { return r.continuations.addRequest(t.Context(), hooks[name]) }
	for _, name := range []string{"own", "same", "own", "other", "own"} {
		if err := add(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantLimit(t, add("same"), strings.ReplaceAll(stoppedTests, "tests", "h"))
	wantLimit(t, add("other"), strings.ReplaceAll(stoppedTests, "tests", "other"))
	wantLimit(t, add("own"), "stopped: hook h wants the model asked once more, and it may add 3 requests until somebody says something (its own max_continuations)")
	wantLimit(t, add("none"), "stopped: hook none wants the model asked once more, and it may add 0 requests until somebody says something (its own max_continuations)")
	for name, want := range map[string]string{
		"own":  "hook h has added 3 requests since somebody said something (its own max_continuations)",
		"same": "hooks have added 2 requests since somebody said something (max_continuations)",
	} {
		if err := r.Submit(t.Context(), Prompt{Text: "x", Origin: hooks[name]}); err == nil || err.Error() != want {
			t.Errorf("%s is told %v", name, err)
		}
	}
}

// The end of one hook leaves what another sends, whose count is its own.
func TestStoppingAHookDropsWhatItSentAndNoMore(t *testing.T) {
	ten := 10
	own := Origin{Kind: FromHook, Hook: "own", Path: "/own.lua", Limit: &ten}
	r := newHarness(t, Options{})
	for _, o := range []Origin{own, byHook("").Origin, byHook("").Origin} {
		if err := r.Submit(t.Context(), Prompt{Text: "of " + o.Hook, Origin: o}); err != nil {
			t.Fatal(err)
		}
	}
	err := r.continuations.addRequest(t.Context(), byHook("").Origin)
	if err == nil || !strings.HasSuffix(err.Error(), "; messages of hooks that waited are dropped: 2") || r.Pending() != 1 {
		t.Errorf("%v, and %d wait", err, r.Pending())
	}
}

func TestAHookMayAskBeforehand(t *testing.T) {
	ui := &chooser{}
	r := newHarness(t, Options{Settings: Settings{MaxContinuations: 2}})
	r.AskAt(ui)
	twenty := 20
	hook, allowed := Origin{Hook: "h", Path: "/h.lua"}, Origin{Hook: "k", Path: "/k.lua", Limit: &twenty}
	if err := r.AllowContinuations(t.Context(), allowed, 20); err != nil || len(ui.asked) > 0 {
		t.Errorf("what the settings allow: %v, asked %q", err, ui.asked)
	}
	for answer, want := range map[string]string{"": "the user does not want it", ContinueStop: "the user does not want it"} {
		ui.answers = []string{answer}
		if err := r.AllowContinuations(t.Context(), hook, 5); err == nil || err.Error() != want {
			t.Errorf("%q: %v", answer, err)
		}
	}
	ui.answers = []string{ContinueMore}
	if err := r.AllowContinuations(t.Context(), hook, 5); err != nil {
		t.Error(err)
	}
	if got, want := ui.asked[len(ui.asked)-1], []string{"May hook h have the model asked up to 5 times of itself?", "No", "Yes"}; !slices.Equal(got, want) {
		t.Errorf("asked %q", got)
	}
	asked, n := len(ui.asked), 0
	sends := Origin{Kind: FromHook, Hook: "h", Path: "/h.lua"}
	for r.continuations.addRequest(t.Context(), sends) == nil {
		n++
	}
	if n != 5 || len(ui.asked) != asked+1 || ui.asked[asked][2] != "5 more" {
		t.Errorf("%d requests, asked %q", n, ui.asked[asked:])
	}
}

// A hook that hears itself gets no more than it was allowed.
func TestWhatComesFromOutsideGivesNothingAnew(t *testing.T) {
	r := newHarness(t, Options{Settings: Settings{MaxContinuations: 2}})
	r.inbox.brake.allow(ofTests(), 5)
	n := 0
	for n < 50 && r.continuations.addRequest(t.Context(), ofTests()) == nil {
		n++
		if err := r.Submit(t.Context(), Prompt{Text: "/x", Origin: Origin{Kind: FromOutside, Hook: "tests", Source: "port"}}); err != nil {
			t.Fatal(err)
		}
	}
	if n != 5 {
		t.Errorf("%d requests", n)
	}
}

// A timer that a command of the user started goes on with that, but a command that it sends
// begins no new count.
func TestACommandThatATimerSendsBeginsNoNewCount(t *testing.T) {
	for text, want := range map[string]bool{"/go": false, "a reminder": true} {
		r := newHarness(t, Options{Settings: Settings{MaxContinuations: 1}})
		if err := r.continuations.addRequest(t.Context(), ofTests()); err != nil {
			t.Fatal(err)
		}
		if err := r.Submit(t.Context(), Prompt{Text: text, Expand: true, Origin: Origin{Hook: "tests", Timer: true}}); err != nil {
			t.Fatal(err)
		}
		if err := r.continuations.addRequest(t.Context(), ofTests()); (err == nil) != want {
			t.Errorf("behind %q: %v", text, err)
		}
	}
}
