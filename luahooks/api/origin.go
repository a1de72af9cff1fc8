package api

import (
	"context"

	"pi/agent"
)

// The agent counts what hooks send by who caused it. That is known where the Lua is
// called, and the context of the job carries it: agent.OriginOf. A job without an
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
	o, ok := agent.OriginOf(ctx)
	if !ok {
		o.Kind = agent.FromHook
	}
	o.Hook = hook
	return o
}

// asPerson marks a job that a person caused, unless the context says otherwise.
func asPerson(ctx context.Context) context.Context {
	if _, ok := agent.OriginOf(ctx); ok {
		return ctx
	}
	return agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromPerson})
}

// asOutside marks a job that something outside of the program caused, which source
// names.
func asOutside(ctx context.Context, source string) context.Context {
	return agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromOutside, Source: source})
}

type ofToolKey struct{}

// IsOfTool reports whether a job with this context is about a call of a tool of a hook: its
// execute, or a timer or another callback that this left behind. What that starts may be
// what the model wants.
func IsOfTool(ctx context.Context) bool { return agent.InTool(ctx) || ctx.Value(ofToolKey{}) != nil }

// asOfTool marks a later job as about the call that cause is about, if it is about one.
func asOfTool(ctx, cause context.Context) context.Context {
	if !IsOfTool(cause) {
		return ctx
	}
	return context.WithValue(ctx, ofToolKey{}, true)
}

type followingKey struct{}

// asFollowing marks the job of a timer that a job with the context cause starts. One that is
// called once is about the same, to wait until a folder is quiet, or to remind somebody. Timers
// that it starts itself are not: they could start others for ever. What a call of a tool leaves
// behind is about that, whatever it starts.
func asFollowing(cause context.Context, again bool) func(context.Context) context.Context {
	o, ok := agent.OriginOf(cause)
	if again || !ok || cause.Value(followingKey{}) != nil {
		return func(ctx context.Context) context.Context { return asOfTool(ctx, cause) }
	}
	return func(ctx context.Context) context.Context {
		return agent.WithOrigin(context.WithValue(asOfTool(ctx, cause), followingKey{}, true), o)
	}
}
