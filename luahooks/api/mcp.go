package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"pi/agent"
	"pi/agent/mcp"
	"pi/internal/child"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Servers are the MCP servers of a session, as hooks come to them.
type Servers interface {
	// List tells of all, without starting one.
	List() []mcp.Status
	// Client returns a client of a server of the session.
	Client(name string) (*mcp.Client, error)
	// Put makes a server one of the session's, or one that its client alone uses.
	Put(e mcp.Entry) (*mcp.Client, error)
	// Entry reads what a hook says of a server, which is as it stands in mcp.json. The error
	// names what is wrong in it.
	Entry(hook HookInfo, name string, text json.RawMessage) (mcp.Entry, error)
}

// servers is pi.mcp. Servers that a hook has put there end with its VM.
type servers struct {
	*bridge

	mu   sync.Mutex // guards what follows
	over bool       // the VM has ended
	own  []*mcp.Client
}

// functions are those of the module, for [stdlib.Env].
func (s *servers) functions() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{"servers": s.vm.Func("mcp.servers", s.list).GFunction, "connect": s.connect, "add": s.add}
}

// mustHave returns the servers of the session, or an error where there can be none. It raises
// where nothing of a session works.
func (s *servers) mustHave(L *lua.LState, function string) (Servers, error) {
	s.mustHost(L, function)
	if s.Servers != nil {
		if all := s.Servers(); all != nil {
			return all, nil
		}
	}
	return nil, errors.New("there are no MCP servers here")
}

// list is mcp.servers(): what is known of each, without starting one.
func (s *servers) list(L *lua.LState) *lua.LTable {
	var known []mcp.Status
	if all, err := s.mustHave(L, "mcp.servers"); err == nil {
		known = all.List()
	}
	list := luavm.NewList(L, len(known), func(i int) lua.LValue { return statusTable(L, &known[i]) })
	luavm.MarkList(list)
	return list
}

// statusTable is what can be told of a server, for Lua.
func statusTable(L *lua.LState, s *mcp.Status) *lua.LTable {
	t := luavm.NewRecord(L, 13)
	luavm.Set(t, "name", lua.LString(s.Entry.Name))
	luavm.Set(t, "state", lua.LString(s.State))
	luavm.Set(t, "source", lua.LString(s.Entry.Source.Kind))
	luavm.SetText(t, "path", s.Entry.Source.Path)
	luavm.SetText(t, "description", s.Description)
	luavm.Set(t, "private", lua.LBool(s.Entry.Private))
	luavm.Set(t, "known", lua.LBool(s.Known))
	luavm.Set(t, "tools", lua.LNumber(s.Tools))
	luavm.Set(t, "resources", lua.LNumber(s.Resources))
	luavm.Set(t, "prompts", lua.LNumber(s.Prompts))
	luavm.Set(t, "direct", lua.LNumber(s.Direct))
	luavm.SetText(t, "version", s.Version)
	if s.Err != nil {
		luavm.Set(t, "error", lua.LString(s.Err.Error()))
	}
	return t
}

// connect is mcp.connect{name, command or url, …} → client, or nil and a message: a server that
// this hook alone uses. With nothing but a name it is a server of the session.
func (s *servers) connect(L *lua.LState) int {
	var name string
	fields := serverFields(L, 1, "mcp.connect", luavm.Opt("name", &name).Required())
	all, err := s.mustHave(L, "mcp.connect")
	if err != nil {
		return pushResult(L, nil, err)
	}
	if len(fields) == 0 {
		c, err := all.Client(name)
		return s.pushClient(L, &client{servers: s, server: c}, err)
	}
	return s.put(L, "mcp.connect", all, name, fields, true)
}

// add is mcp.add(name, entry) → client, or nil and a message: a server that becomes one of the
// session's, whose tools the model finds.
func (s *servers) add(L *lua.LState) int {
	name := L.CheckString(1)
	L.CheckTable(2)
	fields := serverFields(L, 2, "mcp.add")
	all, err := s.mustHave(L, "mcp.add")
	if err != nil {
		return pushResult(L, nil, err)
	}
	return s.put(L, "mcp.add", all, name, fields, false)
}

