package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestAServerMayAskTheUser(t *testing.T) {
	for _, kind := range []string{"good", "newer"} {
		for _, test := range []struct {
			name  string
			tool  string
			reply Reply
			err   error
			want  string
		}{
			{"answered", "ask", Reply{Accept, map[string]any{"name": "Ada", "age": 36}}, nil, `accept {"age":36,"name":"Ada"}`},
			{"declined", "ask", Reply{Action: Decline}, nil, "decline null"},
			{"left", "ask", Reply{}, nil, "cancel null\n[the server asked the user: \"Who are you?\" (name, age, colour, sure); there was no answer]"},
			{"failed", "ask", Reply{}, errors.New("the terminal is gone"), "cancel null\n[the server asked"},
			{"a page", "ask_page", Reply{Action: Accept}, nil, "accept null"},
			{"a page left", "ask_page", Reply{Action: Cancel}, nil, "cancel null\n[the server asked the user: \"Open it\" (to open https://example.com/open); there was no answer]"},
		} {
			t.Run(kind+" "+test.name, func(t *testing.T) {
				var got Question
				l := open(t, Options{Entries: []Entry{entry("s", kind)}, Elicit: func(_ context.Context, q Question) (Reply, error) {
					got = q
					return test.reply, test.err
				}})
				if text := l.ask(test.tool, `{}`); !strings.HasPrefix(text, test.want) {
					t.Errorf("got %q, want %q", text, test.want)
				}
				if got.Server != "s" || test.tool == "ask" && (len(got.Fields) != 4 || got.Fields[0].Name != "name" || !got.Fields[0].Required || got.Fields[0].Title != "Your name" || got.Fields[2].Choices[1].Label != "Green") {
					t.Errorf("asked %+v", got)
				}
			})
		}
	}
}

func TestWithoutAUserAQuestionIsCancelledAndTold(t *testing.T) {
	l := one(t, "good")
	if got := l.ask("ask", `{}`); got != "cancel null\n[the server asked the user: \"Who are you?\" (name, age, colour, sure); nobody was there to answer]" {
		t.Errorf("got %q", got)
	}
}

func TestTheTimeOfACallStandsWhileTheUserIsAsked(t *testing.T) {
	l := open(t, Options{Entries: []Entry{entry("s", "good")}, Elicit: func(ctx context.Context, _ Question) (Reply, error) {
		return Reply{Action: Decline}, ctx.Err()
	}})
	_ = l.ask("echo", `{"text":"a"}`)
	s := l.servers()[0]
	s.mu.Lock()
	c := s.conn
	s.mu.Unlock()
	p := &pending{ctx: t.Context(), clock: newCallClock(1<<40, func() {})}
	token := c.calls.begin(p)
	defer c.calls.end(token)
	standing := -1
	l.o.Elicit = nil
	a := newAsks(c, "/", func(context.Context, Question) (Reply, error) {
		p.clock.mu.Lock()
		defer p.clock.mu.Unlock()
		standing = p.clock.stands
		return Reply{Action: Decline}, nil
	})
	q := pageQuestion("https://example.com")
	if r := a.answer(t.Context(), q); r.Action != "decline" || standing != 1 || p.clock.stands != 0 {
		t.Errorf("%s, stood for %d, stands for %d", r.Action, standing, p.clock.stands)
	}
	p.clock.end()
}

func TestAServerThatWantsAPageOpenedFirstIsCalledAgain(t *testing.T) {
	for n, want := range map[string]string{
		`{"n":0}`: "opened 0 times",
		`{"n":3}`: "opened 3 times",
		`{"n":4}`: "error: server s: it asked for input 3 times, and once more",
	} {
		l := open(t, Options{Entries: []Entry{entry("s", "good")}, Elicit: func(context.Context, Question) (Reply, error) { return Reply{Action: Accept}, nil }})
		if got := l.ask("open_first", n); got != want {
			t.Errorf("%s: %q, want %q", n, got, want)
		}
	}
	l := open(t, Options{Entries: []Entry{entry("s", "good")}, Elicit: func(context.Context, Question) (Reply, error) { return Reply{Action: Decline}, nil }})
	if got := l.ask("open_first", `{"n":1}`); got != "error: server s: it wants you to open a page first: https://example.com/first" {
		t.Errorf("got %q", got)
	}
}

// Who has agreed to open a page is not done with it: the call is made again when the server says so,
// or when they do.
func TestACallWaitsUntilItsPageWasSeen(t *testing.T) {
	for _, says := range []string{"the server", "the user"} {
		var l *lab
		var asked []string
		l = open(t, Options{Entries: []Entry{entry("s", "pages")}, Elicit: func(ctx context.Context, q Question) (Reply, error) {
			asked = append(asked, q.Message)
			if q.URL != "" {
				return Reply{Action: Accept}, nil
			}
			if got := l.ask("finish", `{}`); got != "finished" {
				t.Errorf("got %q", got)
			}
			if says == "the server" {
				<-ctx.Done()
			}
			return Reply{Action: Accept}, ctx.Err()
		}})
		if got := l.ask("open_and_finish", `{}`); got != "seen" {
			t.Errorf("%s: got %q", says, got)
		}
		if want := []string{"Open it", "Are you done with the page? It goes on then: https://example.com/page"}; !slices.Equal(asked, want) {
			t.Errorf("%s: asked %q", says, asked)
		}
	}
	l := open(t, Options{Entries: []Entry{entry("s", "pages")}, Elicit: func(_ context.Context, q Question) (Reply, error) {
		if q.URL != "" {
			return Reply{Action: Accept}, nil
		}
		return Reply{Action: Decline}, nil
	}})
	if got := l.ask("open_and_finish", `{}`); got != "error: server s: it wants you to open a page first: https://example.com/page" {
		t.Errorf("given up: %q", got)
	}
}

