package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// completeTime is how long a completion may hold the prompt.
const completeTime = time.Second

// luaTool is one pi.tool; it is an [agent.Tool].
type luaTool struct {
	in           *instance
	spec         llm.ToolSpec
	execute      *lua.LFunction
	prepare      *lua.LFunction
	renderCall   *lua.LFunction
	renderResult *lua.LFunction
}

// apiTool is pi.tool{name, label?, description, parameters, prompt_snippet?,
// prompt_guidelines?, execution?, prepare_arguments?, execute, render_call?,
// render_result?}.
func (in *instance) apiTool(L *lua.LState) int {
	t := &luaTool{in: in}
	var parameters *lua.LTable
	var execution string
	luavm.Unpack(L, 1, "tool", luavm.Opt("name", &t.spec.Name).Required(), luavm.Opt("label", &t.spec.Label),
		luavm.Opt("description", &t.spec.Description).Required(), luavm.Opt("parameters", &parameters),
		luavm.Opt("prompt_snippet", &t.spec.Snippet), luavm.Opt("prompt_guidelines", &t.spec.Guidelines),
		luavm.Opt("execution", &execution), luavm.Opt("prepare_arguments", &t.prepare),
		luavm.Opt("execute", &t.execute).Required(), luavm.Opt("render_call", &t.renderCall),
		luavm.Opt("render_result", &t.renderResult))
	if !isToolName(t.spec.Name) {
		luavm.Raise(L, "tool: %q is no name of a tool: letters, digits, _ and -, at most %d", t.spec.Name, maxToolName)
	}
	switch execution {
	case "", "parallel":
	case "sequential":
		t.spec.Sequential = true
	default:
		luavm.Raise(L, "tool: execution must be \"parallel\" or \"sequential\", not %q", execution)
	}
	t.spec.Parameters = in.schema(L, "tool", parameters)
	in.registered.Tools.put(t)
	if in.registered.Handlers.isInForce() {
		in.chain.applyTools(in.hook.Name)
	}
	return 0
}

// maxToolName is what all providers take.
const maxToolName = 64

func isToolName(name string) bool {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return name != "" && len(name) <= maxToolName
}

// schema turns the table of a tool's parameters into JSON Schema. A plain table
// without a type describes an object.
func (in *instance) schema(L *lua.LState, function string, t *lua.LTable) json.RawMessage {
	if t == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	raw, err := in.records.Encode(t, "parameters")
	if err != nil {
		luavm.Raise(L, "%s: %v", function, err)
	}
	return raw
}

func (t *luaTool) id() string { return t.spec.Name }

// Spec describes the tool.
func (t *luaTool) Spec() llm.ToolSpec { return t.spec }

// Source is the hook that brought the tool.
func (t *luaTool) Source() string { return t.in.hook.Name }

// Prepare is prepare_arguments(raw). nil leaves the arguments as they came.
func (t *luaTool) Prepare(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
	prepared := input
	err := t.inForce(ctx, func(t *luaTool) error {
		if t.prepare == nil {
			return nil
		}
		changed := input
		err := t.job(ctx, func(L *lua.LState) (err error) {
			if v := callFunction(L, t.prepare, t.in.records.JSON(input)); v != lua.LNil {
				changed, err = t.in.records.Encode(v, "arguments")
			}
			return placeOf(t.prepare, err)
		})
		if err == nil {
			prepared = changed
		}
		return err
	})
	return prepared, err
}

// Run calls execute(params, ctx, call).
func (t *luaTool) Run(ctx context.Context, input json.RawMessage, update agent.Update) (result agent.Result, err error) {
	began := time.Now()
	err = t.inForce(ctx, func(t *luaTool) error {
		result, err = t.run(ctx, input, update)
		return err
	})
	t.in.chain.reports.ran(ctx, t.in.hook, "tool "+t.spec.Name, began, err)
	return result, err
}