// serverFields reads the table of a server at argument n, as mcp.json has its fields; wrong ones
// raise. more are fields that are no part of that.
func serverFields(L *lua.LState, n int, function string, more ...luavm.Option) map[string]any {
	var command, cwd, url, kind, description, exposure, protocol *string
	var timeout, maxTimeout *float64
	var args []string
	var env, headers, tools map[string]string
	var oauth *lua.LTable
	var enabled *bool
	luavm.Unpack(L, n, function, append(more, luavm.Opt("command", &command), luavm.Opt("args", &args), luavm.Opt("env", &env), luavm.Opt("cwd", &cwd),
		luavm.Opt("url", &url), luavm.Opt("headers", &headers), luavm.Opt("type", &kind), luavm.Opt("description", &description),
		luavm.Opt("exposure", &exposure), luavm.Opt("tools", &tools), luavm.Opt("timeout", &timeout), luavm.Opt("max_timeout", &maxTimeout),
		luavm.Opt("protocol", &protocol), luavm.Opt("enabled", &enabled), luavm.Opt("oauth", &oauth))...)
	fields := map[string]any{}
	for name, text := range map[string]*string{"command": command, "cwd": cwd, "url": url, "type": kind, "description": description, "exposure": exposure, "protocol": protocol} {
		setGiven(fields, name, text)
	}
	setGiven(fields, "timeout", timeout)
	setGiven(fields, "max_timeout", maxTimeout)
	setGiven(fields, "enabled", enabled)
	if args != nil {
		fields["args"] = args
	}
	for name, values := range map[string]map[string]string{"env": env, "headers": headers, "tools": tools} {
		if values != nil {
			fields[name] = values
		}
	}
	if oauth != nil {
		fields["oauth"] = oauthFields(L, oauth, function)
	}
	return fields
}

// setGiven sets a field that was given.
func setGiven[T any](fields map[string]any, name string, value *T) {
	if value != nil {
		fields[name] = *value
	}
}

// oauthFields reads how somebody signs in to a server.
func oauthFields(L *lua.LState, t *lua.LTable, function string) map[string]any {
	var id, secret, metadata *string
	var scopes []string
	var port *int
	luavm.UnpackTable(L, t, function+": oauth", luavm.Opt("client_id", &id), luavm.Opt("client_secret", &secret),
		luavm.Opt("client_metadata_url", &metadata), luavm.Opt("scopes", &scopes), luavm.Opt("port", &port))
	fields := map[string]any{}
	setGiven(fields, "clientId", id)
	setGiven(fields, "clientSecret", secret)
	setGiven(fields, "clientMetadataUrl", metadata)
	setGiven(fields, "port", port)
	if scopes != nil {
		fields["scopes"] = scopes
	}
	return fields
}

// put puts a server of this hook there, and pushes its client. What is wrong with its fields is
// misuse; that there is one of its name is not.
func (s *servers) put(L *lua.LState, function string, all Servers, name string, fields map[string]any, private bool) int {
	text, err := json.Marshal(fields)
	must(L, function, err)
	e, err := all.Entry(s.Hook, name, text)
	must(L, function, err)
	e.Private = private
	c, err := s.keep(all, e)
	if err == nil && !private {
		s.Tools.Apply(s.Hook.Name)
	}
	return s.pushClient(L, &client{servers: s, server: c, isShared: !private}, err)
}

// keep puts a server there and notes that it ends with the VM, unless that has ended already.
func (s *servers) keep(all Servers, e mcp.Entry) (*mcp.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, errors.New("this version of the hook has ended")
	}
	c, err := all.Put(e)
	if err == nil {
		s.own = append(s.own, c)
	}
	return c, err
}

// end takes the servers of the hook out of the session, and lets no others in. The function that
// it returns has to be called, and returns when they have ended.
func (s *servers) end() (wait func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	var leaving []func()
	for _, c := range s.own {
		leaving = append(leaving, c.Leave())
	}
	s.own = nil
	return func() {
		var ends sync.WaitGroup
		for _, end := range leaving {
			ends.Go(end)
		}
		ends.Wait()
	}
}

// client is a server as a hook has it.
type client struct {
	*servers
	server   *mcp.Client
	isShared bool // the hook has made it one of the session's
	isShut   bool // only while the VM is held
}

// pushClient pushes the table of a client, or nil and why there is none.
func (s *servers) pushClient(L *lua.LState, c *client, err error) int {
	if err != nil {
		return pushResult(L, nil, err)
	}
	L.Push(s.newTable("the server", func() []part {
		return []part{{"name": lua.LString(c.server.Name()), "tools": c.tools, "call": c.call, "resources": c.resources, "read": c.read, "prompts": c.prompts, "prompt": c.prompt, "close": c.shut}}
	}))
	return 1
}

var errShut = errors.New("this client is closed")

// waitOpen is wait for a client that is not closed.
func (c *client) waitOpen(L *lua.LState, function string, f func(ctx context.Context) error) error {
	c.mustHost(L, function)
	if c.isShut {
		return errShut
	}
	return c.wait(L, function, f)
}

// shut is client.close(): the server ends if this hook has put it there.
func (c *client) shut(L *lua.LState) int {
	c.mustHost(L, "close")
	if !c.isShut {
		c.isShut = true
		end, ended := c.leave(), make(chan struct{})
		if !c.Spawn(func(context.Context) { end(); close(ended) }) { // it ends also if nobody waits
			end()
			close(ended)
		}
		_ = c.wait(L, "close", func(ctx context.Context) error {
			select {
			case <-ended:
			case <-ctx.Done():
			}
			return nil
		})
	}
	L.Push(lua.LTrue)
	return 1
}

