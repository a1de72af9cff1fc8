package hooktest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	lua "github.com/yuin/gopher-lua"

	"pi/agent/mcp"
	"pi/internal/suggest"
	"pi/luavm"
	"pi/session/message"
	"pi/stdlib"
)

// servers are the functions that play MCP servers.
func (f *file) servers() functions {
	return functions{"mcp": f.playServer, "mcp_calls": f.serverCalls}
}

// playServer is t.mcp{name =, tools =, …}: a server of the case. Of a name that is played already it
// is another version, which a run that is open learns of before the function returns.
func (f *file) playServer(L *lua.LState, options *lua.LTable) {
	s := f.current(L, "mcp")
	script := f.readServer(L, options)
	played := s.stage.servers.find(script.entry.Name)
	if played == nil {
		f.setUp(L, "mcp")
		s.stage.servers.add(script)
		return
	}
	played.become(script)
	if s.stage.run == nil {
		return
	}
	err := f.wait(L, "mcp", func(ctx context.Context, s *scene) error {
		servers := s.stage.run.Servers()
		if _, err := servers.Server(played.name); err != nil { // a hook has not connected to it yet
			return nil
		}
		if err := servers.Relist(ctx, played.name); err != nil {
			return err
		}
		return s.stage.finish(ctx)
	})
	if err != nil {
		luavm.Raise(L, "t.mcp: %v", err)
	}
}

// readServer reads the table of t.mcp. A field that is wrong raises.
func (f *file) readServer(L *lua.LState, t *lua.LTable) (s serverScript) {
	var name, description, exposure string
	var tools, elicit *lua.LTable
	var diesAfter *float64
	var trusted bool
	s.configured, s.diesAfter = true, -1
	luavm.UnpackTable(L, t, "t.mcp", luavm.Opt("name", &name).Required(), luavm.Opt("tools", &tools).Required(), luavm.Opt("description", &description),
		luavm.Opt("exposure", &exposure), luavm.Opt("trust_annotations", &trusted), luavm.Opt("configured", &s.configured),
		luavm.Opt("elicit", &elicit), luavm.Opt("dies_after", &diesAfter))
	if err := mcp.CheckName(name); err != nil {
		luavm.Raise(L, "t.mcp: name: %v", err)
	}
	// What a server is known by is its command, so that it is the same when the program begins again.
	s.entry = mcp.Entry{Name: name, Command: "t.mcp", Args: []string{name}, Description: description, TrustAnnotations: trusted,
		Exposure: readExposure(L, "t.mcp", exposure), Tools: map[string]mcp.Exposure{}, Source: mcp.Source{Kind: mcp.FromUser, Path: f.shown, Line: f.line(L)}}
	for k, v := tools.Next(lua.LNil); k != lua.LNil; k, v = tools.Next(k) {
		tool, ok := k.(lua.LString)
		if !ok {
			luavm.Raise(L, "t.mcp: tools: %s is no name of a tool", k)
		}
		played, exposure := f.readTool(L, "t.mcp: tools."+string(tool), string(tool), v)
		s.tools = append(s.tools, played)
		if exposure != "" {
			s.entry.Tools[string(tool)] = exposure
		}
	}
	slices.SortFunc(s.tools, func(a, b *playedTool) int { return strings.Compare(a.listed.Name, b.listed.Name) })
	if elicit != nil {
		s.questions = f.readQuestions(L, elicit, &s)
	}
	if diesAfter != nil {
		if *diesAfter < 0 || *diesAfter != math.Trunc(*diesAfter) {
			luavm.Raise(L, "t.mcp: dies_after: %v is no number of calls", *diesAfter)
		}
		s.diesAfter = int(min(*diesAfter, math.MaxInt32))
	}
	return s
}

// readExposure reads a field exposure; "" is none.
func readExposure(L *lua.LState, where, text string) mcp.Exposure {
	if text == "" {
		return ""
	}
	x, err := mcp.ParseExposure(text)
	if err != nil {
		luavm.Raise(L, "%s: %v", where, err)
	}
	return x
}

