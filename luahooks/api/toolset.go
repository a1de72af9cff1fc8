package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Toolbox is all tools that there are, the program's own and those of hooks.
type Toolbox interface {
	// All lists them in the order in which the model gets them.
	All() []OfferedTool
	// IsOwn reports whether the program has a tool of that name, which a hook's may
	// stand in for.
	IsOwn(name string) bool
	// Below returns the tool in whose place that of a hook stands, the program's or one of a
	// hook before it in the chain; nil if there is none. path is the hook's file.
	Below(name, path string) agent.Tool
	// Choose makes exactly these tools active; by is the hook that wants it.
	Choose(names []string, by string)
	// Apply gives the agent the tools that there are now. by is the hook that changed
	// them.
	Apply(by string)
}

// OfferedTool is a tool that the model gets if it is active.
type OfferedTool struct {
	agent.Tool
	Active bool
}

// list is pi.tools(): all there are.
func (t *tools) list(L *lua.LState) *lua.LTable {
	t.mustHost(L, "tools")
	all := t.box.All()
	return luavm.NewList(L, len(all), func(i int) lua.LValue {
		spec, e := all[i].Spec(), luavm.NewRecord(L, 7)
		source := "program"
		if own, ok := all[i].Tool.(*Tool); ok {
			source = own.Source()
		}
		luavm.Set(e, "name", lua.LString(spec.Name))
		luavm.SetText(e, "label", spec.Label)
		luavm.Set(e, "description", lua.LString(spec.Description))
		luavm.Set(e, "parameters", t.records.JSON(spec.Parameters))
		luavm.Set(e, "source", lua.LString(source))
		luavm.Set(e, "annotations", annotationsTable(L, agent.AnnotationsOf(all[i].Tool)))
		luavm.Set(e, "active", lua.LBool(all[i].Active))
		return e
	})
}

// annotationsTable is what a tool says of what it does, for Lua.
func annotationsTable(L *lua.LState, a agent.Annotations) *lua.LTable {
	t := luavm.NewRecord(L, 4)
	luavm.Set(t, "read_only", lua.LBool(a.ReadOnly))
	luavm.Set(t, "destructive", lua.LBool(a.Destructive))
	luavm.Set(t, "open_world", lua.LBool(a.OpenWorld))
	luavm.SetText(t, "kind", a.Kind)
	return t
}

// active is pi.active_tools(): the names, in the order of the model.
func (t *tools) active(L *lua.LState) []string {
	names := []string{}
	for _, tool := range t.mustHost(L, "active_tools").Tools() {
		names = append(names, tool.Spec().Name)
	}
	return names
}

// setActive is pi.set_active_tools(names): the model gets exactly these tools from now on. It
// raises for a name that no tool has.
func (t *tools) setActive(L *lua.LState, list *lua.LTable) {
	t.mustHost(L, "set_active_tools")
	names, ok := luavm.Strings(L, list)
	if !ok {
		luavm.RaiseArg(L, 1, "set_active_tools", "list of strings expected")
	}
	for _, name := range names {
		t.mustExist(L, "set_active_tools", name)
	}
	t.box.Choose(names, t.hook)
}

// mustExist raises, with a suggestion, if the program and the hooks have no tool of the name.
func (t *tools) mustExist(L *lua.LState, function, name string) {
	var known []string
	for _, tool := range t.box.All() {
		known = append(known, tool.Spec().Name)
	}
	switch near := suggest.Hint(name, known); {
	case slices.Contains(known, name):
	case near != "":
		luavm.Raise(L, "%s: there is no tool %q%s", function, name, near)
	default:
		luavm.Raise(L, "%s: there is no tool %q; tools are %s", function, name, strings.Join(known, ", "))
	}
}

// call is pi.call_tool(name, input?) → {content, details?, is_error, …}. The call
// passes the same gate as one of the model.
func (t *tools) call(L *lua.LState) int {
	host, name := t.mustHost(L, "call_tool"), L.CheckString(1)
	t.mustNotRecurse(L, name)
	t.mustExist(L, "call_tool", name)
	input := json.RawMessage(`{}`)
	if v := L.Get(2); v != lua.LNil {
		raw, err := t.records.InputFrom(name, v)
		must(L, "call_tool", err)
		input = raw
	}
	var r agent.Result
	_ = t.wait(L, "call_tool", func(ctx context.Context) error {
		r = host.CallTool(ctx, name, input)
		return nil
	})
	L.Push(t.resultTable(L, name, r))
	return 1
}

// mustNotRecurse raises if a tool that stands in for one of the program's would call
// itself: whoever wrote it means the other.
func (t *tools) mustNotRecurse(L *lua.LState, name string) {
	running, _ := t.vm.Context().Value(runningToolKey{}).(*runningTool)
	for ; running != nil; running = running.above {
		if running.name == name && t.box.IsOwn(name) {
			luavm.Raise(L, "call_tool: %s is the tool that is running, and would call itself; the program's, in whose place it stands, is call.original, of the third argument of execute", name)
		}
	}
}

// resultTable is the result of a tool for Lua. r must not change any more.
func (t *tools) resultTable(L *lua.LState, tool string, r agent.Result) *lua.LTable {
	v := luavm.NewRecord(L, 5)
	luavm.Set(v, "content", t.records.Blocks(L, r.Content))
	luavm.Set(v, "details", t.records.Details(tool, r.Details))
	luavm.Set(v, "is_error", lua.LBool(r.IsError))
	if r.Terminate {
		luavm.Set(v, "terminate", lua.LTrue)
	}
	if r.Usage != nil {
		luavm.Set(v, "usage", record.Usage(L, r.Usage))
	}
	return v
}
