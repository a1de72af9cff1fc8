package hooktest

import (
	"context"
	"slices"
	"strings"

	"pi/agent"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// ofWork are the functions that make something happen.
func (f *file) ofWork() functions {
	return functions{"prompt": f.prompt, "command": f.command, "tool": f.tool}
}

// prompt is t.prompt(text, attachments?) → the last answer, or nil and how the run failed.
// It returns when nothing is left to do.
func (f *file) prompt(L *lua.LState, text string, attachments lua.LValue) (*string, error) {
	s := f.open(L, "prompt")
	blocks := f.blocks(L, s, attachments)
	var answer *string
	err := f.wait(L, "prompt", func(ctx context.Context, s *scene) error {
		err := s.stage.submit(ctx, text, blocks)
		answer = s.stage.lastAnswer()
		return err
	})
	return answer, err
}

// lastAnswer is the text of the newest answer of the session; nil if there is none.
func (s *stage) lastAnswer() *string {
	for _, e := range slices.Backward(s.run.Session().Branch()) {
		if m := e.Message(); m != nil && m.Role == message.RoleAssistant {
			text := m.Text()
			return &text
		}
	}
	return nil
}

// command is t.command("/name args") → what it showed, or nil and how it failed.
func (f *file) command(L *lua.LState, line string) (string, error) {
	if !strings.HasPrefix(line, "/") {
		luavm.Raise(L, "t.command: a command begins with /, and %q does not; t.prompt sends a text", line)
	}
	s := f.open(L, "command")
	before := len(s.stage.witness.seen())
	err := f.wait(L, "command", func(ctx context.Context, s *scene) error { return s.stage.submit(ctx, line, nil) })
	return strings.Join(s.stage.witness.seen()[before:], "\n"), err
}

// tool is t.tool(name, input?) → {text, content, details, is_error}: a call that passes the
// gates, without a model.
func (f *file) tool(L *lua.LState, name string, input lua.LValue) lua.LValue {
	f.open(L, "tool")
	arguments := arguments(L, f.records, name, input)
	var result agent.Result
	_ = f.wait(L, "tool", func(ctx context.Context, s *scene) error {
		result = s.stage.run.Agent().CallTool(ctx, name, arguments)
		return s.stage.finish(ctx)
	})
	t := luavm.NewRecord(L, 4)
	luavm.Set(t, "text", lua.LString(textOf(result)))
	luavm.Set(t, "content", f.records.Blocks(L, result.Content))
	luavm.Set(t, "details", f.records.Details(name, result.Details))
	luavm.Set(t, "is_error", lua.LBool(result.IsError))
	return t
}
