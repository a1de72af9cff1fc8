package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Tool is one pi.tool; it is an [agent.Tool].
type Tool struct {
	home         *tools
	spec         llm.ToolSpec
	annotations  agent.Annotations
	inactive     bool // until a hook makes it active
	execute      *lua.LFunction
	prepare      *lua.LFunction
	renderCall   *lua.LFunction
	renderResult *lua.LFunction
}

// tools are the tools of a hook, and how it sees and calls all others.
type tools struct {
	*bridge
	contexts *contexts
	signals  *signals
	theme    *theme
}

func (t *tools) part() part {
	return part{"tool": t.tool, "tools": t.list, "active_tools": t.active, "set_active_tools": t.setActive, "call_tool": t.call, "remove_tool": t.remove}
}

// tool is pi.tool{name, label?, description, parameters, prompt_snippet?,
// prompt_guidelines?, execution?, annotations?, prepare_arguments?, execute, render_call?,
// render_result?, active?}: it registers a tool, in place of one of the hook with that name. If the
// file was loaded before, the agent gets the tool at once. Misuse raises.
func (t *tools) tool(L *lua.LState) int {
	n := &Tool{home: t}
	var parameters, annotations *lua.LTable
	var execution string
	active := true
	luavm.Unpack(L, 1, "tool", luavm.Opt("active", &active), luavm.Opt("name", &n.spec.Name).Required(), luavm.Opt("label", &n.spec.Label),
		luavm.Opt("description", &n.spec.Description).Required(), luavm.Opt("parameters", &parameters),
		luavm.Opt("prompt_snippet", &n.spec.Snippet), luavm.Opt("prompt_guidelines", &n.spec.Guidelines),
		luavm.Opt("execution", &execution), luavm.Opt("annotations", &annotations), luavm.Opt("prepare_arguments", &n.prepare),
		luavm.Opt("execute", &n.execute).Required(), luavm.Opt("render_call", &n.renderCall),
		luavm.Opt("render_result", &n.renderResult))
	if name := n.spec.Name; !hasNameCharacters(name) || name == "" || len(name) > maxToolName {
		luavm.Raise(L, "tool: %q is no name of a tool: letters, digits, _ and -, at most %d", n.spec.Name, maxToolName)
	}
	switch execution {
	case "", "parallel":
	case "sequential":
		n.spec.Sequential = true
	default:
		luavm.Raise(L, "tool: execution must be \"parallel\" or \"sequential\", not %q", execution)
	}
	if annotations != nil {
		n.annotations = annotationsFrom(L, annotations)
	}
	n.spec.Parameters, n.inactive = t.schema(L, "tool", parameters), !active
	t.registered.Tools.put(n)
	if t.registered.Handlers.isInForce() {
		t.Tools.Apply(t.Hook.Name)
	}
	return 0
}

// remove is pi.remove_tool(name) → true, or nil and a message: a tool of the hook goes. What it
// stood in place of is there again. A call that runs goes on.
func (t *tools) remove(name string) error {
	if !t.registered.Tools.remove(name) {
		return fmt.Errorf("this hook has no tool %q", name)
	}
	if t.registered.Handlers.isInForce() {
		t.Tools.Apply(t.Hook.Name)
	}
	return nil
}

// maxToolName is how long a name may be for all providers.
const maxToolName = 64

func (t *Tool) id() string { return t.spec.Name }

// StartsActive reports whether the model gets the tool without a hook making it active.
func (t *Tool) StartsActive() bool { return !t.inactive }

// Spec describes the tool.
func (t *Tool) Spec() llm.ToolSpec { return t.spec }

// Annotations are what the hook says of what the tool does.
func (t *Tool) Annotations() agent.Annotations { return t.annotations }

// annotationsFrom reads {read_only?, destructive?, open_world?, kind?}.
func annotationsFrom(L *lua.LState, t *lua.LTable) (a agent.Annotations) {
	luavm.UnpackTable(L, t, "tool: annotations", luavm.Opt("read_only", &a.ReadOnly), luavm.Opt("destructive", &a.Destructive),
		luavm.Opt("open_world", &a.OpenWorld), luavm.Opt("kind", &a.Kind))
	if a.Kind != "" {
		checkOneOf(L, "tool: annotations", "kind", a.Kind, agent.ToolKinds())
	}
	if a.ReadOnly && a.Destructive {
		luavm.Raise(L, "tool: annotations: a tool that is read_only is not destructive")
	}
	return a
}

// Source is the name of the hook that brought the tool.
func (t *Tool) Source() string { return t.home.Hook.Name }

