package event

import (
	"context"
	"encoding/json"
	lua "github.com/yuin/gopher-lua"
	"pi/agent"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"
	"testing"
)

// A field that is told without building the event's table is what stands in the
// table.
func TestPeekingAndBuildingAgree(t *testing.T) {
	vm := luavm.New(luavm.Options{})
	t.Cleanup(vm.Close)
	src := NewSource(vm, record.NewConverter(vm, new(record.ValidJSON)), "a", func(*lua.LState) lua.LValue { return lua.LNil }, func() ([]*session.Entry, bool) { return nil, false })
	specs := map[agent.Kind]*Spec{}
	for _, spec := range Table() {
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
			for f := range ("type string; " + spec.Fields).Each {
				v, ok := view.Peek(f.Name)
				if !ok {
					continue
				}
				peeked++
				if want := built.RawGetString(f.Name); v != want {
					t.Errorf("%s.%s is %v, and %v in the table", spec.Name, f.Name, v, want)
				}
			}
			if _, ok := view.Peek("no_such_field"); ok {
				t.Errorf("%s has a field that it has not", spec.Name)
			}
		}
		return nil
	}})
	if err != nil || peeked < 15 {
		t.Errorf("%d fields, %v", peeked, err)
	}
}