// leave takes the server out of the session if the hook has put it there. end has to be called.
func (c *client) leave() (end func()) {
	c.mu.Lock()
	c.own = slices.DeleteFunc(c.own, func(have *mcp.Client) bool { return have == c.server })
	c.mu.Unlock()
	end = c.server.Leave()
	if c.isShared {
		c.Tools.Apply(c.Hook.Name)
	}
	return end
}

// tools is client.tools() → list, or nil and a message.
func (c *client) tools(L *lua.LState) int {
	var all []mcp.Tool
	err := c.waitOpen(L, "tools", func(ctx context.Context) (err error) {
		all, err = c.server.Tools(ctx)
		return err
	})
	return c.pushList(L, len(all), err, func(i int) lua.LValue {
		tool, t := &all[i], luavm.NewRecord(L, 8)
		luavm.Set(t, "name", lua.LString(tool.Tool))
		luavm.Set(t, "tool_name", lua.LString(tool.Name))
		luavm.SetText(t, "title", tool.Title)
		luavm.Set(t, "description", lua.LString(tool.Description))
		luavm.Set(t, "parameters", c.records.JSON(tool.Schema))
		luavm.Set(t, "annotations", annotationsTable(L, tool.Claims))
		luavm.Set(t, "exposure", lua.LString(tool.Exposure))
		luavm.Set(t, "definition", lua.LString(tool.Hash))
		return t
	})
}

// resources is client.resources() → list, or nil and a message.
func (c *client) resources(L *lua.LState) int {
	var all []mcp.Resource
	err := c.waitOpen(L, "resources", func(ctx context.Context) (err error) {
		all, err = c.server.Resources(ctx)
		return err
	})
	return c.pushList(L, len(all), err, func(i int) lua.LValue {
		r, t := &all[i], luavm.NewRecord(L, 6)
		luavm.Set(t, "uri", lua.LString(r.URI))
		luavm.Set(t, "name", lua.LString(r.Name))
		luavm.SetText(t, "title", r.Title)
		luavm.SetText(t, "description", r.Description)
		luavm.SetText(t, "mime_type", r.MIMEType)
		luavm.Set(t, "template", lua.LBool(r.Template))
		return t
	})
}

// prompts is client.prompts() → list, or nil and a message.
func (c *client) prompts(L *lua.LState) int {
	var all []mcp.Prompt
	err := c.waitOpen(L, "prompts", func(ctx context.Context) (err error) {
		all, err = c.server.Prompts(ctx)
		return err
	})
	return c.pushList(L, len(all), err, func(i int) lua.LValue {
		p, t := &all[i], luavm.NewRecord(L, 4)
		luavm.Set(t, "name", lua.LString(p.Name))
		luavm.SetText(t, "title", p.Title)
		luavm.SetText(t, "description", p.Description)
		arguments := luavm.NewList(L, len(p.Arguments), func(i int) lua.LValue {
			a := luavm.NewRecord(L, 3)
			luavm.Set(a, "name", lua.LString(p.Arguments[i].Name))
			luavm.SetText(a, "description", p.Arguments[i].Description)
			luavm.Set(a, "required", lua.LBool(p.Arguments[i].Required))
			return a
		})
		luavm.MarkList(arguments)
		luavm.Set(t, "arguments", arguments)
		return t
	})
}

// prompt is client.prompt(name, arguments?) → messages, or nil and a message.
func (c *client) prompt(L *lua.LState) int {
	name := L.CheckString(1)
	arguments := map[string]string{}
	if t := L.OptTable(2, nil); t != nil {
		var ok bool
		if arguments, ok = luavm.StringMap(L, t); !ok {
			luavm.RaiseArg(L, 2, "prompt", "table of texts expected: the arguments by their names")
		}
	}
	var all []mcp.Message
	err := c.waitOpen(L, "prompt", func(ctx context.Context) (err error) {
		all, err = c.server.Prompt(ctx, name, arguments)
		return err
	})
	return c.pushList(L, len(all), err, func(i int) lua.LValue {
		t := luavm.NewRecord(L, 2)
		luavm.Set(t, "role", lua.LString(all[i].Role))
		luavm.Set(t, "content", c.records.Blocks(L, all[i].Content))
		return t
	})
}

// pushList pushes a list of n elements, or nil and why there is none.
func (c *client) pushList(L *lua.LState, n int, err error, element func(i int) lua.LValue) int {
	if err != nil {
		return pushResult(L, nil, err)
	}
	list := luavm.NewList(L, n, element)
	luavm.MarkList(list)
	L.Push(list)
	return 1
}