// Prepare returns the arguments as prepare_arguments(raw) changes them. They stay as they
// came if there is no such function, or it returns nil or fails.
func (t *Tool) Prepare(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	prepared := input
	err := t.inForce(ctx, func(t *Tool) error {
		if t.prepare == nil {
			return nil
		}
		changed := input
		err := t.home.jobs.run(ctx, "tool "+t.spec.Name, func(L *lua.LState) (err error) {
			if v := callLua(L, t.prepare, t.home.records.JSON(input)); v != lua.LNil {
				changed, err = t.home.records.Encode(v, "arguments")
			}
			return WithPlace(t.prepare, err)
		})
		if err == nil {
			prepared = changed
		}
		return err
	})
	return prepared, err
}

// Run calls execute(params, ctx, call) and returns its result. The call is counted for the
// hook; its error goes to the agent.
func (t *Tool) Run(ctx context.Context, input json.RawMessage, update agent.Update) (result agent.Result, err error) {
	began := time.Now()
	err = t.inForce(ctx, func(t *Tool) error {
		result, err = t.run(ctx, input, update)
		return err
	})
	t.owner().Ran(ctx, "tool "+t.spec.Name, began, err)
	return result, err
}

// inForce calls do with the tool or, if its VM was replaced before do began, with the tool
// of that name in the newer version of the hook. An error is noted as one of the hook.
func (t *Tool) inForce(ctx context.Context, do func(*Tool) error) error {
	t, err := latest(ctx, t, do)
	if err != nil {
		t.owner().Failed(ctx, "tool "+t.spec.Name, nil, err, NobodyElse)
	}
	return err
}

func (t *Tool) owner() Owner { return t.home.Owner }

func (t *Tool) successor(now *Registered) (*Tool, bool) { return now.Tools.Find(t.spec.Name) }

// run calls execute in one job, a call into the hook's VM. The context of the job knows the
// hooks' tools that are running, for mustNotRecurse.
func (t *Tool) run(ctx context.Context, input json.RawMessage, update agent.Update) (agent.Result, error) {
	home, result := t.home, new(agent.Result)
	above, _ := ctx.Value(runningToolKey{}).(*runningTool)
	ctx = context.WithValue(ctx, runningToolKey{}, &runningTool{t.spec.Name, above})
	call := &toolCall{tool: t.spec.Name, id: agent.CallID(ctx), update: update}
	defer call.over.Store(true)
	err := home.jobs.run(ctx, "tool "+t.spec.Name, func(L *lua.LState) error {
		for _, v := range []lua.LValue{t.execute, home.records.JSON(input), home.contexts.table, home.callTable(L, call)} {
			L.Push(v)
		}
		L.Call(3, 2)
		returned, message := L.Get(-2), L.Get(-1)
		L.Pop(2)
		if text, ok := message.(lua.LString); ok && returned == lua.LNil {
			return errors.New(string(text))
		}
		r, err := home.resultFrom(L, t.spec.Name, returned)
		*result = r
		return WithPlace(t.execute, err)
	})
	if err != nil {
		return agent.Result{}, err
	}
	return *result, nil
}

// runningTool is a tool of a hook in the context of its execute; above is the one from
// which it was called.
type runningTool struct {
	name  string
	above *runningTool
}

type runningToolKey struct{}

// RenderCall draws a call of the tool with its render_call. It is false, and somebody else
// has to draw, if there is none or it returned nil or failed.
func (t *Tool) RenderCall(ctx context.Context, c agent.DrawnCall, expanded bool, width int) ([]string, bool) {
	return t.draw(ctx, "render_call", t.renderCall, c, expanded, width, func(_ *lua.LState, args lua.LValue) lua.LValue { return args })
}

// RenderResult draws a result of the tool, or what it has reported last, with its
// render_result, as RenderCall does a call.
func (t *Tool) RenderResult(ctx context.Context, c agent.DrawnCall, r agent.Result, expanded bool, width int) ([]string, bool) {
	return t.draw(ctx, "render_result", t.renderResult, c, expanded, width,
		func(L *lua.LState, _ lua.LValue) lua.LValue { return t.home.resultTable(L, t.spec.Name, r) })
}

// Draws reports whether the tool draws its calls or their results.
func (t *Tool) Draws() bool { return t.renderCall != nil || t.renderResult != nil }

// draw calls a function of the tool that draws, with what returns for the arguments of the
// call.
func (t *Tool) draw(ctx context.Context, name string, fn *lua.LFunction, c agent.DrawnCall, expanded bool, width int,
	what func(L *lua.LState, args lua.LValue) lua.LValue) ([]string, bool) {
	if fn == nil {
		return nil, false
	}
	return t.home.jobs.render(ctx, name+" of "+t.spec.Name, func(L *lua.LState) lua.LValue {
		args := t.home.records.JSON(c.Input)
		return callLua(L, fn, what(L, args), t.home.drawingOfCall(L, c, args, expanded, width), t.home.theme.table())
	})
}

