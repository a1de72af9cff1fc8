package api

import (
	"context"
	"errors"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// continuations is how a hook asks the user beforehand how often it may have the model go on.
type continuations struct {
	*bridge
	dialogs *dialogs
}

func (c *continuations) part() part { return part{"continuations": c.ask} }

// mostContinuations is how many requests a hook can ask for.
const mostContinuations = 1000

// ask is pi.continuations{up_to} → true, or nil and a message: why it may not. It raises
// outside of commands and shortcuts.
func (c *continuations) ask(L *lua.LState) int {
	host := c.mustCommand(L, "continuations")
	var upTo int
	luavm.Unpack(L, 1, "continuations", luavm.Opt("up_to", &upTo).Required())
	if upTo < 1 || upTo > mostContinuations {
		luavm.Raise(L, "continuations: option \"up_to\" is from 1 to %d", mostContinuations)
	}
	origin := c.originOf(c.vm.Context())
	if !isOfUser(c.vm.Context()) {
		return pushResult(L, nil, errors.New("a hook ran this command, and only one that the user gave may ask"))
	}
	var refused error
	c.dialogs.show(L, "continuations", "continuations", func(ctx context.Context) error {
		refused = host.AllowContinuations(ctx, origin, upTo)
		return ctx.Err()
	})
	return pushResult(L, lua.LTrue, refused)
}
