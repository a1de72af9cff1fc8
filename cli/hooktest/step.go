package hooktest

import (
	"encoding/json"
	"errors"
	"net/http"

	"pi/agent/llm"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// step is one answer of the scripted model.
type step struct {
	text, thinking string
	calls          []stepCall
	err            string // the request fails with this, behind what is said before
	status         int    // of HTTP, with err
	overflow       bool   // the error says that the context is too large
	stop           string // "": as the answer has calls or not
	usage          stepUsage
	function       *lua.LFunction // makes the step of the request; the rest is empty then
}

// stepCall is a tool call of a step.
type stepCall struct {
	id, tool string
	input    json.RawMessage
}

// stepUsage is what a step says of its tokens; nil: they are estimated.
type stepUsage struct{ input, output *int }

// orEstimate returns the usage of an answer to r, by the length of the texts where the step
// does not say.
func (u stepUsage) orEstimate(r *llm.Request, s step) *message.Usage {
	input, output := len(r.System)/4, (len(s.text)+len(s.thinking))/4+1
	for _, m := range r.Messages {
		input += len(m.Text())/4 + 1
	}
	if u.input != nil {
		input = *u.input
	}
	if u.output != nil {
		output = *u.output
	}
	return &message.Usage{Input: input, Output: output, TotalTokens: input + output}
}

// httpStatus is that of the answer; 0 for a request that fails without one.
func (s step) httpStatus() int {
	if s.err == "" {
		return http.StatusOK
	}
	return s.status
}

// failure is the error of a step that fails. Statuses that may pass are tried again, as they
// are of a server.
func (s step) failure() error {
	e := &llm.ProviderError{Provider: "test", Message: s.err, Status: s.status, Err: errors.New(s.err)}
	e.Overflow = s.overflow
	e.Retryable = s.status == 408 || s.status == 429 || s.status >= 500
	return e
}

// readStep reads a step of t.model, or what a function of one returned.
func readStep(L *lua.LState, records *record.Converter, v lua.LValue, function string) step {
	switch v := v.(type) {
	case lua.LString:
		return step{text: string(v)}
	case *lua.LFunction:
		return step{function: v}
	case *lua.LTable:
		return readStepTable(L, records, v, function)
	}
	luavm.Raise(L, "%s: a step is a text, a table or a function, not a %s", function, v.Type())
	return step{}
}

func readStepTable(L *lua.LState, records *record.Converter, t *lua.LTable, function string) (s step) {
	var tool, id string
	var input lua.LValue = lua.LNil
	var calls *lua.LTable
	luavm.UnpackTable(L, t, function, luavm.Opt("text", &s.text), luavm.Opt("thinking", &s.thinking), luavm.Opt("tool", &tool),
		luavm.Opt("input", &input), luavm.Opt("id", &id), luavm.Opt("calls", &calls), luavm.Opt("error", &s.err), luavm.Opt("status", &s.status),
		luavm.Opt("overflow", &s.overflow), luavm.Opt("stop", &s.stop), luavm.Opt("input_tokens", &s.usage.input), luavm.Opt("output_tokens", &s.usage.output))
	if tool != "" {
		s.calls = append(s.calls, stepCall{id, tool, arguments(L, records, tool, input)})
	} else if input != lua.LNil {
		luavm.Raise(L, "%s: a step with input needs a tool", function)
	}
	if s.status != 0 && s.err == "" {
		luavm.Raise(L, "%s: a step with status needs an error", function)
	}
	if calls == nil {
		return s
	}
	luavm.Materialise(L, calls)
	for i := 1; i <= calls.Len(); i++ {
		one, ok := calls.RawGetInt(i).(*lua.LTable)
		if !ok {
			luavm.Raise(L, "%s: call %d must be a table such as { tool = \"bash\", input = { … } }, not a %s", function, i, calls.RawGetInt(i).Type())
		}
		var tool, id string
		var input lua.LValue = lua.LNil
		luavm.UnpackTable(L, one, function, luavm.Opt("tool", &tool).Required(), luavm.Opt("input", &input), luavm.Opt("id", &id))
		s.calls = append(s.calls, stepCall{id, tool, arguments(L, records, tool, input)})
	}
	return s
}

// arguments are the arguments of a tool call as a model sends them: a table, with the names
// that hooks see, or a text that need not be JSON.
func arguments(L *lua.LState, records *record.Converter, tool string, v lua.LValue) json.RawMessage {
	switch v := v.(type) {
	case lua.LString:
		return json.RawMessage(v)
	case *lua.LNilType:
		return json.RawMessage("{}")
	case *lua.LTable:
		luavm.Materialise(L, v)
		if first, _ := v.Next(lua.LNil); first == lua.LNil {
			return json.RawMessage("{}")
		}
	default:
		luavm.Raise(L, "the input of %s must be a table, not a %s", tool, v.Type())
	}
	raw, err := records.InputFrom(tool, v)
	if err != nil {
		luavm.Raise(L, "the input of %s: %v", tool, err)
	}
	return raw
}
