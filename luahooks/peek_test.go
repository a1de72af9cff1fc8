package luahooks

import (
	"context"
	"encoding/json"
	"testing"

	"pi/agent"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// A field that is told without building the event's table is what stands in the
// table.
func TestPeekingAndBuildingAgree(t *testing.T) {
	vm := luavm.New(luavm.Options{})
	t.Cleanup(vm.Close)
	src := newSource(vm, record.NewConverter(vm, new(record.ValidJSON)), "a", func(*lua.LState) lua.LValue { return lua.LNil }, func() ([]*session.Entry, bool) { return nil, false })
	specs := map[agent.Kind]*eventSpec{}
	for _, spec := range eventTable() {
		specs[spec.Kind] = &spec
	}
	events := []agent.Event{
		&agent.ToolCall{ID: "i", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)},
		&agent.ToolCall{},
		&agent.ToolResult{ID: "i", Name: "bash", Input: json.RawMessage(`{}`), Result: agent.Result{IsError: true}},
		&agent.SessionStart{Reason: "new", SessionID: "s", SessionFile: "f"},
		&agent.SessionStart{},
	}
	peeked := 0
	err := vm.Run(context.Background(), luavm.Job{Run: func(L *lua.LState) error {
		for _, e := range events {
			spec := specs[e.Kind()]
			built := spec.build(src, L, e)
			view := &eventView{src, spec, e}
			for f := range ("type string; " + spec.Fields).each {
				v, ok := view.Peek(f.Name)
				if !ok {
					continue
				}
				peeked++
				if want := built.RawGetString(f.Name); v != want {
					t.Errorf("%s.%s is %v, and %v in the table", spec.name, f.Name, v, want)
				}
			}
			if _, ok := view.Peek("no_such_field"); ok {
				t.Errorf("%s has a field that it has not", spec.name)
			}
		}
		return nil
	}})
	if err != nil || peeked < 15 {
		t.Errorf("%d fields, %v", peeked, err)
	}
}

func TestAnEventThatWasPeekedAtIsStillAWholeTable(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function(e)
		local name = e.tool_name
		local n = 0
		for _ in pairs(e) do n = n + 1 end
		e.extra = 1
		print(name, e.type, n, e.input.command, e.extra, rawget(e, "tool_call_id"), tostring(rawget(e, "nothing")), tostring(pcall(function() return e.nothing end)))
	end)`})
	r.bash("ls")
	r.mustSay("bash", "tool_call", "4", "ls", "1", "nil", "false")
}
