package agent

import "context"

// Origin is what lies behind a message, and so behind the work that it makes. It
// decides whether that counts as work that hooks give themselves; see brake.
type Origin struct {
	Kind   OriginKind
	Hook   string // that sent the message; "" for none
	Source string // what brought it from outside, such as "http.listen on port 8080"
}

// OriginKind is who has a say in a message.
type OriginKind uint8

const (
	// FromPerson: somebody typed it, or the command that sent it, or runs the
	// program for it.
	FromPerson OriginKind = iota
	// FromHook: a hook sent it of itself, when it heard of an event or at a time.
	FromHook
	// FromOutside: a hook passes on what it listens to.
	FromOutside
)

type originKey struct{}

// WithOrigin marks what happens in ctx as caused by o.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf is the origin that ctx is marked with; ok is false if there is none.
func OriginOf(ctx context.Context) (o Origin, ok bool) {
	o, ok = ctx.Value(originKey{}).(Origin)
	return o, ok
}

// CommandContext is the context in which p, which is a command, runs. What a
// command sends that a person typed has that person's say. One that a hook sent
// is the hook's own, whatever made it send that: a command may send itself.
func (a *Agent) CommandContext(ctx context.Context, p Prompt) context.Context {
	if p.Origin.Hook != "" {
		return WithOrigin(ctx, Origin{Kind: FromHook, Hook: p.Origin.Hook})
	}
	a.HeardFrom(p.Origin)
	return WithOrigin(ctx, p.Origin)
}
