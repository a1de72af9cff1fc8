//go:build unix

package luahooks

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/mcp"
	"pi/cli/mcpfile"
	"pi/internal/testing/mcptest"
	"pi/luahooks/api"
	"pi/session"
)

// serversOfTest are servers as hooks come to them, with entries as the program reads them.
type serversOfTest struct {
	*mcp.Servers
	cwd string
}

func (s serversOfTest) Entry(hook api.HookInfo, name string, text json.RawMessage) (mcp.Entry, error) {
	return mcpfile.FromHook(name, text, mcpfile.Origin{Kind: mcp.FromHook, Path: hook.Path, Base: s.cwd, Getenv: func(string) string { return "" }})
}

// withServers is a rig whose agent is a real one and that has a server "known" of the session, some
// of whose tools are off, and "hidden", which is off. Hooks have the functions own and shared, which
// bring a server.
func withServers(t *testing.T, files map[string]string) (*agent.Agent, *rig, *mcp.Servers) {
	t.Helper()
	program, env := mcptest.Command("good")
	entry := func(name string) mcp.Entry { return mcp.Entry{Name: name, Command: program, Env: env} }
	known, hidden := entry("known"), entry("hidden")
	known.Tools = map[string]mcp.Exposure{"delete_*": mcp.Off}
	hidden.Exposure = mcp.Off
	servers := mcp.Open(mcp.Options{Entries: []mcp.Entry{known, hidden}, Dir: t.TempDir(), Cwd: t.TempDir()})
	t.Cleanup(servers.Close)
	code, _ := json.Marshal(program)
	files["s.lua"] = `pi.provider("s", { models = { "m" }, stream = function(request, emit) end })`
	r := newRig(t, files, func(o *Options) {
		o.Servers = func() api.Servers { return serversOfTest{servers, o.Cwd} }
		o.ServerTools = func() []agent.Tool { return servers.Tools(nil) }
		o.MayHave = func(name string) bool { return name != "mcp__known__long" }
		o.Getenv = func(name string) string {
			return map[string]string{"SERVER": strings.Trim(string(code), `"`), "KIND": env[mcptest.Variable]}[name]
		}
	})
	a := agent.New(agent.Options{Session: session.New(session.Options{Cwd: r.cwd}), Models: r.chain.opts.Models, Model: r.chain.opts.Models.Find("s", "m"),
		Thinking: "off", Prompt: &agent.SystemPrompt{}, Cwd: r.cwd})
	t.Cleanup(func() { a.Session().Close() })
	a.Listen(r.chain, &ears{host: r.host})
	r.chain.Attach(a, r.ui)
	a.Start(context.Background())
	return a, r, servers
}

// bring begins a hook that brings servers.
const bring = `local mcp, text = require "pi.mcp", require "pi.text"
local entry = { command = os.getenv("SERVER"), env = { PI_TEST_MCP_SERVER = os.getenv("KIND") } }
local function own() return mcp.connect{ name = "own", command = entry.command, env = entry.env } end
local function said(r, err) return r and (text.of(r) .. (r.is_error and " (error)" or "")) or "nil " .. err end
`

