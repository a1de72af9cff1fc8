package api

import (
	"context"

	"pi/agent"
	"pi/agent/brake"
)

// The agent counts what hooks send by who caused it. That is known where the Lua is
// called, and the context of the job carries it: brake.OriginOf. A job without an
// origin was caused by the hook itself, as those of events, tools and timers are.
// Others are marked:
//
//	a command or key of a person              Command.call
//	a key in a component                      component.HandleInput
//	what http.listen and fs.watch report      asOutside
//	timer.after, started by one of these      asFollowing
//
// The handlers that such a job reaches with pi.emit inherit its origin; those of an
// event that the agent emits at that time do not.

// originOf is the origin of what a job of a hook sends.
func originOf(ctx context.Context, hook string) agent.Origin {
	o, ok := brake.OriginOf(ctx)
	if !ok {
		o.Kind = brake.FromHook
	}
	o.Hook = hook
	return o
}

// asPerson marks a job that a person caused, unless the context says otherwise.
func asPerson(ctx context.Context) context.Context {
	if _, ok := brake.OriginOf(ctx); ok {
		return ctx
	}
	return brake.WithOrigin(ctx, agent.Origin{Kind: brake.FromPerson})
}

// asOutside marks a job that something outside of the program caused, which source
// names.
func asOutside(ctx context.Context, source string) context.Context {
	return brake.WithOrigin(ctx, agent.Origin{Kind: brake.FromOutside, Source: source})
}

type followingKey struct{}

// asFollowing marks the job of a timer that a job with the context cause starts: it is
// about the same, to wait until a folder is quiet, or to remind somebody. Timers that
// it starts itself are not: they could start others for ever.
func asFollowing(cause context.Context) func(context.Context) context.Context {
	o, ok := brake.OriginOf(cause)
	if !ok || cause.Value(followingKey{}) != nil {
		return func(ctx context.Context) context.Context { return ctx }
	}
	return func(ctx context.Context) context.Context {
		return brake.WithOrigin(context.WithValue(ctx, followingKey{}, true), o)
	}
}