// readTool reads a tool: a function, a result, or a table with what the server says of it.
func (f *file) readTool(L *lua.LState, where, name string, v lua.LValue) (*playedTool, mcp.Exposure) {
	tool := &playedTool{listed: &sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}}
	t, isTable := v.(*lua.LTable)
	if isTable {
		luavm.Materialise(L, t)
	}
	if !isTable || isResult(t) {
		f.readRun(L, where, tool, v)
		return tool, ""
	}
	var exposure string
	var parameters, annotations *lua.LTable
	var run lua.LValue = lua.LNil
	luavm.UnpackTable(L, t, where, luavm.Opt("description", &tool.listed.Description), luavm.Opt("title", &tool.listed.Title), luavm.Opt("parameters", &parameters),
		luavm.Opt("annotations", &annotations), luavm.Opt("exposure", &exposure), luavm.Opt("run", &run))
	if parameters != nil {
		tool.listed.InputSchema = f.readSchema(L, where+": parameters", parameters)
	}
	if annotations != nil {
		tool.listed.Annotations = &sdk.ToolAnnotations{}
		luavm.UnpackTable(L, annotations, where+": annotations", luavm.Opt("read_only", &tool.listed.Annotations.ReadOnlyHint),
			luavm.Opt("destructive", &tool.listed.Annotations.DestructiveHint), luavm.Opt("open_world", &tool.listed.Annotations.OpenWorldHint))
	}
	tool.result = &sdk.CallToolResult{Content: []sdk.Content{}}
	if run != lua.LNil {
		f.readRun(L, where+": run", tool, run)
	}
	return tool, readExposure(L, where, exposure)
}

// isResult reports whether a table is a result, and no tool.
func isResult(t *lua.LTable) bool {
	return slices.ContainsFunc([]string{"content", "structured", "is_error"}, func(name string) bool { return t.RawGetString(name) != lua.LNil })
}

// readRun reads what a call of a tool gives: a function, or a result.
func (f *file) readRun(L *lua.LState, where string, tool *playedTool, v lua.LValue) {
	if fn, ok := v.(*lua.LFunction); ok {
		tool.function = fn
		return
	}
	result, err := f.readResult(L, where, v)
	if err != nil {
		luavm.Raise(L, "%s: %v", where, err)
	}
	tool.result = result
}

// readSchema reads a JSON Schema of an object.
func (f *file) readSchema(L *lua.LState, where string, t *lua.LTable) (schema map[string]any) {
	if wrong := stdlib.WrongParameters(L, t); wrong != "" {
		luavm.Raise(L, "%s: %s", where, wrong)
	}
	raw, err := f.records.Encode(t, where)
	if err == nil {
		err = json.Unmarshal(raw, &schema)
	}
	if err != nil {
		luavm.Raise(L, "%v", err)
	}
	schema["type"] = "object"
	return schema
}

// readResult reads a result: a text, or {content =, structured =, is_error =}.
func (f *file) readResult(L *lua.LState, where string, v lua.LValue) (*sdk.CallToolResult, error) {
	var content, structured lua.LValue = lua.LNil, lua.LNil
	r := &sdk.CallToolResult{Content: []sdk.Content{}}
	switch v := v.(type) {
	case lua.LString:
		content = v
	case *lua.LTable:
		luavm.UnpackTable(L, v, where, luavm.Opt("content", &content), luavm.Opt("structured", &structured), luavm.Opt("is_error", &r.IsError))
	default:
		return nil, fmt.Errorf("a result is a text or a table such as { content = \"…\" }, not a %s", v.Type())
	}
	if content != lua.LNil {
		blocks, err := f.records.Content(L, content, "content")
		if err != nil {
			return nil, err
		}
		for i := range blocks {
			block, err := contentOf(&blocks[i])
			if err != nil {
				return nil, fmt.Errorf("content[%d]: %w", i+1, err)
			}
			r.Content = append(r.Content, block)
		}
	}
	if structured != lua.LNil {
		raw, err := f.records.Encode(structured, "structured")
		if err != nil {
			return nil, err
		}
		r.StructuredContent = raw
	}
	return r, nil
}

// contentOf is a block as a server sends it.
func contentOf(b *message.Block) (sdk.Content, error) {
	switch b.Type {
	case message.BlockText:
		return &sdk.TextContent{Text: b.Text}, nil
	case message.BlockImage:
		data, err := base64.StdEncoding.DecodeString(b.Data)
		return &sdk.ImageContent{Data: data, MIMEType: b.MimeType}, err
	}
	return nil, fmt.Errorf("a result has text and images, not a block of the type %q", b.Type)
}

