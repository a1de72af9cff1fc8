package luahooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"pi/agent"
	"pi/luahooks/event"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

func (in *instance) load(ctx context.Context, code []byte, state json.RawMessage) error {
	name := in.chain.dir.shown(in.hook.Path)
	if err := checkAPI(name, code); err != nil {
		return err
	}
	proto, err := luavm.Compile(name, code)
	if err != nil {
		return err
	}
	return in.vm.Run(ctx, luavm.Job{Name: "load", Loading: true, Timeout: cmp.Or(in.chain.opts.testOnlyLoadTime, in.chain.opts.Timeout), Run: func(L *lua.LState) error {
		in.script.Run(L, proto, state)
		return nil
	}})
}

func (c *Chain) newInstance(h *hook) *instance {
	in := &instance{chain: c, hook: h, real: c.guard.RealPath(h.Source), behind: newBackground(), failures: map[failure]int{}}
	in.vm = luavm.New(luavm.Options{
		Print:         func(line string) { c.audience.notify(context.Background(), agent.LevelInfo, h.Name+": "+line) },
		MemoryLimit:   c.opts.Memory,
		StrictGlobals: true,
		Lanes:         &c.lanes,
		Waits: func(job, function string) {
			// For its tools, models and timers waiting is nothing special.
			if c.roster.knows(job) || strings.HasPrefix(job, "/") || strings.HasPrefix(job, "shortcut ") {
				c.audience.notify(context.Background(), agent.LevelInfo, "hook "+h.Name+": "+job+" still waits for "+function)
			}
		},
		Panicked: func(function string, value any, stack []byte) {
			c.reports.log.write(h.Name, fmt.Sprintf("panic in %s: %v\n%s", function, value, stack))
		},
	})
	in.records = record.NewConverter(in.vm, &c.valid)
	in.script = NewScript(in.vm, in.records, c.program(in))
	in.events = event.NewSource(in.vm, in.records, h.Name, in.script.Signal, c.currentBranch)
	return in
}

// currentBranch is that of the session; known is false without one.
func (c *Chain) currentBranch() (branch []*session.Entry, known bool) {
	host := c.audience.hostNow()
	if host == nil {
		return nil, false
	}
	return host.Session().Branch(), true
}

// pinnedWithin is in how many lines of a hook's head the API may be pinned.
const pinnedWithin = 10

// checkAPI refuses a hook that was written for another version of the API.
func checkAPI(name string, code []byte) error {
	lines := bytes.SplitN(code, []byte("\n"), pinnedWithin+1)
	for i, line := range lines[:min(pinnedWithin, len(lines))] {
		pin := apiPin(string(line))
		if pin == fmt.Sprint(API) {
			return nil
		}
		if pin != "" {
			return fmt.Errorf("%s:%d: the hook wants pi-api %s, this program has %d", name, i+1, pin, API)
		}
	}
	return nil
}

// apiPin is the version that a line "-- pi-api: 1" names, "" for any other line.
func apiPin(line string) string {
	comment, isComment := strings.CutPrefix(line, "--")
	pin, pins := strings.CutPrefix(strings.TrimSpace(comment), "pi-api:")
	if words := strings.Fields(pin); isComment && pins && len(words) == 1 {
		return words[0]
	}
	return ""
}
