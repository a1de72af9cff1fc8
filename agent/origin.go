package agent

import (
	"cmp"
	"context"
)

// Origin is what lies behind a message, and so behind the work that it makes. It
// decides whether that counts as work that hooks give themselves; see [brake].
type Origin struct {
	Kind   OriginKind
	Hook   string // that sent the message; "" for none
	Path   string // of that hook, which tells hooks of one name apart
	Source string // what brought it from outside, such as "http.listen on port 8080"
	Limit  *int   // of the requests that the hook adds, if the user's settings have one for it alone
	Timer  bool   // a timer sent it, whoever started that
}

// key tells the hook from others.
func (o Origin) key() string { return cmp.Or(o.Path, o.Hook) }

// isTyped reports whether a user, or the program of one, gave a message itself.
func (o Origin) isTyped() bool { return o.Kind == FromUser && o.Hook == "" }

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
