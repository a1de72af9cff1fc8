package agent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pi/agent/llm"
	"pi/session/message"
)

// spaced is an answer whose deltas come with some time between them, and that
// says nothing more after the last unless that is a stop.
func spaced(every time.Duration, ds ...llm.Delta) reply {
	return func(ctx context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		for _, d := range ds {
			select {
			case <-time.After(every):
			case <-ctx.Done():
				yield(llm.Delta{}, context.Cause(ctx))
				return
			}
			if !yield(d, nil) || d.Kind == llm.DeltaStop {
				return
			}
		}
		<-ctx.Done()
		yield(llm.Delta{}, ctx.Err())
	}
}

const idle = 2 * time.Minute

// A server may be silent, or say for ever that it is alive, in many ways, and never answer.
func TestAServerThatDoesNotAnswerIsCutAndAskedAgain(t *testing.T) {
	const quiet = 10 * time.Minute
	silent := llm.Patience{Idle: idle}
	alive := llm.Patience{Idle: idle, Quiet: quiet}
	ping, usage := llm.Delta{Kind: llm.DeltaPing}, llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 1}}
	forever := func(ds ...llm.Delta) []llm.Delta { return slices.Repeat(ds, 100) }
	words := []llm.Delta{ping, ping, ping, ping, text("a"), ping, ping, {Kind: llm.DeltaToolCall, Text: " "}, ping}
	for _, c := range []struct {
		name     string
		patience llm.Patience
		reply    reply
		cutAt    time.Duration // 0: never
		answer   string        // of one that is not cut
	}{
		{"silent from the beginning", silent, spaced(0), idle, ""},
		{"silent in the middle", silent, spaced(time.Second, text("half")), idle + time.Second, ""},
		{"silent after a ping", silent, spaced(100*time.Second, ping, ping, ping), 300*time.Second + idle, ""},
		{"slow, but alive", silent, spaced(idle-1, text("a"), ping, text("b"), ping, stop(message.StopEnd)), 0, "ab"},
		{"one moment too slow", silent, spaced(idle+1, text("a"), stop(message.StopEnd)), idle, ""},
		{"pings", alive, spaced(time.Minute, forever(ping)...), quiet, ""},
		{"counts", alive, spaced(time.Minute, forever(usage)...), quiet, ""},
		{"empty pieces", alive, spaced(time.Minute, forever(llm.Delta{Kind: llm.DeltaThinking}, text(""))...), quiet, ""},
		{"pings behind a word", alive, spaced(time.Minute, append([]llm.Delta{ping, text("half")}, forever(ping)...)...), 2*time.Minute + quiet, ""},
		{"words among pings", alive, spaced(time.Minute, append(slices.Repeat(words, 3), stop(message.StopEnd))...), 0, "a a a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &retries{}
				settings := Settings{Patience: c.patience, Retry: RetrySettings{MaxAttempts: 1}}
				r := newHarness(t, Options{Settings: settings, Listeners: []Listener{l}}, c.reply, say("there"))
				began := time.Now()
				r.prompt("go")
				took := time.Since(began)
				if c.cutAt == 0 {
					if talk := r.talk(); len(l.starts) > 0 || !strings.HasPrefix(talk, "user: go\nassistant: "+c.answer) {
						t.Errorf("%+v, %s", l.starts, talk)
					}
					return
				}
				why := "acme: no sign of life for 2m (stream_idle_timeout)"
				if c.patience == alive {
					why = "acme: nothing but signs of life for 10m (stream_quiet_timeout)"
				}
				r.wantTalk("user: go", "assistant: there")
				if took != c.cutAt || len(l.starts) != 1 || l.starts[0].ErrorMessage != why {
					t.Errorf("after %s: %+v", took, l.starts)
				}
			})
		})
	}
}

func TestSilenceIsAnErrorThatNamesTheSetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, Options{Settings: Settings{Patience: llm.Patience{Idle: idle}}}, spaced(0, text("half")))
		var failed *llm.ProviderError
		if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &failed) || !failed.Retryable || !strings.Contains(failed.NextStep, "stream_idle_timeout") {
			t.Errorf("%#v", err)
		}
		r.wantTalk("user: go", "assistant: half [error: acme: no sign of life for 2m (stream_idle_timeout)]")
		if _, err := r.Complete(t.Context(), Completion{Messages: r.Session().Context()}); err == nil {
			t.Error("the script has no second answer")
		}
	})
}

func TestWithoutALimitSilenceIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, Options{}, spaced(24*time.Hour, text("at last"), stop(message.StopEnd)))
		r.prompt("go")
		r.wantTalk("user: go", "assistant: at last")
	})
}

func TestCallsOutsideOfTheConversationMayNotBeSilentEither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, Options{Settings: Settings{Patience: llm.Patience{Idle: idle}}}, say("hi"), spaced(0))
		r.prompt("go")
		began := time.Now()
		if _, err := r.Complete(t.Context(), Completion{Messages: r.Session().Context()}); err == nil || !strings.Contains(err.Error(), "stream_idle_timeout") || time.Since(began) != idle {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// What listeners take their time for is not the server's silence: neither before
// the request is sent, nor with its answer.
func TestTheTimeOfListenersIsNotTheServers(t *testing.T) {
	slow := func() { time.Sleep(10 * idle) }
	patience := []Listener{
		on(func(*BeforeProviderRequest) { slow() }), on(func(*BeforeProviderHeaders) { slow() }),
		on(func(*AfterProviderResponse) { slow() }), on(func(*MessageStart) { slow() }), on(func(*MessageUpdate) { slow() }),
	}
	wire := func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
		_, err := r.Body(ctx, []byte("{}"))
		err = errors.Join(err, r.Header(ctx, http.Header{}))
		r.Response(ctx, 200, nil)
		if err != nil || ctx.Err() != nil {
			yield(llm.Delta{}, errors.Join(err, ctx.Err()))
			return
		}
		spaced(idle-1, text("a"), text("b"), stop(message.StopEnd))(ctx, r, yield)
	}
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, Options{Settings: Settings{Patience: llm.Patience{Idle: idle, Quiet: 3 * idle}}, Listeners: patience}, wire)
		r.prompt("go")
		r.wantTalk("user: go", "assistant: ab")
	})
}

// Where nobody looks at the answer's status, it is a sign of life all the same.
func TestTheStatusOfAnAnswerIsASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, Options{Settings: Settings{Patience: llm.Patience{Idle: idle}}}, func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
			time.Sleep(idle - 1)
			r.Response(ctx, 200, nil)
			spaced(idle-1, text("a"), stop(message.StopEnd))(ctx, r, yield)
		})
		r.prompt("go")
		r.wantTalk("user: go", "assistant: a")
	})
}
