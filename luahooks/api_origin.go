package luahooks

import (
	"context"

	"pi/agent"
)

// Who has a say in what a hook sends is known where its Lua is called, and the
// context of the job carries it: agent.OriginOf. A job without any is the hook's
// own doing, as those of events, tools and timers are. Others are marked:
//
//	a command or key of a person            luaCommand.call
//	a key in a component                    luaComponent.HandleInput
//	what http.listen and fs.watch hear of   outside
//	timer.after, started by one of these    following
//
// What such a job has other hooks do with pi.emit has its origin; an event that
// the agent emits meanwhile has not, see Chain.walk.

// origin is the origin of what the job that runs now sends.
func (in *instance) origin() agent.Origin {
	o := originOf(in.vm.Context())
	o.Hook = in.hook.Name
	return o
}

func originOf(ctx context.Context) agent.Origin {
	if o, ok := agent.OriginOf(ctx); ok {
		return o
	}
	return agent.Origin{Kind: agent.FromHook}
}

// asPerson marks a job that a person caused, unless the context says otherwise.
func asPerson(ctx context.Context) context.Context {
	if _, ok := agent.OriginOf(ctx); ok {
		return ctx
	}
	return agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromPerson})
}

// heardPerson tells the agent that a person answered a hook.
func (in *instance) heardPerson() {
	if host := in.chain.hostNow(); host != nil {
		host.HeardFrom(agent.Origin{Kind: agent.FromPerson})
	}
}

// outside marks a job that something outside of the program caused, which source
// names.
func outside(ctx context.Context, source string) context.Context {
	return agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromOutside, Source: source})
}

type followingKey struct{}

// following marks the job of a timer that the job which runs now starts: it goes
// on with what that is about, to wait until a folder is quiet, or to remind
// somebody. Timers that it starts itself do not: they could do so for ever.
func (in *instance) following() func(context.Context) context.Context {
	cause := in.vm.Context()
	o, ok := agent.OriginOf(cause)
	if !ok || cause.Value(followingKey{}) != nil {
		return func(ctx context.Context) context.Context { return ctx }
	}
	return func(ctx context.Context) context.Context {
		return agent.WithOrigin(context.WithValue(ctx, followingKey{}, true), o)
	}
}