func TestServersOfHooks(t *testing.T) {
	_, r, servers := withServers(t, map[string]string{"gate.lua": `pi.on("tool_call", function(event)
		if event.tool_name == "mcp__own__add" then return { block = true, reason = "no sums, via " .. event.mcp.via } end
		if event.tool_name == "mcp" and event.input.read == "test://page/2" then return { block = true, reason = "not page 2" } end
		if event.input.text == "rewrite me" then return { input = { text = "rewritten" } } end
	end)
	pi.on("tool_result", function(event) if event.input.a == 40 then return { details = {} } end end)`})
	for _, c := range []struct{ body, want string }{
		{`return { text = said(assert(mcp.connect{ name = "known" }).call("echo", { text = "a" })) }`, "a"},
		{`return { text = said(assert(own()).call("echo", { text = "rewrite me" })) }`, "rewritten"},
		{`return { text = said(assert(own()).call("add", { a = 1, b = 2 })) }`, "no sums, via hook (error)"},
		{`return { text = said(assert(own()).call("fail")) }`, "it does not work (error)"},
		{`return { text = said(assert(own()).call("die")) }`, "server own: it ended with status 3; it wrote: I am out of here (error)"},
		{`local r = mcp.connect{ name = "known" }.call("add", { a = 1, b = 2 }) return { text = tostring(r.structured.sum) }`, "3"},
		{`local r = mcp.connect{ name = "known" }.call("add", { a = 40, b = 2 }) return { text = tostring(r.structured) }`, "nil"}, // another hook took it out
		{`return { text = said(assert(own()).call("echo", {})) }`, `invalid arguments: /: required property "text" is missing (error)`},
		{`return { text = said(mcp.connect{ name = "known" }.call("delete_all")) }`, `nil server known has no tool "delete_all"`},
		{`return { text = said(mcp.connect{ name = "known" }.call("long")) }`, "nil the tool mcp__known__long may not be called here"},
		{`return { text = said(mcp.connect{ name = "hidden" }.call("echo", { text = "a" })) }`, "nil server hidden is off"},
		{`return { text = said(mcp.connect{ name = "hidden" }.read("test://one")) }`, "server hidden is off: neither its tools nor its resources or prompts are offered (error)"},
		{`return { text = select(2, mcp.connect{ name = "hidden" }.tools()) }`, "server hidden is off"},
		{`return { text = said(assert(own()).read("test://page/1")) }`, "this is test://page/1"},
		{`return { text = said(assert(own()).read("test://page/2")) }`, "not page 2 (error)"},
		{`local s = own() local n = 0 for _, tool in ipairs(s.tools()) do if tool.name == "echo" then
			n = n + 1; return { text = tool.tool_name .. " " .. tool.parameters.required[1] .. " " .. tostring(tool.annotations.claimed) .. " " .. #tool.definition } end end`, "mcp__own__echo text true 64"},
		{`local s = own() return { text = #s.resources() .. " " .. s.resources()[1].uri .. " " .. s.prompts()[1].arguments[1].name .. " " .. text.of(s.prompt("greet", { who = "you" })[1]) }`,
			"2 test://one who Say hello to you"},
		{`local steps = 0 local s = own() local r, err = s.call("wait", nil, { on_progress = function(p) steps = steps + p.progress return true end }) return { text = said(r, err) .. steps }`, "nil given up by on_progress1"},
		{`own().call("wait", nil, { on_progress = function(p) error("of mine") end })`, "of mine"},
		{`return { text = said(own().call("wait", nil, { timeout = 50 })) }`, "server own: no answer and no progress for 50ms (timeout) (error)"},
		{`local s = own() local r, err = s.close() local again, why = s.call("echo", { text = "a" }) return { text = tostring(r) .. " " .. why .. " " .. #mcp.servers() }`, "true this client is closed 2"},
		{`own() local s = mcp.servers()[3] return { text = s.name .. " " .. s.state .. " " .. s.source .. " " .. tostring(s.private) .. " " .. s.path:match("[^/]*$") }`, "own idle hook true lua.lua"},
		{`own() return { text = select(2, own()) }`, "there is a server own already, of hook ("},
		{`own() return { text = select(2, mcp.connect{ name = "own" }) }`, "the server own is that of a hook"},
		{`return { text = select(2, mcp.connect{ name = "knwon" }) }`, `there is no server "knwon", did you mean "known"?`},
		{`local s = assert(mcp.add("shared", entry)) return { text = said(pi.call_tool("mcp__shared__echo", { text = "by name" })) }`, "by name"},
		{`local s = own() return { text = said(pi.call_tool("mcp__own__echo", { text = "a" })) }`, "the server own is that of a hook"},
		{`mcp.connect{ command = "a" }`, `option "name" is missing`},
		{`mcp.add("x", { comand = "a" })`, `unknown option "comand", did you mean "command"?`},
		{`mcp.add("x", { command = "a", env = "b" })`, `option "env" must be a`},
		{`mcp.add("x", { command = "a", url = "https://example.com" })`, `server "x": it has a command and a url`},
		{`mcp.add("x", { command = "a", tools = { get = "loud" } })`, `server "x": tools "get" is "loud"`},
		{`mcp.add("x", { url = "https://example.com", oauth = { client_secret = "s" } })`, `oauth.clientSecret goes with a clientId`},
		{`mcp.add("x", { command = "a", env = { KEY = "!pass" } })`, `env.KEY: "!" runs a command`},
		{`mcp.add("x__y", { command = "a" })`, `the name of the server "x__y" has __ in it`},
		{`own().call("echo", { text = "a" }, { tmeout = 1 })`, `unknown option "tmeout", did you mean "timeout"?`},
	} {
		r.write("lua.lua", bring+"pi.on('input', function(e, ctx) "+c.body+" end)")
		r.chain.Reload(context.Background(), true)
		r.host.forget()
		got := r.input("")
		if n := r.host.notices(); len(n) > 0 {
			got = strings.Join(n, "\n")
		}
		if !strings.HasPrefix(got, c.want) && !(strings.Contains(got, "lua.lua:") && strings.Contains(got, c.want)) {
			t.Errorf("%s\ngave %q, want %q", c.body, got, c.want)
		}
	}
	r.chain.Close(context.Background())
	if all := servers.List(); len(all) != 2 {
		t.Errorf("%d servers when the hooks have ended", len(all))
	}
}

func TestAServerEndsWithTheVersionOfItsHook(t *testing.T) {
	_, r, servers := withServers(t, map[string]string{"a.lua": bring + `pi.on("input", function() return { text = said(assert(own()).call("child")) } end)`})
	pid, err := strconv.Atoi(r.input(""))
	mustDo(t, err)
	if st, err := servers.Server("own"); err != nil || st.State != mcp.StateReady {
		t.Fatalf("%+v, %v, %q", st, err, r.host.notices())
	}
	r.write("a.lua", bring+`pi.on("input", function() return { text = said(assert(own()).call("echo", { text = "next" })) } end)`)
	r.chain.Reload(context.Background(), false)
	if got := r.input(""); got != "next" { // under the same name
		t.Errorf("the next version: %q", got)
	}
	r.mustEnd(pid) // what the server of the version before has started
	mustDo(t, r.chain.SetEnabled(context.Background(), "a", false))
	if _, err := servers.Server("own"); err == nil {
		t.Error("it is there without its hook")
	}
}
