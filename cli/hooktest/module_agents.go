package hooktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent/children"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// agents are the functions that play the agents which hooks use.
func (f *file) agents() functions {
	return functions{"agent": f.playAgent, "agent_calls": f.agentCalls}
}

// playAgent is t.agent{name?, answers}: agents of a name, or without one all that no other name has,
// answer that, one after the other.
func (f *file) playAgent(L *lua.LState, options *lua.LTable) {
	s := f.current(L, "agent")
	var name string
	var answers *lua.LTable
	luavm.UnpackTable(L, options, "t.agent", luavm.Opt("name", &name), luavm.Opt("answers", &answers).Required())
	n, err := luavm.ListLen(L, answers)
	if err != nil {
		luavm.Raise(L, "t.agent: answers: %v", err)
	}
	var list []agentAnswer
	for i := 1; i <= n; i++ {
		list = append(list, f.readAgentAnswer(L, fmt.Sprintf("t.agent: answers[%d]", i), answers.RawGetInt(i)))
	}
	if name != "" {
		name = children.Name(name)
	}
	s.stage.agents.add(name, list)
}

// readAgentAnswer reads an answer: a text, a table, or a function that makes one of these.
func (f *file) readAgentAnswer(L *lua.LState, where string, v lua.LValue) (a agentAnswer) {
	a.result.StopReason = "completed"
	switch v := v.(type) {
	case lua.LString:
		a.result.Text = string(v)
	case *lua.LFunction:
		a.function = v
	case *lua.LTable:
		var value lua.LValue
		var usage *lua.LTable
		r := &a.result
		reason := ""
		luavm.UnpackTable(L, v, where, luavm.Opt("text", &r.Text), luavm.Opt("value", &value), luavm.Opt("usage", &usage), luavm.Opt("stop_reason", &reason),
			luavm.Opt("error", &r.Error), luavm.Opt("session_file", &r.SessionFile), luavm.Opt("refuse", &a.refuse), luavm.Opt("waits", &a.waits))
		if r.StopReason = stopReason(L, where, reason, r.Error); usage != nil {
			r.Usage = *record.UsageFrom(L, usage)
		}
		if value != nil {
			raw, err := f.records.Encode(value, "value")
			if err != nil {
				luavm.Raise(L, "%s: %v", where, err)
			}
			r.Value = raw
		}
	default:
		luavm.Raise(L, "%s: an answer is a text, a table or a function, not a %s", where, v.Type())
	}
	return a
}

// agentResult calls the function of an answer with what the agent was asked, and reads the answer
// that it returns. One that raises fails the case; nil and a message is an agent that failed.
func (s *scene) agentResult(ctx context.Context, a agentAnswer, asked agentAsked) (made agentAnswer, err error) {
	err = s.job(ctx, "agent "+asked.name, func(L *lua.LState) error {
		L.Push(a.function)
		L.Push(s.file.askedTable(L, &asked))
		L.Call(1, 2)
		v, message := L.Get(-2), L.Get(-1)
		L.Pop(2)
		if text, failed := message.(lua.LString); failed && v == lua.LNil {
			made.result.StopReason, made.result.Error = "error", string(text)
			return nil
		}
		if _, again := v.(*lua.LFunction); again {
			return errors.New("the function of an answer returns a text or a table, not a function")
		}
		made = s.file.readAgentAnswer(L, "the answer", v)
		return nil
	})
	return made, err
}

// agentCalls is t.agent_calls(name?) → what agents were asked so far, those that work as always among
// them.
func (f *file) agentCalls(L *lua.LState, name *string) lua.LValue {
	of := ""
	if name != nil {
		of = children.Name(*name)
	}
	calls := f.current(L, "agent_calls").stage.agents.calls(of)
	return luavm.NewList(L, len(calls), func(i int) lua.LValue { return f.askedTable(L, &calls[i]) })
}

// askedTable is what a hook has asked an agent, for a test.
func (f *file) askedTable(L *lua.LState, a *agentAsked) *lua.LTable {
	t := luavm.NewRecord(L, 18)
	luavm.Set(t, "hook", lua.LString(a.Hook.Name))
	luavm.Set(t, "name", lua.LString(a.name))
	luavm.Set(t, "played", lua.LBool(a.played))
	luavm.Set(t, "prompt", lua.LString(a.Prompt))
	for name, text := range map[string]string{"agent": a.Agent, "system_prompt": a.SystemPrompt, "model": a.Model, "thinking": a.Thinking, "cwd": a.Cwd} {
		luavm.SetText(t, name, text)
	}
	if a.HasTools {
		luavm.Set(t, "tools", luavm.NewList(L, len(a.Tools), func(i int) lua.LValue { return lua.LString(a.Tools[i]) }))
	}
	if a.Schema != nil {
		luavm.Set(t, "schema", f.records.JSON(a.Schema))
	}
	if a.FromParent {
		luavm.Set(t, "context", lua.LString("parent"))
	}
	if a.Keep {
		luavm.Set(t, "session", lua.LString("keep"))
	}
	for name, n := range map[string]float64{"max_turns": float64(a.MaxTurns), "max_cost": a.MaxCost, "timeout": float64(a.Timeout.Milliseconds())} {
		if n > 0 {
			luavm.Set(t, name, lua.LNumber(n))
		}
	}
	luavm.Set(t, "steers", luavm.NewList(L, len(a.steers), func(i int) lua.LValue { return lua.LString(a.steers[i]) }))
	return t
}

// stopReason is why an agent that is played stops: completed unless it is said, and error where only
// an error is.
func stopReason(L *lua.LState, where, reason, failed string) string {
	known := []string{"completed", "aborted", "error", "limit", "timeout"}
	switch {
	case reason == "" && failed != "":
		return "error"
	case reason == "":
		return "completed"
	case !slices.Contains(known, reason):
		luavm.Raise(L, "%s: stop_reason is %s, not %q%s", where, strings.Join(known, ", "), reason, suggest.Hint(reason, known))
	}
	return reason
}

// noAgents is what pi.agent says in a test.
func noAgents(function string) lua.LGFunction {
	return func(L *lua.LState) int {
		luavm.Raise(L, "agent.%s: a test uses no agents; its hooks do, and t.agent plays them", function)
		return 0
	}
}
