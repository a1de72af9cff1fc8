package event

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// Field is one field of an event's payload or one key of its result.
type Field struct {
	Name string `json:"name"`
	Type string `json:"type"` // as the annotations for editors write it; "?" at the end: may be nil
}

// How long the agent waits for the handlers of a telling event.
type Patience uint8

const (
	UntilDone  Patience = iota // up to hook_timeout each
	Graceful                   // hook_grace for all together; then they finish behind it
	LastChance                 // 2 s for all together
)

// Spec is everything the program knows of one event. Dispatch, the list
// that `pi hooks events` prints and the checks of the documentation are made
// from the table of these, so they cannot disagree.
type Spec struct {
	Kind    agent.Kind
	Name    string // of Kind
	Asking  bool
	Fields  fieldList
	Results fieldList
	Rule    string // how several handlers go together
	Wait    Patience
	Clock   luavm.Clock

	// OwnOnly: only hooks of the person's own hear of it, none of a project.
	OwnOnly bool

	build func(*Source, *lua.LState, agent.Event) *lua.LTable
	// Copy is the event as it is now, for a handler to look at. Every asking
	// event has one.
	Copy func(agent.Event) agent.Event
	// peek answers for single fields without building the table: most handlers
	// look at one or two and go. nil where that is not worth it.
	peek func(e agent.Event, field string) (lua.LValue, bool)
	// Merge reads a handler's result while the VM is held and returns what to
	// do with it, which is done only if the handler ended in time. stop ends
	// the chain.
	Merge func(*Source, *lua.LState, agent.Event, *lua.LTable) (apply func(), stop bool, err error)
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
}

// NewSource returns the source of a VM. signal is that of the handler that runs; branch
// is that of the session, and known is false without one.
func NewSource(vm *luavm.VM, records *record.Converter, hook string, signal func(*lua.LState) lua.LValue, branch func() (branch []*session.Entry, known bool)) *Source {
	return &Source{vm: vm, records: records, hook: hook, signal: signal, branch: branch, strict: map[*Spec]*lua.LTable{}}
}

// Table lists the events in the order of their documentation. Each call
// returns a fresh value; a Chain keeps one.
func Table() []Spec {
	table := slices.Concat(sessionEvents(), compactEvents(), treeEvents(), endEvents(),
		promptEvents(), providerEvents(), messageEvents(), choiceEvents(), recoveryEvents(), toolEvents())
	for i := range table {
		table[i].Name = table[i].Kind.String()
	}
	return table
}

// Info is what a person or an editor is told of an event.
type Info struct {
	Name    string  `json:"name"`
	Asking  bool    `json:"asking"`
	Fields  []Field `json:"payload"`
	Results []Field `json:"result"`
	Rule    string  `json:"rule"`
}

// Infos describes all events that hooks can listen to.
func Infos() []Info {
	var infos []Info
	for _, s := range Table() {
		infos = append(infos, Info{s.Name, s.Asking, s.Fields.list(), s.Results.list(), s.Rule})
	}
	return infos
}

// fieldList is the fields of a payload or a result, "name type; name type".
// Text costs nothing until somebody reads it, and hardly anybody does.
type fieldList string

// Each calls yield with one field after the other, until it returns false.
func (l fieldList) Each(yield func(Field) bool) {
	for rest := string(l); rest != ""; {
		var field string
		field, rest, _ = strings.Cut(rest, "; ")
		name, kind, _ := strings.Cut(field, " ")
		if !yield(Field{Name: name, Type: kind}) {
			return
		}
	}
}

func (l fieldList) list() (all []Field) {
	for f := range l.Each {
		all = append(all, f)
	}
	return all
}

// newEvent begins the table of an event: it has its type.
func newEvent(L *lua.LState, k agent.Kind, size int) *lua.LTable {
	t := luavm.NewRecord(L, size+1)
	luavm.Set(t, "type", lua.LString(k.String()))
	return t
}

// copyOf copies an event of one kind. What it points to stays shared: whoever
// carries out an answer puts new slices and maps in place of the old ones.
func copyOf[T any, P interface {
	*T
	agent.Event
}](e agent.Event) agent.Event {
	c := *e.(P)
	return P(&c)
}

// eventView is an event as Lua sees it before it looks closer.
type eventView struct {
	src   *Source
	spec  *Spec
	event agent.Event
}

// Table is the event for a handler. e must not change any more.
func (s *Spec) Table(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	if s.peek == nil {
		return s.strictTable(src, s.build(src, L, e))
	}
	return src.vm.NewStub(&eventView{src, s, e}, fillEvent)
}

func fillEvent(L *lua.LState, ref any) *lua.LTable {
	v := ref.(*eventView)
	return v.spec.strictTable(v.src, v.spec.build(v.src, L, v.event))
}

// strictTable makes the table of an event raise where a field is read that the event does
// not have. The VM is held.
func (s *Spec) strictTable(src *Source, t *lua.LTable) *lua.LTable {
	meta := src.strict[s]
	if meta == nil {
		meta = src.vm.Strict(&luavm.Fields{Of: "the event " + s.Name, Names: s.fieldNames})
		src.strict[s] = meta
	}
	t.Metatable = meta
	return t
}

func (s *Spec) fieldNames() []string {
	names := []string{"type"}
	for f := range s.Fields.Each {
		names = append(names, f.Name)
	}
	return names
}

// Peek makes an eventView a [luavm.Peeker].
func (v *eventView) Peek(field string) (lua.LValue, bool) {
	if field == "type" {
		return lua.LString(v.spec.Name), true
	}
	return v.spec.peek(v.event, field)
}

// InMode fits the table to a front end: a program that is about to end waits for
// what hooks do at the end of a run.
func (s *Spec) InMode(mode string) {
	if (mode == "print" || mode == "json") && (s.Kind == agent.KindAgentEnd || s.Kind == agent.KindAgentSettled) {
		s.Wait = UntilDone
	}
}

// newPayload begins the table of an event: it has its type.
func newPayload(L *lua.LState, e agent.Event, size int) record.Payload {
	return record.PayloadOn(L, newEvent(L, e.Kind(), size))
}

// Takes reports whether a result of the event may have a key.
func (s *Spec) Takes(key string) bool {
	for f := range s.Results.Each {
		if f.Name == key {
			return true
		}
	}
	return false
}

// UnknownKey is the error for a key that a result of the event may not have, with the
// one that was probably meant.
func (s *Spec) UnknownKey(key string) error {
	var known []string
	for f := range s.Results.Each {
		known = append(known, f.Name)
	}
	return fmt.Errorf("unknown key %q in the result of %s%s", key, s.Name, suggest.Hint(key, known))
}

// IsWaitedFor reports whether the agent goes on only when all handlers have ended.
func (s *Spec) IsWaitedFor(ctx context.Context) bool {
	return s.Wait == UntilDone && !agent.Interrupted(ctx)
}
