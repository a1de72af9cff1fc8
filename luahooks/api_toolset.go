package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// toolChoice is what hooks chose with pi.set_active_tools. It outlives reloads.
// Tools that were not there when the choice was made are as they would be
// without one.
type toolChoice struct {
	mu     sync.Mutex
	active map[string]bool // by name; nil: no choice was made
}

func (c *toolChoice) set(all []offeredTool, names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = map[string]bool{}
	for _, t := range all {
		c.active[t.spec().Name] = slices.Contains(names, t.spec().Name)
	}
}

func (c *toolChoice) of(name string, standard bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if chosen, ok := c.active[name]; ok {
		return chosen
	}
	return standard
}

// offeredTool is a tool that there is.
type offeredTool struct {
	agent.Tool
	active bool
}

func (t offeredTool) spec() llm.ToolSpec { return t.Spec() }

// source is who brought a tool: a hook, or the program.
func (t offeredTool) source() string {
	if own, ok := t.Tool.(*luaTool); ok {
		return own.Source()
	}
	return "program"
}

func replaces(t *luaTool, before agent.Tool) string {
	if other, ok := before.(*luaTool); ok {
		return fmt.Sprintf("hook %s replaces the tool %s of hook %s", t.in.hook.Name, t.spec.Name, other.in.hook.Name)
	}
	return fmt.Sprintf("hook %s replaces the tool %s", t.in.hook.Name, t.spec.Name)
}

// apiTools is pi.tools(): all there are.
func (in *instance) apiTools(L *lua.LState) *lua.LTable {
	in.mustHost(L, "tools")
	all := in.chain.allTools(nil)
	return luavm.NewList(L, len(all), func(i int) lua.LValue {
		spec := all[i].spec()
		t := luavm.NewRecord(L, 6)
		luavm.Set(t, "name", lua.LString(spec.Name))
		record.SetText(t, "label", spec.Label)
		luavm.Set(t, "description", lua.LString(spec.Description))
		luavm.Set(t, "parameters", in.records.JSON(spec.Parameters))
		luavm.Set(t, "source", lua.LString(all[i].source()))
		luavm.Set(t, "active", lua.LBool(all[i].active))
		return t
	})
}

// apiActiveTools is pi.active_tools(): the names, in the order of the model.
func (in *instance) apiActiveTools(L *lua.LState) []string {
	names := []string{}
	for _, t := range in.mustHost(L, "active_tools").Tools() {
		names = append(names, t.Spec().Name)
	}
	return names
}

// apiSetActiveTools is pi.set_active_tools(names).
func (in *instance) apiSetActiveTools(L *lua.LState, list *lua.LTable) {
	in.mustHost(L, "set_active_tools")
	names, ok := luavm.Strings(L, list)
	if !ok {
		luavm.RaiseArg(L, 1, "set_active_tools", "list of strings expected")
	}
	all := in.chain.allTools(nil)
	for _, name := range names {
		mustBeTool(L, "set_active_tools", name, all)
	}
	in.chain.choice.set(all, names)
	in.chain.applyTools(in.hook.Name)
}

func mustBeTool(L *lua.LState, function, name string, all []offeredTool) {
	var known []string
	for _, t := range all {
		known = append(known, t.spec().Name)
	}
	switch near := suggest.Hint(name, known); {
	case slices.Contains(known, name):
	case near != "":
		luavm.Raise(L, "%s: there is no tool %q%s", function, name, near)
	default:
		luavm.Raise(L, "%s: there is no tool %q; tools are %s", function, name, strings.Join(known, ", "))
	}
}

// apiCallTool is pi.call_tool(name, input?) → {content, details?, is_error, …}.
// The call passes the same gate as one of the model.
func (in *instance) apiCallTool(L *lua.LState) int {
	host, name := in.mustHost(L, "call_tool"), L.CheckString(1)
	in.mustNotRecurse(L, name)
	mustBeTool(L, "call_tool", name, in.chain.allTools(nil))
	input := json.RawMessage(`{}`)
	if v := L.Get(2); v != lua.LNil {
		raw, err := in.records.InputFrom(name, v)
		if err != nil {
			luavm.Raise(L, "call_tool: %v", err)
		}
		input = raw
	}
	var r agent.Result
	_ = in.wait(L, "call_tool", false, func(ctx context.Context) error {
		r = host.CallTool(ctx, name, input)
		return nil
	})
	L.Push(in.resultValue(L, name, r))
	return 1
}

// resultValue is the result of a tool for Lua. r must not change any more.
func (in *instance) resultValue(L *lua.LState, tool string, r agent.Result) *lua.LTable {
	t := luavm.NewRecord(L, 5)
	luavm.Set(t, "content", in.records.Blocks(L, r.Content))
	luavm.Set(t, "details", in.records.Details(tool, r.Details))
	luavm.Set(t, "is_error", lua.LBool(r.IsError))
	if r.Terminate {
		luavm.Set(t, "terminate", lua.LTrue)
	}
	if r.Usage != nil {
		luavm.Set(t, "usage", record.Usage(L, r.Usage))
	}
	return t
}
