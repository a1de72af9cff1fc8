package api

import (
	"context"
	"math"
	"strings"
	"time"

	"pi/luahooks/exitwait"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// deferrals are what a hook still has to do when the program ends.
type deferrals struct {
	*bridge
	path string // of the hook's file
	life context.Context
	list *exitwait.List
}

// deferExit is pi.defer_exit(text, {timeout?}) → done: the end of the program waits until
// done() is called, or the hook is reloaded, and says what for.
func (d *deferrals) deferExit(L *lua.LState) int {
	d.mustHaveLoaded(L, "defer_exit")
	text := L.CheckString(1)
	if strings.TrimSpace(text) == "" {
		luavm.RaiseArg(L, 1, "defer_exit", "say what is to be finished")
	}
	const unsaid = time.Duration(math.MaxInt64)
	limit := unsaid
	luavm.Unpack(L, 2, "defer_exit", luavm.Opt("timeout", &limit))
	switch {
	case limit == unsaid:
		limit = 0
	case limit <= 0:
		luavm.Raise(L, "defer_exit: option \"timeout\" must be positive")
	}
	w := d.list.Begin(d.hook, d.path, text, limit)
	stop := context.AfterFunc(d.life, w.End)
	L.Push(d.vm.Proc("done", func() {
		stop()
		w.End()
	}))
	return 1
}
