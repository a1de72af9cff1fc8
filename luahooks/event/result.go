package event

import (
	"pi/luahooks/record"

	lua "github.com/yuin/gopher-lua"
)

// result is what a row reads the keys of a result from, always all of them and in the
// same order. Of a result that is empty the same lines list the keys for the
// documentation. What is wrong with a key is reported with Fail; then nothing of the
// result has an effect.
type result struct {
	record.Answer
	src   *Source
	L     *lua.LState
	table *lua.LTable
	list  *[]Field // while the keys are listed
	apply []func() // what the keys change in the event
	stop  bool     // no other handler is asked
}

// then adds what to do with the result, in the order of the calls.
func (r *result) then(apply func()) { r.apply = append(r.apply, apply) }

// has reports whether a key is given, which may be of a kind.
func (r *result) has(key, kind string) bool {
	if r.list != nil {
		*r.list = append(*r.list, Field{key, kind})
	}
	return r.Has(key)
}

// value is the value of a key, or nil.
func (r *result) value(key, kind string) lua.LValue {
	r.has(key, kind)
	return r.table.RawGetString(key)
}

// text is the value of a key; "" for none.
func (r *result) text(key string) string {
	r.has(key, "string?")
	return r.Text(key)
}

// flag is the value of a key; false for none.
func (r *result) flag(key string) bool {
	r.has(key, "boolean?")
	return r.Flag(key)
}

// record is the value of a key that is a table with fields of its own; ok is false for
// none.
func (r *result) record(key, kind string, known ...string) (inner record.Answer, ok bool) {
	r.has(key, kind)
	return r.Record(key, known...)
}

// cancel reads the key that ends the chain.
func (r *result) cancel(into *bool) {
	if r.stop = r.flag("cancel"); r.stop {
		r.then(func() { *into = true })
	}
}