func TestAPageThatIsDoneIsNotWaitedFor(t *testing.T) {
	a := &asks{}
	a.complete("early") // the server was faster than the question
	a.complete("early")
	a.complete("")
	other := a.page("other")
	if !isClosed(a.page("early")) || isClosed(a.page("other")) || a.page("") != nil || a.page("other") != other {
		t.Errorf("%v", a.pages)
	}
	for i := range 2 * maxKnownPages {
		a.complete(fmt.Sprint(i))
	}
	if len(a.pages) != maxKnownPages {
		t.Errorf("%d pages are remembered", len(a.pages))
	}
}

func TestQuestionsInALoopEnd(t *testing.T) {
	var asked, running, most atomic.Int64
	l := open(t, Options{Entries: []Entry{entry("s", "floods-questions")}, Elicit: func(context.Context, Question) (Reply, error) {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		asked.Add(1)
		return Reply{Action: Decline}, nil
	}})
	began := time.Now()
	if got := l.ask("echo", `{}`); !strings.HasPrefix(got, "flooded") {
		t.Errorf("got %q", got)
	}
	may := 201 + int64(50*time.Since(began).Seconds()) // however long that takes on a busy machine
	if asked.Load() == 0 || asked.Load() > may || most.Load() != 1 {
		t.Errorf("asked %d times, %d at once, and at most %d", asked.Load(), most.Load(), may)
	}
	l = open(t, Options{Entries: []Entry{entry("s", "needs-input")}, Elicit: func(context.Context, Question) (Reply, error) { return Reply{Action: Accept}, nil }})
	if got := l.ask("echo", `{}`); got != "error: server s: it asked for input 3 times, and once more" {
		t.Errorf("got %q", got)
	}
}

func TestAnAnswerIsCheckedAgainstItsField(t *testing.T) {
	for _, test := range []struct {
		schema string
		value  any
		want   any
		bad    string
	}{
		{`{"type":"integer","minimum":1}`, "36", 36.0, ""},
		{`{"type":"integer","minimum":1}`, "0", nil, "at least 1"},
		{`{"type":"integer"}`, "x", nil, "expected integer"},
		{`{"type":"boolean"}`, "true", true, ""},
		{`{"type":"string","enum":["a","b"]}`, "c", nil, `expected one of ["a","b"]`},
		{`{"type":"array","items":{"type":"string"}}`, []string{"a"}, nil, ""},
	} {
		f, err := newField("f", []byte(test.schema))
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Check(test.value)
		switch {
		case test.bad != "" && (err == nil || !strings.Contains(err.Error(), test.bad)):
			t.Errorf("%s %v: %v", test.schema, test.value, err)
		case test.bad == "" && err != nil, test.want != nil && got != test.want:
			t.Errorf("%s %v: %v, %v", test.schema, test.value, got, err)
		}
	}
}

func TestAFormThatCannotBeAskedIsNone(t *testing.T) {
	many := `"a"` + strings.Repeat(`,"a"`, maxChoices)
	for _, bad := range []struct{ name, schema string }{
		{"f", `{"type":"object"}`}, {"f", `"x"`}, {"f", `{"type":7}`},
		{"f", `{"type":"string","enum":[` + many + `]}`},
	} {
		if f, err := newField(bad.name, []byte(bad.schema)); err == nil {
			t.Errorf("%q %.100s is a field: %+v", bad.name, bad.schema, f)
		}
	}
	f, err := newField("f", []byte(`{"type":"string","oneOf":[{"const":"a\u200b"},{"const":"b","title":"B"}]}`))
	if want := []FieldChoice{{"a\u200b", "a"}, {"b", "B"}}; err != nil || !slices.Equal(f.Choices, want) {
		t.Errorf("%+v, %v", f.Choices, err)
	}
}

// A question that belongs to no call would come while the user types something else.
func TestAServerAsksOnlyWhileItWorksOnACall(t *testing.T) {
	l := open(t, Options{Entries: []Entry{entry("s", "asks-late")}, Elicit: func(ctx context.Context, _ Question) (Reply, error) {
		<-ctx.Done() // nobody answers; at once, if the answer to the call was not yet dealt with when it came
		return Reply{}, ctx.Err()
	}})
	if got := l.ask("echo", `{}`); got != "answered" {
		t.Fatal(got)
	}
	eventually(t, "the server is told that nobody answers", func() bool { return slices.Contains(l.List()[0].Stderr, "told") })
}

func TestAQuestionEndsWithTheCallsThatItMayBelongTo(t *testing.T) {
	for _, calls := range []int{1, 2} {
		c := &connection{}
		c.ctx = t.Context()
		a := newAsks(c, "/", nil)
		var all []*pending
		var ends []context.CancelFunc
		for range calls {
			ctx, end := context.WithCancel(t.Context())
			all, ends = append(all, &pending{ctx: ctx}), append(ends, end)
		}
		ctx, stop := a.context(t.Context(), all)
		for i, end := range ends {
			if ctx.Err() != nil {
				t.Errorf("of %d calls %d have ended, and the question has", calls, i)
			}
			end()
		}
		<-ctx.Done()
		stop()
	}
}
