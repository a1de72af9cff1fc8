package agent

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Origin is what lies behind a message, and so behind the work that it makes. It
// decides whether that counts as work that hooks give themselves; see [brake].
type Origin struct {
	Kind   OriginKind
	Hook   string // that sent the message; "" for none
	Source string // what brought it from outside, such as "http.listen on port 8080"
}

// OriginKind is the kind of cause that a message has.
type OriginKind uint8

const (
	// FromUser: somebody typed it, or the command that sent it, or runs the
	// program for it.
	FromUser OriginKind = iota
	// FromHook: a hook sent it of itself, because of an event or a timer.
	FromHook
	// FromOutside: a hook passes on what it listens to.
	FromOutside
)

type originKey struct{}

// WithOrigin returns a context that says that what happens in it was caused by o.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

type sourceKey struct{}

// WithSource returns a context in which a command runs that came by source, as prompts
// name it.
func WithSource(ctx context.Context, source string) context.Context {
	return context.WithValue(ctx, sourceKey{}, source)
}

// SourceOf returns the source of the command that runs in ctx; "" if that is not known.
func SourceOf(ctx context.Context) string {
	source, _ := ctx.Value(sourceKey{}).(string)
	return source
}

// OriginOf returns the origin that WithOrigin put into ctx; ok is false if there is none.
func OriginOf(ctx context.Context) (o Origin, ok bool) {
	o, ok = ctx.Value(originKey{}).(Origin)
	return o, ok
}

// Hooks may send messages at any time, and a message may make the model work, which
// causes events for hooks: one that sends at the end of each run would keep the agent
// at work for ever. So the requests that hooks add of themselves are counted, whichever
// way they add them, until a message comes from a user or from something outside of
// the program that a hook listens to. As a hook may cause that as well (it may watch a
// file that the model writes), such messages are limited in number per minute.

// brake refuses the messages of hooks that would keep the agent at work. The zero value is
// ready; its user guards it.
type brake struct {
	added  int  // model requests that hooks added since the last reset
	pulled bool // they wanted one too many: all that they send is refused

	sources map[string]*source // by Hook and Source of an Origin
}

// source is one origin of messages from outside.
type source struct {
	sent   []time.Time // within the last sourceSpan
	paused time.Time   // when it was paused; zero: it is not
}

const (
	sourceLimit = 30 // messages of one source
	sourceSpan  = time.Minute
)

// HeldBackError is returned to a hook whose message is refused.
type HeldBackError struct{ Why string }

func (e *HeldBackError) Error() string { return e.Why }

// reset begins to count the requests of hooks from zero, because of a message from o. A
// message from a user also lifts the pauses of all sources.
func (b *brake) reset(o Origin) {
	b.added, b.pulled = 0, false
	if o.Kind == FromUser {
		b.sources = nil
	}
}

// admit decides whether a message from o may be sent; the error is a *[HeldBackError]. A
// message that does not come from a hook itself also resets the counts. notice, if it is
// not empty, is what the user is to be told of the refusal.
func (b *brake) admit(o Origin, limit int, now time.Time) (notice string, err error) {
	switch o.Kind {
	case FromHook:
		if b.pulled {
			return "", &HeldBackError{fmt.Sprintf("hooks have added %d requests since somebody said something (max_continuations)", limit)}
		}
		return "", nil
	case FromOutside:
		if notice, err = b.pace(o, now); err != nil {
			return notice, err
		}
	}
	b.reset(o)
	return "", nil
}

// pace counts the messages of a source outside of the program, and pauses for a minute one
// that sends too many. Only the refusal that begins a pause comes with a notice for the
// user.
func (b *brake) pace(o Origin, now time.Time) (notice string, err error) {
	if b.sources == nil {
		b.sources = map[string]*source{}
	}
	key := o.Hook + "\x00" + o.Source
	s := b.sources[key]
	if s == nil || !s.paused.IsZero() && now.Sub(s.paused) >= sourceSpan {
		s = &source{}
		b.sources[key] = s
	}
	s.sent = slices.DeleteFunc(s.sent, func(t time.Time) bool { return now.Sub(t) >= sourceSpan })
	if s.paused.IsZero() && len(s.sent) < sourceLimit {
		s.sent = append(s.sent, now)
		return "", nil
	}
	why := fmt.Sprintf("%s sent %d messages within a minute and is paused until somebody says something, or for a minute", o.Source, sourceLimit)
	if s.paused.IsZero() {
		s.paused, notice = now, hookName(o.Hook)+": "+why
	}
	return notice, &HeldBackError{why}
}