// toolCall is a call of a tool of a hook.
type toolCall struct {
	tool, id string
	update   agent.Update // may be nil
	over     atomic.Bool  // execute has returned
}

// callTable returns the third argument of execute: {id, update, signal, original?}. update
// shows a partial result.
func (t *tools) callTable(L *lua.LState, call *toolCall) *lua.LTable {
	c := luavm.NewRecord(L, 4)
	luavm.Set(c, "id", lua.LString(call.id))
	luavm.Set(c, "signal", t.signals.current())
	t.add(c, part{"update": func(L *lua.LState) int {
		r, err := t.resultFrom(L, call.tool, L.Get(1))
		must(L, "update", err)
		if call.update != nil {
			_ = t.wait(L, "update", func(context.Context) error {
				call.update(r)
				return nil
			})
		}
		return 0
	}})
	if below := t.Tools.Below(call.tool, t.Hook.Path); below != nil {
		t.add(c, part{"original": func(L *lua.LState) int { return t.original(L, call, below) }})
	}
	return c
}

// original is call.original(params) → {content, details, is_error, …}, or nil and why it did
// not run: it calls below, in whose place the tool stands, as part of the call.
func (t *tools) original(L *lua.LState, call *toolCall, below agent.Tool) int {
	input, err := t.records.InputFrom(call.tool, L.Get(1))
	must(L, "original", err)
	if call.over.Load() || !agent.InTool(t.vm.Context()) {
		luavm.Raise(L, "original: the call it belongs to is over")
	}
	var r agent.Result
	err = t.wait(L, "original", func(ctx context.Context) (err error) {
		r, err = agent.RunBelow(ctx, below, input, call.update)
		return err
	})
	if err != nil {
		return pushResult(L, nil, err)
	}
	return pushResult(L, t.resultTable(L, call.tool, r), nil)
}

// resultFrom reads what a tool returned: a string, or {content, details?, is_error?,
// usage?, terminate?}.
func (t *tools) resultFrom(L *lua.LState, tool string, v lua.LValue) (r agent.Result, err error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return agent.Result{}, nil
	case lua.LString:
		return agent.TextResult(string(v)), nil
	case *lua.LTable:
		var content, details lua.LValue
		var usage *lua.LTable
		luavm.UnpackTable(L, v, "result of the tool", luavm.Opt("content", &content), luavm.Opt("details", &details),
			luavm.Opt("is_error", &r.IsError), luavm.Opt("terminate", &r.Terminate), luavm.Opt("usage", &usage))
		if usage != nil {
			r.Usage = record.UsageFrom(L, usage)
		}
		if content != nil {
			if r.Content, err = t.records.Content(L, content, "content"); err != nil {
				return r, err
			}
		}
		if details != nil {
			r.Details, err = t.records.DetailsFrom(tool, details)
		}
		return r, err
	}
	return agent.Result{}, fmt.Errorf("a tool returns a string or a table, not a %s", v.Type())
}

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
	// MayCall returns an error if a tool of a server may not be called: by what the command
	// line allows, or the mode that is on. Whether it is active does not matter.
	MayCall(name string) error
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
	all := t.Tools.All()
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
	t := luavm.NewRecord(L, 5)
	luavm.Set(t, "read_only", lua.LBool(a.ReadOnly))
	luavm.Set(t, "destructive", lua.LBool(a.Destructive))
	luavm.Set(t, "open_world", lua.LBool(a.OpenWorld))
	luavm.SetText(t, "kind", a.Kind)
	luavm.Set(t, "claimed", lua.LBool(a.Claimed))
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
	t.Tools.Choose(names, t.Hook.Name)
}

// mustExist raises, with a suggestion, if the program and the hooks have no tool of the name.
func (t *tools) mustExist(L *lua.LState, function, name string) {
	var known []string
	for _, tool := range t.Tools.All() {
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

// isForwarded reports whether a name may be one of a tool behind another, which alone knows whether
// there is one.
func (t *tools) isForwarded(name string) bool {
	return slices.ContainsFunc(t.Tools.All(), func(tool OfferedTool) bool {
		f, ok := tool.Tool.(agent.Forwarder)
		if ok {
			_, ok = f.Wrap(name, nil)
		}
		return ok
	})
}

// call is pi.call_tool(name, input?) → {content, details?, is_error, …}. The call
// passes the same gate as one of the model.
func (t *tools) call(L *lua.LState) int {
	host, name := t.mustHost(L, "call_tool"), L.CheckString(1)
	t.mustNotRecurse(L, name)
	if !t.isForwarded(name) {
		t.mustExist(L, "call_tool", name)
	}
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
		if running.name == name && t.Tools.IsOwn(name) {
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
