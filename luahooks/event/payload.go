package event

import (
	"encoding/json"
	"pi/agent"

	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// payload is what a row hands the fields of its event to, always all of them and in
// the same order. The same lines of the row thereby list the fields for the
// documentation, tell a single one and fill the table for a handler.
type payload struct {
	src    *Source
	L      *lua.LState
	list   *[]Field    // while the fields are listed, of an event that is empty
	table  *lua.LTable // while it is filled
	wanted string      // the field to tell, while no table is filled
	found  lua.LValue  // its value; nil if the table must be filled to know it
}

// fill returns a new table of an event with the fields of its row.
func (s *Spec) fill(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	t := luavm.NewRecord(L, len(s.Fields)+1)
	luavm.Set(t, "type", lua.LString(s.Name))
	p := &src.payload
	p.L, p.table = L, t
	s.fields(p, e)
	p.L, p.table = nil, nil
	return t
}

// peek returns a field that is a text, a number or a boolean, without a table.
func (s *Spec) peek(src *Source, e agent.Event, name string) (v lua.LValue, ok bool) {
	p := &src.payload
	p.wanted = name
	s.fields(p, e)
	v = p.found
	p.wanted, p.found = "", nil
	return v, v != nil
}

// fills reports whether a table is filled, which a field is needed for that is no plain
// value.
func (p *payload) fills(name, kind string) bool {
	if p.list != nil {
		*p.list = append(*p.list, Field{name, kind})
	}
	return p.table != nil
}

// needs reports whether a plain value is needed, for a table or alone.
func (p *payload) needs(name, kind string) bool {
	if p.wanted != "" {
		return name == p.wanted
	}
	return p.fills(name, kind)
}

func (p *payload) put(name string, v lua.LValue) {
	if p.table == nil {
		p.found = v
		return
	}
	luavm.Set(p.table, name, v)
}

func (p *payload) text(name, s string) {
	if p.needs(name, "string") {
		p.put(name, lua.LString(s))
	}
}

// optional is text for one that is nil when it is empty.
func (p *payload) optional(name, s string) {
	if p.needs(name, "string?") {
		p.put(name, record.TextOrNil(s))
	}
}

func (p *payload) flag(name string, b bool) {
	if p.needs(name, "boolean") {
		p.put(name, lua.LBool(b))
	}
}

func (p *payload) integer(name string, n int) {
	if p.needs(name, "integer") {
		p.put(name, lua.LNumber(n))
	}
}

func (p *payload) texts(name string, list []string) {
	if p.fills(name, "string[]") {
		t := luavm.NewList(p.L, len(list), func(i int) lua.LValue { return lua.LString(list[i]) })
		luavm.MarkList(t)
		p.put(name, t)
	}
}

// message is one that is no entry, or nil.
func (p *payload) message(name string, m *message.Message) {
	if p.fills(name, "pi.Message") {
		p.put(name, p.src.records.Message(m))
	}
}

func (p *payload) messages(name string, items []session.Item) {
	if p.fills(name, "pi.Message[]") {
		p.put(name, p.src.records.Messages(p.L, items))
	}
}

func (p *payload) blocks(name string, content []message.Block) {
	if p.fills(name, "pi.Block[]") {
		p.put(name, p.src.records.Blocks(p.L, content))
	}
}

func (p *payload) entries(name string, entries []*session.Entry) {
	if p.fills(name, "pi.Entry[]") {
		p.put(name, p.src.records.Entries(p.L, entries))
	}
}

// entry is one entry, or nil; kind says whether it may be.
func (p *payload) entry(name, kind string, e *session.Entry) {
	if p.fills(name, kind) {
		p.put(name, p.src.records.Entry(e))
	}
}

// input is the arguments of a tool call.
func (p *payload) input(name, tool string, raw json.RawMessage) {
	if p.fills(name, "table") {
		p.put(name, p.src.records.Input(tool, raw))
	}
}

// value is any other field. build is called only for the table.
func (p *payload) value(name, kind string, build func() lua.LValue) {
	if p.fills(name, kind) {
		p.put(name, build())
	}
}

// record is a field that is a table with fields of its own, which fill hands to p.
func (p *payload) record(name, kind string, fill func()) {
	p.value(name, kind, func() lua.LValue {
		outer, inner := p.table, luavm.NewRecord(p.L, 8)
		p.table = inner
		fill()
		p.table = outer
		return inner
	})
}