// inForce does something with the tool, or with the one that a newer version of its
// hook has in its place. A failure is one of the hook.
func (t *luaTool) inForce(ctx context.Context, do func(*luaTool) error) error {
	t, err := latest(ctx, t, do)
	if err != nil && !interrupted(ctx, err) {
		t.in.fault(ctx, "tool "+t.spec.Name, err, 1)
	}
	return err
}

func (t *luaTool) instance() *instance { return t.in }

func (t *luaTool) successor(now *Registered) (*luaTool, bool) { return now.Tools.Find(t.spec.Name) }

func (t *luaTool) job(ctx context.Context, run func(L *lua.LState) error) error {
	return t.in.vm.Run(ctx, luavm.Job{Name: "tool " + t.spec.Name, Timeout: t.in.chain.opts.Timeout, Clock: luavm.CountedLua, Run: run})
}

func (t *luaTool) run(ctx context.Context, input json.RawMessage, update agent.Update) (agent.Result, error) {
	in, result := t.in, new(agent.Result)
	above, _ := ctx.Value(runningToolKey{}).(*runningTool)
	ctx = context.WithValue(ctx, runningToolKey{}, &runningTool{t.spec.Name, above})
	err := t.job(ctx, func(L *lua.LState) error {
		r, err := in.toolResult(L, t.spec.Name, callFunction(L, t.execute, in.records.JSON(input), in.ctx, in.callTable(L, t.spec.Name, agent.CallID(ctx), update)))
		*result = r
		return placeOf(t.execute, err)
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

// mustNotRecurse raises if a tool that stands in the place of one of the program's would
// call itself: whoever wrote it means the other, which is not there any more.
func (in *instance) mustNotRecurse(L *lua.LState, name string) {
	t, _ := in.vm.Context().Value(runningToolKey{}).(*runningTool)
	for ; t != nil; t = t.above {
		if t.name == name && in.chain.isProgramTool(name) {
			luavm.Raise(L, "call_tool: %s is the tool that is running, and would call itself: it stands in the place of the program's, which cannot be called then; do the work with pi.exec or pi.fs, or give the tool another name", name)
		}
	}
}

// callTable is the third argument of execute: {id, update, signal}.
func (in *instance) callTable(L *lua.LState, tool, id string, update agent.Update) *lua.LTable {
	t := luavm.NewRecord(L, 3)
	luavm.Set(t, "id", lua.LString(id))
	luavm.Set(t, "signal", in.signalValue(L))
	luavm.Set(t, "update", in.vm.GFunc("update", func(L *lua.LState) int {
		r, err := in.toolResult(L, tool, L.Get(1))
		if err != nil {
			luavm.Raise(L, "update: %v", err)
		}
		if update != nil {
			_ = in.wait(L, "update", false, func(context.Context) error {
				update(r)
				return nil
			})
		}
		return 0
	}))
	return t
}

// toolResult reads what a tool returned: a string, or {content, details?,
// is_error?, usage?, terminate?}.
func (in *instance) toolResult(L *lua.LState, tool string, v lua.LValue) (agent.Result, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return agent.Result{}, nil
	case lua.LString:
		return agent.TextResult(string(v)), nil
	case *lua.LTable:
		return in.resultFrom(L, tool, v)
	}
	return agent.Result{}, fmt.Errorf("a tool returns a string or a table, not a %s", v.Type())
}

func (in *instance) resultFrom(L *lua.LState, tool string, t *lua.LTable) (r agent.Result, err error) {
	var content, details lua.LValue
	var usage *lua.LTable
	luavm.UnpackTable(L, t, "result of the tool", luavm.Opt("content", &content), luavm.Opt("details", &details),
		luavm.Opt("is_error", &r.IsError), luavm.Opt("terminate", &r.Terminate), luavm.Opt("usage", &usage))
	if usage != nil {
		r.Usage = record.UsageFrom(L, usage)
	}
	if content != nil {
		if r.Content, err = in.records.Content(L, content, "content"); err != nil {
			return r, err
		}
	}
	if details != nil {
		r.Details, err = in.records.DetailsFrom(tool, details)
	}
	return r, err
}
