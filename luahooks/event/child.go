package event

import (
	"pi/agent"
	"pi/luahooks/record"

	lua "github.com/yuin/gopher-lua"
)

// childEvents are those about agents that hooks of a session use.
func childEvents() []Spec {
	return []Spec{
		graceful("An agent that a hook uses begins to work: a child of this session. Told here, in the session that uses it; in the child's own `session_start` comes with the reason `agent`.",
			func(p *payload, e *agent.ChildStart) {
				p.text("name", e.Name).about("unique among the children that work")
				p.integer("depth", e.Depth).about("1 for a child of your own session")
				p.text("prompt", e.Prompt)
			}),
		graceful("A child has ended.",
			func(p *payload, e *agent.ChildEnd) {
				p.text("name", e.Name)
				p.text("stop_reason", e.StopReason).about("`completed`, `aborted`, `error`, `limit` or `timeout`")
				p.value("usage", "pi.Usage", func() lua.LValue { return record.Usage(p.L, &e.Usage) }).about("of it and its own children")
				p.text("text", e.Text).about("its last words")
			}),
	}
}

// agent adds the field agent, in whose session the event is.
func (p *payload) agent() {
	p.value("agent", "pi.AgentInfo?", func() lua.LValue {
		if i := p.src.child; i != nil {
			return p.src.vm.Value(record.NewAgentInfo(i.Name, i.Depth, i.Parent))
		}
		return lua.LNil
	}).about("the child in whose session it is; nil in the user's own")
}
