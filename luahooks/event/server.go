package event

import (
	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// serverEvents are those about MCP servers, which come whenever something becomes of one.
func serverEvents() []Spec {
	return []Spec{
		graceful("An MCP server is in another state: it is started, ready, ended, failed, turned off or no longer one of the session's.",
			func(p *payload, e *agent.MCPServer) {
				p.text("server", e.Server).about("its name")
				p.text("state", e.State).about("`idle`, `starting`, `ready`, `failed`, `sign-in` (it wants its user to sign in) or `off`")
				p.integer("tools", e.Tools).about("how many it has, as far as is known")
				p.optional("error", e.Error).about("why it cannot be used, or what ended it")
			}),
		graceful("A tool of an MCP server has another definition than when it was listed first. It is told once.",
			func(p *payload, e *agent.MCPChange) {
				p.text("server", e.Server).about("its name")
				p.text("tool", e.Tool).about("its name at the server")
				p.definition("before", e.Before).about("what the server said of it")
				p.definition("after", e.After).about("what it says now")
			}),
	}
}

// definition adds a field with what a server says of a tool.
func (p *payload) definition(name string, d *agent.Definition) *payload {
	return p.value(name, "pi.McpDefinition", func() lua.LValue {
		if d == nil {
			return lua.LNil
		}
		t := luavm.NewRecord(p.L, 5)
		luavm.Set(t, "tool_name", lua.LString(d.Name))
		luavm.Set(t, "description", lua.LString(d.Description))
		luavm.Set(t, "parameters", p.src.records.JSON(d.Parameters))
		outer := p.table
		p.table = t
		p.annotations(d.Claims)
		p.table = outer
		luavm.Set(t, "definition", lua.LString(d.Hash))
		return t
	})
}