// readQuestions reads what a server asks, by the tools in whose calls it does.
func (f *file) readQuestions(L *lua.LState, elicit *lua.LTable, s *serverScript) map[string][]*sdk.ElicitParams {
	questions := map[string][]*sdk.ElicitParams{}
	for k, v := elicit.Next(lua.LNil); k != lua.LNil; k, v = elicit.Next(k) {
		where := "t.mcp: elicit." + k.String()
		if name, ok := k.(lua.LString); !ok || s.tool(string(name)) == nil {
			var names []string
			for _, t := range s.tools {
				names = append(names, t.listed.Name)
			}
			luavm.Raise(L, "%s: the server has no such tool%s", where, suggest.Hint(k.String(), names))
		}
		list, isTable := v.(*lua.LTable)
		if isTable {
			luavm.Materialise(L, list)
		}
		if !isTable || list.Len() == 0 {
			questions[k.String()] = []*sdk.ElicitParams{f.readQuestion(L, where, v)}
			continue
		}
		for i := 1; i <= list.Len(); i++ {
			questions[k.String()] = append(questions[k.String()], f.readQuestion(L, fmt.Sprintf("%s[%d]", where, i), list.RawGetInt(i)))
		}
	}
	return questions
}

// readQuestion reads a question: a text, or {message =, schema = or url =}.
func (f *file) readQuestion(L *lua.LState, where string, v lua.LValue) *sdk.ElicitParams {
	q := &sdk.ElicitParams{Mode: "form", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}
	switch v := v.(type) {
	case lua.LString:
		q.Message = string(v)
	case *lua.LTable:
		var schema *lua.LTable
		luavm.UnpackTable(L, v, where, luavm.Opt("message", &q.Message).Required(), luavm.Opt("schema", &schema), luavm.Opt("url", &q.URL))
		switch {
		case schema != nil && q.URL != "":
			luavm.Raise(L, "%s: a question has a schema or a url", where)
		case schema != nil:
			q.RequestedSchema = f.readSchema(L, where+": schema", schema)
		case q.URL != "":
			q.Mode, q.RequestedSchema, q.ElicitationID = "url", nil, "1"
		}
	default:
		luavm.Raise(L, "%s: a question is a text or a table, not a %s", where, v.Type())
	}
	return q
}

// serverResult calls the function of a tool for a server. One that raises, or returns what is no
// result, fails the case.
func (s *scene) serverResult(ctx context.Context, tool *playedTool, c serverCall) (result *sdk.CallToolResult) {
	err := s.job(ctx, "mcp "+c.server+"/"+c.tool, func(L *lua.LState) (err error) {
		L.Push(tool.function)
		L.Push(s.file.records.JSON(c.input))
		L.Push(s.file.callTable(L, c))
		L.Call(2, 2)
		v, message := L.Get(-2), L.Get(-1)
		L.Pop(2)
		if text, failed := message.(lua.LString); failed && v == lua.LNil {
			result = failedResult(string(text))
			return nil
		}
		result, err = s.file.readResult(L, "the result", v)
		return err
	})
	if err != nil {
		return failedResult(err.Error())
	}
	return result
}

// failedResult is the result of a call that failed.
func failedResult(why string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: why}}, IsError: true}
}

// serverCalls is t.mcp_calls(server?) → the calls that reached it so far: {server, tool, input, answers}.
func (f *file) serverCalls(L *lua.LState, server *string) lua.LValue {
	servers, of := &f.current(L, "mcp_calls").stage.servers, ""
	if server != nil {
		if of = *server; servers.find(of) == nil {
			luavm.Raise(L, "t.mcp_calls: no server %q is played%s", of, suggest.Hint(of, servers.names()))
		}
	}
	calls := servers.called(of)
	return luavm.NewList(L, len(calls), func(i int) lua.LValue {
		t := f.callTable(L, calls[i])
		luavm.Set(t, "input", f.records.JSON(calls[i].input))
		return t
	})
}

// callTable is what a test is told of a call beside its arguments: {server, tool, answers}.
func (f *file) callTable(L *lua.LState, c serverCall) *lua.LTable {
	t := luavm.NewRecord(L, 4)
	luavm.Set(t, "server", lua.LString(c.server))
	luavm.Set(t, "tool", lua.LString(c.tool))
	luavm.Set(t, "answers", luavm.NewList(L, len(c.answers), func(i int) lua.LValue {
		a := luavm.NewRecord(L, 2)
		luavm.Set(a, "action", lua.LString(c.answers[i].Action))
		if raw, err := json.Marshal(c.answers[i].Content); err == nil && len(c.answers[i].Content) > 0 {
			luavm.Set(a, "values", f.records.JSON(raw))
		}
		return a
	}))
	return t
}
