package event

import (
	"encoding/json"

	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Field is one field of an event's payload or one key of its result.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"` // as the annotations for editors write it; "?" at the end: may be nil
}

// Source is what the tables of events are made with, and results read with, for the
// hook of one VM. It is used only while the VM is held.
type Source struct {
	vm      *luavm.VM
	records *record.Converter
	hook    string                                       // its name
	signal  func(L *lua.LState) lua.LValue               // of the handler that runs
	branch  func() (branch []*session.Entry, known bool) // of the session; not known without one
	strict  map[*Spec]*lua.LTable                        // metatables of events
	payload payload                                      // of the event whose fields are read
}

// NewSource returns the source of a VM. signal is that of the handler that runs; branch
// is that of the session, and known is false without one.
func NewSource(vm *luavm.VM, records *record.Converter, hook string, signal func(*lua.LState) lua.LValue, branch func() (branch []*session.Entry, known bool)) *Source {
	src := &Source{vm: vm, records: records, hook: hook, signal: signal, branch: branch, strict: map[*Spec]*lua.LTable{}}
	src.payload.src = src
	return src
}

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
		p.put(name, luavm.TextOrNil(s))
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
