package luahooks

import (
	"context"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// A handler that was given up may return while the event continues without it. Its
// answer is read from its own copy of the event. Only -race tells the difference.
func TestALateAnswerIsReadWithoutTheEvent(t *testing.T) {
	for name, c := range map[string]struct {
		event        agent.Event
		late, answer string
	}{
		"headers": {&agent.BeforeProviderHeaders{Headers: map[string]string{"A": "b"}}, `{ headers = { a = "c" } }`, `{ headers = { a = "d" } }`},
		"message": {&agent.MessageEnd{Message: &message.Message{Role: message.RoleUser}}, `{ message = { role = "user", content = "x" } }`, `{ message = { role = "user", content = "y" } }`},
		"tree":    {&agent.SessionBeforeTree{}, `{ summary = { summary = "s" } }`, `{ label = "l" }`},
	} {
		t.Run(name, func(t *testing.T) {
			kind := c.event.Kind().String()
			r := newRig(t, map[string]string{
				"a.lua": `pi.on("` + kind + `", function() return late(` + c.late + `) end)`,
				"b.lua": `pi.on("` + kind + `", function() go_on() return ` + c.answer + ` end)`,
			}, soon)
			hang := make(chan struct{})
			release := sync.OnceFunc(func() { close(hang) })
			t.Cleanup(release)
			setGlobal := func(hook int, name string, fn lua.LGFunction) {
				in := r.chain.roster.list()[hook].current()
				mustDo(t, in.vm.Run(context.Background(), luavm.Job{Name: "test", Run: func(L *lua.LState) error {
					in.vm.SetGlobal(name, L.NewFunction(fn))
					return nil
				}}))
			}
			setGlobal(0, "late", func(L *lua.LState) int { <-hang; L.Push(L.Get(1)); return 1 })
			setGlobal(1, "go_on", func(*lua.LState) int { release(); return 0 })
			r.emit(c.event)
			time.Sleep(50 * time.Millisecond) // the late answer is read by now
			r.mustSay("hook a: "+kind+":", "abandoned")
		})
	}
}