// read is client.read(uri) → {content, is_error}, or nil and a message. Gates are asked as when
// the model reads it: it is a call of the tool mcp.
func (c *client) read(L *lua.LState) int {
	host, uri := c.mustHost(L, "read"), L.CheckString(1)
	var r agent.Result
	err := c.waitOpen(L, "read", func(ctx context.Context) error {
		if err := cmp.Or(c.Tools.MayCall(mcp.ToolName), c.Tools.MayCall(mcp.AnyOf(c.server.Name()))); err != nil {
			return err
		}
		r = host.CallGiven(ctx, c.server.Reader(), mcp.ReadInput(c.server.Name(), uri))
		return nil
	})
	return c.pushOutcome(L, r, err)
}

// call is client.call(name, arguments?, {timeout, on_progress, signal}) → {content, structured,
// is_error}, or nil and a message when there is no such tool. It passes the same gate as a call
// of the model.
func (c *client) call(L *lua.LState) int {
	host, name := c.mustHost(L, "call"), L.CheckString(1)
	input, err := c.records.InputFrom(name, L.Get(2))
	must(L, "call", err)
	var with mcp.CallOptions
	var signal lua.LValue
	var onProgress *lua.LFunction
	luavm.Unpack(L, 3, "call", luavm.Opt("timeout", &with.Timeout), luavm.Opt("on_progress", &onProgress), luavm.Opt("signal", &signal))
	if with.Timeout < 0 {
		luavm.Raise(L, "call: option \"timeout\" must be positive")
	}
	until := signalOption(L, "call", signal)
	var r agent.Result
	err = c.waitOpen(L, "call", func(ctx context.Context) (err error) {
		ctx, cancel := until.within(ctx)
		defer cancel()
		if err := c.Tools.MayCall(mcp.Name(c.server.Name(), name)); err != nil {
			return err
		}
		r, err = c.follow(ctx, onProgress, func(ctx context.Context, each func(mcp.Progress)) (agent.Result, error) {
			with.Each = each
			tool, err := c.server.Tool(ctx, name, with)
			if err != nil {
				return agent.Result{}, err
			}
			return host.CallGiven(ctx, tool, input), nil
		})
		return err
	})
	if err != nil {
		mustNested(L, "call", err)
	}
	return c.pushOutcome(L, r, err)
}

// errEnough is how a call ends whose on_progress has returned true.
var errEnough = errors.New("given up by on_progress")

// follow makes a call, and hands what its server says of the progress to fn, which may be nil,
// in jobs inside of the one that waits. While fn is busy the newest waits.
func (c *client) follow(ctx context.Context, fn *lua.LFunction, call func(ctx context.Context, each func(mcp.Progress)) (agent.Result, error)) (agent.Result, error) {
	if fn == nil {
		return call(ctx, nil)
	}
	inCall, giveUp := context.WithCancel(ctx)
	defer giveUp()
	news, done := make(chan mcp.Progress, 1), make(chan struct{})
	var r agent.Result
	var failed error
	go func() {
		defer close(done)
		r, failed = call(inCall, func(p mcp.Progress) {
			select {
			case <-news: // nobody has taken it yet
			default:
			}
			news <- p
		})
	}()
	tell := func(p mcp.Progress) error {
		answer, err := c.jobs.nested(ctx, "on_progress", fn, func(L *lua.LState) []lua.LValue { return []lua.LValue{progressTable(L, p)} })
		if err == nil && answer == child.Enough {
			err = errEnough
		}
		return err
	}
	for {
		select {
		case p := <-news:
			if err := tell(p); err != nil {
				giveUp()
				<-done
				return agent.Result{}, err
			}
		case <-done:
			select {
			case p := <-news: // the last one
				if err := tell(p); err != nil && !errors.Is(err, errEnough) {
					return agent.Result{}, err
				}
			default:
			}
			return r, failed
		}
	}
}

func progressTable(L *lua.LState, p mcp.Progress) *lua.LTable {
	t := luavm.NewRecord(L, 3)
	luavm.Set(t, "progress", lua.LNumber(p.Done))
	if p.Total > 0 {
		luavm.Set(t, "total", lua.LNumber(p.Total))
	}
	luavm.SetText(t, "message", p.Message)
	return t
}

// pushOutcome pushes what a call gave, or nil and why there was none.
func (c *client) pushOutcome(L *lua.LState, r agent.Result, err error) int {
	if err != nil {
		return pushResult(L, nil, err)
	}
	t := luavm.NewRecord(L, 3)
	luavm.Set(t, "content", c.records.Blocks(L, r.Content))
	if raw := mcp.StructuredContent(r.Details); raw != nil {
		luavm.Set(t, "structured", c.records.JSON(raw))
	}
	luavm.Set(t, "is_error", lua.LBool(r.IsError))
	L.Push(t)
	return 1
}
