package event

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Patience is how long the agent waits for the handlers of a telling event.
type Patience uint8

const (
	UntilDone  Patience = iota // up to hook_timeout each
	Graceful                   // hook_grace for all together; then they finish behind it
	LastChance                 // 2 s for all together
)

// Spec is everything the program knows of one event. Dispatch, the list that
// `pi hooks events` prints and the checks of the documentation are made from the table of
// these.
type Spec struct {
	Kind    agent.Kind
	Name    string // of Kind
	Key     string // under which its handlers are registered: Name, but for the rows of [OtherRoles]
	Context string // the class of ctx for its handlers, in the annotations; "": that of all others
	About   string // what it is, for the documentation
	Asking  bool
	Fields  []Field // of the payload, besides its type
	Results []Field // the keys that a handler may return
	Rule    string  // how several handlers go together
	Wait    Patience
	Clock   luavm.Clock

	// OwnOnly: only the user's own hooks get it, none of a project.
	OwnOnly bool
	// Copy is the event as it is now, for a handler to look at. Every asking event has one.
	// What it points to stays shared: whoever carries out a result puts new slices and maps
	// in place of the old ones.
	Copy func(agent.Event) agent.Event

	// lazy: the table is filled only when a handler reads a field that is no plain value.
	// Most handlers read one or two plain ones and return.
	lazy    bool
	fields  func(*payload, agent.Event)
	results func(*result, agent.Event) // nil for a telling event
}

// emptyEvent returns an empty event; E is the pointer to the struct of one. It looks that
// up while the program runs: functions whose one type parameter is a pointer are compiled
// once for all events.
func emptyEvent[E agent.Event]() E {
	return reflect.New(reflect.TypeFor[E]().Elem()).Interface().(E)
}

// copyOf returns an event with the same fields.
func copyOf(e agent.Event) agent.Event {
	c := reflect.New(reflect.TypeOf(e).Elem())
	c.Elem().Set(reflect.ValueOf(e).Elem())
	return c.Interface().(agent.Event)
}

// telling makes the row of an event whose results are ignored. fields gives the payload
// all fields of an event, which may also be empty. The kind is that of an empty event,
// unless s has one.
func telling[E agent.Event](s Spec, fields func(*payload, E)) Spec {
	empty := emptyEvent[E]()
	if s.Kind == agent.KindNone {
		s.Kind = empty.Kind()
	}
	s.Name = s.Kind.String()
	s.Key = s.Name
	fields(&payload{list: &s.Fields}, empty)
	s.fields = func(p *payload, e agent.Event) { fields(p, e.(E)) }
	return s
}

// asking makes the row of an event whose results count. results reads all keys of a
// result; both the result and the event may be empty.
func asking[E agent.Event](s Spec, fields func(*payload, E), results func(*result, E)) Spec {
	s = telling(s, fields)
	s.Asking = true
	s.Copy = copyOf
	none, empty := new(lua.LTable), emptyEvent[E]()
	results(&result{Answer: new(record.Converter).NewAnswer(nil, none), src: new(Source), seen: empty, table: none, list: &s.Results}, empty)
	s.results = func(r *result, e agent.Event) { results(r, e.(E)) }
	return s
}

// waited is the row of a telling event whose handlers the agent waits for.
func waited[E agent.Event](about string, fields func(*payload, E)) Spec {
	return telling(Spec{About: about, Rule: toldAndWaitedFor}, fields)
}

const (
	toldAndWaitedFor = "told in chain order; waited for"
	toldWithGrace    = "told in chain order; the agent goes on after hook_grace"
)

// graceful is the row of a telling event whose handlers the agent waits for no longer than
// hook_grace; they finish while it continues.
func graceful[E agent.Event](about string, fields func(*payload, E)) Spec {
	return telling(Spec{About: about, Rule: toldWithGrace, Wait: Graceful}, fields)
}

// noFields is the payload of an event that has nothing but its type.
func noFields[E agent.Event](*payload, E) {}

// eventView is an event whose table is not filled yet.
type eventView struct {
	src   *Source
	spec  *Spec
	event agent.Event
}

// Table is the event for a handler. e must not change any more.
func (s *Spec) Table(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	if s.lazy {
		return src.vm.NewStub(&eventView{src, s, e}, func(L *lua.LState, ref any) *lua.LTable {
			v := ref.(*eventView)
			return v.spec.strictTable(v.src, L, v.event)
		})
	}
	return s.strictTable(src, L, e)
}

// Look returns what makes the table of an event for somebody who has no say in it: as the event is
// now, whatever is changed in it meanwhile. It is nil for what only those are told of who ask for the
// messages of all roles. s may be nil.
func (s *Spec) Look(src *Source, e agent.Event) func(L *lua.LState) *lua.LTable {
	if s == nil || s.Key != s.Name {
		return nil
	}
	if s.Copy != nil {
		e = s.Copy(e)
	}
	return func(L *lua.LState) *lua.LTable { return s.Table(src, L, e) }
}

