package event

import (
	"encoding/json"
	"errors"
	"strings"

	"pi/agent"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

func toolEvents() []Spec {
	return []Spec{
		asking(Spec{About: "The model wants a tool to run. An error of a handler blocks the call.",
			Clock: luavm.CountedLua, lazy: true, Rule: "in chain order until the first block; after a rewrite of input earlier handlers are asked again, and only a block of theirs counts; an error blocks"},
			func(p *payload, e *agent.ToolCall) {
				p.text("tool_name", e.Name)
				p.text("tool_call_id", e.ID)
				p.input("input", e.Name, e.Input).about("what the tool is called with, as rewritten so far")
				p.annotations(e.Annotations).about("what the tool says of what it does")
				p.serverCall(e.Server).about("the server that the tool is of; nil: it is of none")
				p.agent()
			}, readToolCall),
		asking(Spec{About: "A tool has run. Not for calls that were blocked.",
			lazy: true, Rule: "chained field by field; a failing handler leaves the result as it was"},
			func(p *payload, e *agent.ToolResult) {
				p.text("tool_name", e.Name)
				p.text("tool_call_id", e.ID)
				p.input("input", e.Name, e.Input).about("what it ran with")
				p.blocks("content", e.Result.Content).about("what the model will read")
				p.details(e.Name, e.Result.Details).about("for people and hooks; of the program's tools see `pi.BashDetails` and its neighbours")
				p.flag("is_error", e.Result.IsError)
				p.usage(e.Result.Usage).about("of a tool that asked a model")
				p.agent()
			}, readToolResult),
		telling(Spec{About: "A call begins; for each, also one that is blocked.",
			Rule: toldWithGrace, Wait: Graceful, lazy: true}, func(p *payload, e *agent.ToolExecutionStart) {
			p.call(e.ID, e.Name, e.Input)
		}),
		telling(Spec{About: "A tool tells how far it has come.",
			Rule: toldWithGrace, Wait: Graceful, lazy: true}, func(p *payload, e *agent.ToolExecutionUpdate) {
			p.call(e.ID, e.Name, e.Input)
			p.output("partial_result", e.Name, &e.Partial)
		}),
		telling(Spec{About: "A call has ended; for each, with `is_error` where nothing ran.",
			Rule: toldWithGrace, Wait: Graceful, lazy: true}, func(p *payload, e *agent.ToolExecutionEnd) {
			p.call(e.ID, e.Name, e.Input)
			p.output("result", e.Name, &e.Result)
			p.flag("is_error", e.Result.IsError)
			p.integer("duration_ms", int(e.Took.Milliseconds())).about("how long the tool has run, without the time in which it waited for an answer of the user; 0 where nothing ran")
		}),
		// A hook that answers for a command often runs it elsewhere, and that may
		// take long.
		asking(Spec{About: "The user runs a command with `!`. An error of a handler blocks it. After a rewrite the handlers before it are asked again.",
			Clock: luavm.CountedLua, Rule: "command is chained, and earlier handlers are asked again after it; the first result counts, and nothing runs; an error blocks"},
			func(p *payload, e *agent.UserBash) {
				p.text("command", e.Command)
				p.flag("exclude_from_context", e.ExcludeFromContext).about("the model will not see it (`!!`)")
				p.text("cwd", e.Cwd)
				p.agent()
			}, readUserBash),
		asking(Spec{About: "A shell is about to run a command, of the model or the user, that passed the gates. An error of a handler blocks it.",
			Clock: luavm.CountedLua, Rule: "the last wrap counts; an error blocks"},
			func(p *payload, e *agent.ShellCommand) {
				p.text("command", e.Command)
				p.text("cwd", e.Cwd)
				p.text("source", e.Source).about("`tool` or `user`")
				p.agent()
			}, readShell),
	}
}

// annotations adds the field annotations, what a tool says of what it does.
func (p *payload) annotations(a agent.Annotations) *payload {
	return p.record("annotations", "pi.Annotations", func() {
		p.flag("read_only", a.ReadOnly)
		p.flag("destructive", a.Destructive)
		p.flag("open_world", a.OpenWorld)
		p.optional("kind", a.Kind)
		p.flag("claimed", a.Claimed)
	})
}

// serverCall adds the field mcp, of which server a tool is; nil: of none.
func (p *payload) serverCall(c *agent.ServerCall) *payload {
	return p.value("mcp", "pi.McpCall?", func() lua.LValue {
		if c == nil {
			return lua.LNil
		}
		t := luavm.NewRecord(p.L, 4)
		luavm.SetText(t, "server", c.Server)
		luavm.SetText(t, "tool", c.Tool)
		luavm.SetText(t, "via", string(c.Via))
		luavm.SetText(t, "definition", c.Definition)
		return t
	})
}

// call gives p the fields that the events of a running tool call have in common.
func (p *payload) call(id, tool string, input json.RawMessage) {
	p.text("tool_call_id", id)
	p.text("tool_name", tool)
	p.input("args", tool, input)
}

// output is the result of a tool, in the form in which a hook's tool returns it.
func (p *payload) output(name, tool string, r *agent.Result) {
	p.record(name, "pi.ToolResult", func() {
		p.blocks("content", r.Content)
		p.details(tool, r.Details)
		p.flag("is_error", r.IsError)
		p.usage(r.Usage)
		if r.Terminate {
			p.flag("terminate", true)
		}
	})
}

func (p *payload) details(tool string, raw json.RawMessage) *payload {
	return p.value("details", "any", func() lua.LValue { return p.src.records.Details(tool, raw) })
}

// usage adds the field usage, what a tool used itself; nil if it did not say.
func (p *payload) usage(u *message.Usage) *payload {
	return p.value("usage", "pi.Usage?", func() lua.LValue {
		if u == nil {
			return lua.LNil
		}
		return record.Usage(p.L, u)
	})
}

// errReasonAlone is what is wrong with a result of tool_call that only says why: who wrote it
// meant to block, and a gate that fails open is no gate.
var errReasonAlone = errors.New("reason says why a call is blocked: return block = true with it")

// readToolCall reads what a handler of tool_call returned: block, which no later handler can
// undo, or new arguments and text to add to the context. It checks all keys, also those
// that a block makes useless.
func readToolCall(r *result, e *agent.ToolCall) {
	block, reason := r.flag("block", "it does not run"), r.text("reason", "with `block`: what the model is told; without it an error, since who says why means to block")
	if r.Has("reason") && !r.Has("block") {
		r.FailWith(&record.FieldError{Field: "reason", Err: errReasonAlone})
	}
	var input json.RawMessage
	if given := r.value("input", "table?", "runs with this instead; handlers before this one are asked again"); given != lua.LNil {
		var err error
		input, err = r.src.records.InputFrom(e.Name, given)
		r.FailWith(err)
	}
	context, adds := r.text("additional_context", "added to what the tool gives back"), r.Has("additional_context")
	terminate := r.flag("terminate", "with `block`: end the run, if every call of the answer says so")
	r.stop = block
	r.then(func() {
		if block {
			e.Block, e.Reason, e.BlockedBy, e.Terminate = true, reason, r.src.hook, terminate
			return
		}
		if input != nil {
			e.Input, e.RewrittenBy = input, r.src.hook
		}
		if adds {
			e.AdditionalContext = append(e.AdditionalContext, context)
		}
	})
}

// readToolResult reads what a handler of tool_result returned: each key that is given
// replaces that field of the tool's result.
func readToolResult(r *result, e *agent.ToolResult) {
	if r.has("content", "string|pi.Block[]?", "instead") {
		blocks, _ := r.Content("content")
		r.then(func() { e.Result.Content = blocks })
	}
	if v := r.value("details", "any", "instead"); v != lua.LNil {
		raw, err := r.src.records.DetailsFrom(e.Name, v)
		r.FailWith(err)
		r.then(func() { e.Result.Details = raw })
	}
	if isError := r.flag("is_error", "instead"); r.Has("is_error") {
		r.then(func() { e.Result.IsError = isError })
	}
	switch v := r.value("usage", "pi.Usage?", "instead").(type) {
	case *lua.LNilType:
	case *lua.LTable:
		usage := record.UsageFrom(r.L, v)
		r.then(func() { e.Result.Usage = usage })
	default:
		r.Fail("usage", "expected a table, got %s", v.Type())
	}
	if terminate := r.flag("terminate", "end the run, if every call of the answer says so"); r.Has("terminate") {
		r.then(func() { e.Result.Terminate = terminate })
	}
}

// readUserBash reads what a handler of user_bash returned: a command in the place of the
// one it saw, or a result that stands for it, which then does not run, and no later handler
// is asked. It checks both keys, also the command that a result makes useless.
func readUserBash(r *result, e *agent.UserBash) {
	command := r.text("command", "runs in its place")
	if r.Has("command") && strings.TrimSpace(command) == "" {
		r.Fail("command", "it is empty; to run nothing, return a result")
	}
	given, ok := r.record("result", "pi.BashResult?", "counts as what came of it; nothing runs", "output", "exit_code", "cancelled", "truncated")
	if !ok {
		if r.Has("command") {
			r.then(func() { e.Command = command })
		}
		return
	}
	if !given.Has("output") {
		given.Fail("output", "it is missing")
	}
	outcome := &agent.BashOutcome{Output: given.Text("output"), Cancelled: given.Flag("cancelled"), Truncated: given.Flag("truncated")}
	if given.Has("exit_code") {
		code := given.Integer("exit_code")
		outcome.ExitCode = &code
	}
	r.stop = true
	r.then(func() { e.Result = outcome })
}

// readShell reads what a handler of shell returned: the program that the command is handed to,
// with the arguments before it.
func readShell(r *result, e *agent.ShellCommand) {
	if !r.has("wrap", "string[]?", "a program and its arguments: it gets the command as one more, verbatim, in the place of `bash -c`") {
		return
	}
	wrap := r.Texts("wrap")
	if len(wrap) == 0 || wrap[0] == "" {
		r.Fail("wrap", "it names no program")
	}
	for _, word := range wrap {
		if strings.IndexByte(word, 0) >= 0 {
			r.Fail("wrap", "a word holds a NUL byte")
		}
	}
	r.then(func() { e.Wrap = wrap })
}
