package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// At the limit of what a hook may add (see [brake]) only a user can allow more. The program
// asks, in its own words. In a terminal they may let the hook go on until they interrupt. A
// client may answer without asking anybody, so it is offered less: as many more, three times
// for each of its prompts, and an answer that comes at once, as nobody reads, is a no.

const (
	mostOffers   = 3                      // of a client, for each of its prompts
	offerTime    = time.Minute            // for its answer
	readingSpeed = 400 * time.Millisecond // an answer that comes sooner was given by a program
)

// AboutContinuations is the [DialogOptions.About] of the questions whether a hook may go on.
const AboutContinuations = "continuations"

// What the user answers where a hook has added as many requests as it may, as the event
// continuation_limit has it.
const (
	ContinueStop = "stop"
	ContinueMore = "more"              // as many as it had
	ContinueOn   = "until_interrupted" // until they interrupt, give a prompt or go to another session
)

// ContinuationLimit comes when a hook has added as many requests as it may and wants one more.
type ContinuationLimit struct {
	Hook        string
	Used, Limit int
	Answer      string // stop more until_interrupted
}

// Kind is KindContinuationLimit.
func (*ContinuationLimit) Kind() Kind { return KindContinuationLimit }

// continuations counts the requests that hooks add, and asks the user where one has added as
// many as it may. It may be used by any goroutine.
type continuations struct {
	inbox   *Inbox
	events  *listeners
	isChild bool
	ui      atomic.Pointer[UI]
}

// addRequest counts a model request that o causes. If a hook has added as many as it may, and
// the user does not allow more, the error is a *[LimitError], and the messages of the hook that
// wait are dropped.
func (c *continuations) addRequest(ctx context.Context, o Origin) error {
	for {
		q, stopped, ok := c.inbox.addRequest(o)
		if ok {
			return nil
		}
		answer := ContinueStop
		if !stopped && q.more > 0 {
			answer = c.ask(ctx, o, q)
		}
		if ctx.Err() != nil {
			return ErrAborted
		}
		switch answer {
		case ContinueMore:
			c.inbox.brake.allow(o, q.more)
		case ContinueOn:
			c.inbox.brake.allow(o, unlimited)
			c.events.notifyf(ctx, LevelInfo, "%s may go on until you interrupt, send a prompt or go to another session", hookName(o.Hook))
		}
		var err error
		if answer == ContinueStop {
			err = c.inbox.stop(o, q)
		}
		c.events.emitAfter(ctx, KindContinuationLimit, func() Event { return &ContinuationLimit{o.Hook, q.used, q.limit, answer} })
		if err != nil {
			return err
		}
	}
}

// ask asks the user whether the hook of o, which has added as many requests as it may, goes on.
func (c *continuations) ask(ctx context.Context, o Origin, q quota) (answer string) {
	who := "hooks have"
	if q.whose != sharedLimit {
		who = "it has"
	}
	title := fmt.Sprintf("%s wants the model asked once more, and %s added %d requests since you said something.", hookName(o.Hook), who, q.used)
	answer, _ = c.choose(ctx, title, []Choice{
		{Value: ContinueStop, Label: "Stop"},
		{Value: ContinueMore, Label: fmt.Sprintf("%d more", q.more)},
		{Value: ContinueOn, Label: "Until I interrupt", Description: "or send a prompt, or go to another session"},
	})
	return cmp.Or(answer, ContinueStop)
}

// allow is [Agent.AllowContinuations].
func (c *continuations) allow(ctx context.Context, o Origin, n int) error {
	if q := c.inbox.quotaOf(o); q.limit-q.used >= n && q.whose != sharedLimit {
		return nil
	}
	answer, err := c.choose(ctx, fmt.Sprintf("May %s have the model asked up to %d times of itself?", hookName(o.Hook), n), []Choice{
		{Value: ContinueStop, Label: "No"}, {Value: ContinueMore, Label: "Yes"},
	})
	switch {
	case err != nil:
		return err
	case answer != ContinueMore:
		return errors.New("the user does not want it")
	}
	c.inbox.brake.allow(o, n)
	return nil
}

// choose lets the user choose among choices, of which the first is the one that changes nothing:
// it counts where there is no other answer. The error says why nobody was asked. A client is
// not offered what has no number.
func (c *continuations) choose(ctx context.Context, title string, choices []Choice) (value string, err error) {
	ui := c.ui.Load()
	switch {
	case c.isChild:
		return "", errors.New("another pi has started this one, so nobody is asked")
	case ui == nil || !(*ui).HasUI():
		return "", errors.New("nobody is there to ask")
	case HasUser(*ui):
		return chosen((*ui).Select(ctx, title, choices, DialogOptions{About: AboutContinuations}))
	case !c.inbox.brake.offer():
		return "", fmt.Errorf("the client was asked %d times since its last prompt", mostOffers)
	}
	asking, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	asked := time.Now()
	value, err = chosen((*ui).Select(asking, title, choices[:2], DialogOptions{About: AboutContinuations, TimeoutMS: int(offerTime / time.Millisecond)}))
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case time.Since(asked) < readingSpeed:
		return "", errors.New("the client answered sooner than anybody can read, which is a no")
	case err != nil: // its time is up
		return "", nil
	}
	return value, nil
}

// chosen is the value of a Select; "" for no answer.
func chosen(values []string, ok bool, err error) (string, error) {
	if !ok || len(values) != 1 {
		return "", err
	}
	return values[0], err
}
