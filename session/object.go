package session

import (
	"bytes"
	"slices"
	"strconv"
)

// object lists the fields of a JSON object in the order in which they are written.
type object []member

// member is one field of an [object]. Its value is JSON.
type member struct {
	key   string
	value []byte
}

// put adds a field.
func (o *object) put(key string, value []byte) { *o = append(*o, member{key, value}) }

// text adds a field that is a string.
func (o *object) text(key, s string) { o.put(key, quote(s)) }

// flag adds a field that is true or false.
func (o *object) flag(key string, b bool) { o.put(key, strconv.AppendBool(nil, b)) }

// int adds a field that is a whole number.
func (o *object) int(key string, n int64) { o.put(key, strconv.AppendInt(nil, n, 10)) }

// optional adds a field that is a string, unless it is empty.
func (o *object) optional(key, s string) {
	if s != "" {
		o.text(key, s)
	}
}

// nullable adds a field that is a string, or null if it is empty.
func (o *object) nullable(key, s string) {
	if s == "" {
		o.put(key, []byte("null"))
		return
	}
	o.text(key, s)
}

// bytes returns the object as compact JSON.
func (o object) bytes() []byte {
	b := []byte{'{'}
	for i, m := range o {
		key := quote(m.key)
		b = slices.Grow(b, len(key)+len(m.value)+len(",:}"))
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, key...), ':'), m.value...)
	}
	return append(b, '}')
}

func (o object) find(key string) ([]byte, bool) {
	for _, m := range o {
		if m.key == key {
			return m.value, true
		}
	}
	return nil, false
}

// overlay writes an object again after a change. base are the bytes it came
// from, was and now its known fields before and after. What did not change
// keeps its bytes and its place, unknown fields too; new fields follow.
func overlay(base []byte, was, now object) []byte {
	var all object
	done := map[string]bool{}
	for k, v := range fields(base) {
		key := string(k)
		old, known := was.find(key)
		value, present := now.find(key)
		switch {
		case done[key]:
			continue
		case !known && !present, known && present && bytes.Equal(old, value):
			all.put(key, v)
		case present:
			all.put(key, value)
		}
		done[key] = true
	}
	for _, m := range now {
		old, known := was.find(m.key)
		if !done[m.key] && !(known && bytes.Equal(old, m.value)) {
			all.put(m.key, m.value)
		}
	}
	return all.bytes()
}
