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

// Field is one field of an event's payload or one key of its result.
type Field struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // as the annotations for editors write it; "?" at the end: may be nil
	About string `json:"-"`    // what it is, where the name does not say it
}

// Source has everything of one VM and its hook that the tables of events are made with
// and results are read with. It is used only while the VM is held.
type Source struct {
	vm      *luavm.VM
	records *record.Converter
	hook    string                                       // its name
	cause   agent.Origin                                 // of what its handlers ask for
	child   *agent.Identity                              // in whose session they run; nil: it is the user's own
	signal  func(L *lua.LState) lua.LValue               // of the handler that runs
	branch  func() (branch []*session.Entry, known bool) // of the session; not known without one
	strict  map[*Spec]*lua.LTable                        // metatables of events
	payload payload                                      // of the event whose fields are read
}

// NewSource returns the source of a VM; hook is the origin of what its handlers ask for, child the
// agent in whose session they run, nil in the user's own. signal returns the signal of the handler that
// runs; branch returns the branch of the session, and known is false without a session.
func NewSource(vm *luavm.VM, records *record.Converter, hook agent.Origin, child *agent.Identity, signal func(*lua.LState) lua.LValue, branch func() (branch []*session.Entry, known bool)) *Source {
	src := &Source{vm: vm, records: records, hook: hook.Hook, cause: hook, child: child, signal: signal, branch: branch, strict: map[*Spec]*lua.LTable{}}
	src.payload.src = src
	return src
}

// payload receives the fields of an event from its row: always all of them, in the same
// order. It uses them in one of three ways: it lists their names and types for the
// documentation, it finds the value of one of them, or it fills a table for a handler.
type payload struct {
	src    *Source
	L      *lua.LState
	list   *[]Field    // not nil: the fields of an empty event are listed
	table  *lua.LTable // not nil: it is filled
	wanted string      // not "": only this field is looked up
	found  lua.LValue  // the value of wanted; nil if only a table can have it
}

// skips reports whether p looks up another field than this one.
func (p *payload) skips(name string) bool { return p.wanted != "" && name != p.wanted }

// put adds a field that is a text, a number or a boolean. Unlike other fields it can also
// be looked up alone.
func (p *payload) put(name, kind string, v lua.LValue) {
	switch {
	case p.wanted != "":
		p.found = v
	case p.fills(name, kind):
		luavm.Set(p.table, name, v)
	}
}

// fills adds a field to the list, if p makes a list, and reports whether p fills a table:
// only then is the value of the field needed.
func (p *payload) fills(name, kind string) bool {
	if p.list != nil {
		*p.list = append(*p.list, Field{Name: name, Type: kind})
	}
	return p.table != nil
}

// about says, for the documentation, what the field is that was just added.
func (p *payload) about(text string) {
	if p.list != nil {
		(*p.list)[len(*p.list)-1].About = text
	}
}

func (p *payload) text(name, s string) *payload {
	if !p.skips(name) {
		p.put(name, "string", lua.LString(s))
	}
	return p
}

// optional is a text that is nil in Lua when it is empty.
func (p *payload) optional(name, s string) *payload {
	if !p.skips(name) {
		p.put(name, "string?", luavm.TextOrNil(s))
	}
	return p
}

func (p *payload) flag(name string, b bool) *payload {
	if !p.skips(name) {
		p.put(name, "boolean", lua.LBool(b))
	}
	return p
}

func (p *payload) integer(name string, n int) *payload {
	if !p.skips(name) {
		p.put(name, "integer", lua.LNumber(n))
	}
	return p
}

func (p *payload) texts(name string, list []string) *payload {
	if p.fills(name, "string[]") {
		t := luavm.NewList(p.L, len(list), func(i int) lua.LValue { return lua.LString(list[i]) })
		luavm.MarkList(t)
		luavm.Set(p.table, name, t)
	}
	return p
}

// message is a message without an entry; m may be nil.
func (p *payload) message(name string, m *message.Message) *payload {
	if p.fills(name, "pi.Message") {
		luavm.Set(p.table, name, p.src.records.Message(m))
	}
	return p
}

func (p *payload) messages(name string, items []session.Item) *payload {
	if p.fills(name, "pi.Message[]") {
		luavm.Set(p.table, name, p.src.records.Messages(p.L, items))
	}
	return p
}

func (p *payload) blocks(name string, content []message.Block) *payload {
	if p.fills(name, "pi.Block[]") {
		luavm.Set(p.table, name, p.src.records.Blocks(p.L, content))
	}
	return p
}

func (p *payload) entries(name string, entries []*session.Entry) *payload {
	if p.fills(name, "pi.Entry[]") {
		luavm.Set(p.table, name, p.src.records.Entries(p.L, entries))
	}
	return p
}

// entry is one entry; kind has a ? at its end if e may be nil.
func (p *payload) entry(name, kind string, e *session.Entry) *payload {
	if p.fills(name, kind) {
		luavm.Set(p.table, name, p.src.records.Entry(e))
	}
	return p
}

// input is the arguments of a tool call.
func (p *payload) input(name, tool string, raw json.RawMessage) *payload {
	if p.fills(name, "table") {
		luavm.Set(p.table, name, p.src.records.Input(tool, raw))
	}
	return p
}

// value is a field of any other kind. build is called only to fill a table.
func (p *payload) value(name, kind string, build func() lua.LValue) *payload {
	if p.fills(name, kind) {
		luavm.Set(p.table, name, build())
	}
	return p
}

// record is a field that is a table itself; fill gives p the fields of that table.
func (p *payload) record(name, kind string, fill func()) *payload {
	return p.value(name, kind, func() lua.LValue {
		outer, inner := p.table, luavm.NewRecord(p.L, 8)
		p.table = inner
		fill()
		p.table = outer
		return inner
	})
}