// fill returns a new table of an event with the fields of its row.
func (s *Spec) fill(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	t := luavm.NewRecord(L, len(s.Fields)+1)
	luavm.Set(t, "type", lua.LString(s.Name))
	p := &src.payload
	p.L, p.table, p.wanted = L, t, ""
	s.fields(p, e)
	return t
}

// peek returns the value of a field that is a text, a number or a boolean, without
// filling a table; ok is false for every other field.
func (s *Spec) peek(src *Source, e agent.Event, name string) (v lua.LValue, ok bool) {
	p := &src.payload
	p.table, p.wanted, p.found = nil, name, nil
	s.fields(p, e)
	return p.found, p.found != nil
}

// Peek makes an eventView a [luavm.Peeker].
func (v *eventView) Peek(field string) (lua.LValue, bool) {
	if field == "type" {
		return lua.LString(v.spec.Name), true
	}
	return v.spec.peek(v.src, v.event, field)
}

// strictTable is the table of an event, which raises where a field is read that the event
// does not have. The VM is held.
func (s *Spec) strictTable(src *Source, L *lua.LState, e agent.Event) *lua.LTable {
	t := s.fill(src, L, e)
	meta := src.strict[s]
	if meta == nil {
		names := func() []string { return append([]string{"type"}, namesOf(s.Fields)...) }
		meta = src.vm.Strict(&luavm.Fields{Of: "the event " + s.Name, Names: names})
		src.strict[s] = meta
	}
	t.Metatable = meta
	return t
}

func namesOf(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Merge reads the table t that a handler returned, which got seen, a copy of e; the VM is
// held. apply makes the changes in e, and is to be called only if the handler ended in time;
// nil: there are none. With stop no handler after it is asked. Merge reads seen alone: a
// handler may be late, and e change meanwhile.
func (s *Spec) Merge(src *Source, L *lua.LState, e, seen agent.Event, t *lua.LTable) (apply func(), stop bool, err error) {
	r := &result{Answer: src.records.NewAnswer(L, t), src: src, L: L, seen: seen, table: t}
	s.results(r, e)
	if r.Failed() != nil || len(r.apply) == 0 {
		return nil, r.stop && r.Failed() == nil, r.Failed()
	}
	return func() {
		for _, apply := range r.apply {
			apply()
		}
	}, r.stop, nil
}

// InMode adapts the row to a front end: print and JSON mode, which end with the run, wait
// for the handlers of its end.
func (s *Spec) InMode(mode string) {
	if (mode == "print" || mode == "json") && (s.Kind == agent.KindAgentEnd || s.Kind == agent.KindAgentSettled) {
		s.Wait = UntilDone
	}
}

// MayGroup reports whether handlers of the event may be in groups with rules of their own.
// Those of gates may not: no gate is to be left out because another one has answered. The
// same goes for who stops a stream, and for who trusts a project.
func (s *Spec) MayGroup() bool {
	return s.Asking && !slices.Contains([]agent.Kind{agent.KindToolCall, agent.KindUserBash, agent.KindShell, agent.KindMessageUpdate, agent.KindProjectTrust}, s.Kind)
}

// MayWithdraw reports whether the answers of a group may be taken back when a later one comes.
// They may not where handlers see what those before them have made of the event: who found
// nothing to remove in a result would not have seen what comes back.
func (s *Spec) MayWithdraw() bool {
	return slices.Contains([]agent.Kind{agent.KindSessionCompacting, agent.KindSessionBeforeCompact, agent.KindSessionBeforeTree,
		agent.KindSessionBeforeSwitch, agent.KindSessionBeforeNew, agent.KindSessionBeforeBranch, agent.KindSessionDirectory}, s.Kind)
}

// Restore gives e the fields that it had when was was made by Copy.
func (s *Spec) Restore(e, was agent.Event) {
	reflect.ValueOf(e).Elem().Set(reflect.ValueOf(was).Elem())
}

// MayReturn reports whether a result of the event may have a key.
func (s *Spec) MayReturn(key string) bool {
	return slices.ContainsFunc(s.Results, func(f Field) bool { return f.Name == key })
}

// UnknownKey is the error for a key that a result of the event may not have, with the
// one that was probably meant.
func (s *Spec) UnknownKey(key string) error {
	hint := suggest.Hint(key, namesOf(s.Results))
	if hint == "" {
		hint = "; it may have " + strings.Join(namesOf(s.Results), ", ")
	}
	return &record.FieldError{Field: key, Err: fmt.Errorf("unknown key %q in the result of %s%s", key, s.Name, hint)}
}

// IsWaitedFor reports whether the agent goes on only when all handlers have ended.
func (s *Spec) IsWaitedFor(ctx context.Context) bool {
	return s.Wait == UntilDone && !agent.Interrupted(ctx)
}
