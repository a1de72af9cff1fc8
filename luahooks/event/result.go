package event

import (
	"pi/agent"
	"pi/luahooks/record"

	lua "github.com/yuin/gopher-lua"
)

// result is the table that a handler returned, for the function that reads it in the row of
// the event. That function reads always all keys, in the same order: an empty result is
// read to list the keys for the documentation. After the first problem that Fail reports,
// the result has no effect.
type result struct {
	record.Answer
	src   *Source
	L     *lua.LState
	seen  agent.Event // a copy of the event, as the handler got it; of the event itself only what never changes is read
	table *lua.LTable
	list  *[]Field // not nil: the keys are listed
	apply []func() // what the keys change in the event
	stop  bool     // no handler after this one is asked
}

// then adds a change of the event. The changes are made in the order of these calls, after
// the handler ended; those of a handler that is late, or whose result is wrong, never.
func (r *result) then(apply func()) { r.apply = append(r.apply, apply) }

// has reports whether a key is given, and adds it to the list if r makes one; kind is its
// type in the documentation, and about what it does.
func (r *result) has(key, kind, about string) bool {
	if r.list != nil {
		*r.list = append(*r.list, Field{key, kind, about})
	}
	return r.Has(key)
}

// value is the value of a key, or nil.
func (r *result) value(key, kind, about string) lua.LValue {
	r.has(key, kind, about)
	return r.table.RawGetString(key)
}

// text is the value of a key; "" for none.
func (r *result) text(key, about string) string {
	r.has(key, "string?", about)
	return r.Text(key)
}

// flag is the value of a key; false for none.
func (r *result) flag(key, about string) bool {
	r.has(key, "boolean?", about)
	return r.Flag(key)
}

// record is the value of a key that is a table with the known fields; ok is false if the
// key is not given.
func (r *result) record(key, kind, about string, known ...string) (inner record.Answer, ok bool) {
	r.has(key, kind, about)
	return r.Record(key, known...)
}

// cancel reads the key cancel. If it is true, into becomes true and no later handler is asked.
func (r *result) cancel(into *bool, about string) {
	if r.stop = r.flag("cancel", about); r.stop {
		r.then(func() { *into = true })
	}
}
