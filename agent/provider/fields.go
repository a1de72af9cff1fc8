package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"pi/session/rawjson"
)

// Fields are the members of a JSON object in their order.
type Fields []Field

// Field is one member of an object.
type Field struct {
	Name  string
	Value json.RawMessage
}

var errNoObject = errors.New("not a JSON object")

// ReadFields returns the members of an object. Their values are parts of it.
func ReadFields(object []byte) (Fields, error) {
	if object = bytes.TrimSpace(object); !json.Valid(object) || object[0] != '{' {
		return nil, errNoObject
	}
	var fields Fields
	for name, value := range rawjson.Fields(object) {
		fields = append(fields, Field{string(name), value})
	}
	return fields, nil
}

// Get returns the value of a field, nil if there is none.
func (f Fields) Get(name string) json.RawMessage {
	if i := f.index(name); i >= 0 {
		return f[i].Value
	}
	return nil
}

// Set gives a field a value, in its place if it is there, else at the end.
func (f *Fields) Set(name string, value json.RawMessage) {
	if i := f.index(name); i >= 0 {
		(*f)[i].Value = value
		return
	}
	*f = append(*f, Field{name, value})
}

func (f Fields) index(name string) int {
	return slices.IndexFunc(f, func(m Field) bool { return m.Name == name })
}

// JSON writes the fields as one object, in their order.
func (f Fields) JSON() json.RawMessage {
	var object rawjson.Object
	for _, m := range f {
		object.Put(m.Name, m.Value)
	}
	return object.Bytes()
}

// WithFields adds the fields of a table to a request, in the order of their names; they
// replace fields that are there already. Without a table the request is returned as it
// is.
func WithFields(body []byte, table map[string]any) ([]byte, error) {
	if len(table) == 0 {
		return body, nil
	}
	fields, err := ReadFields(body)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		value, err := Encode(table[name])
		if err != nil {
			return nil, err
		}
		fields.Set(name, value)
	}
	return fields.JSON(), nil
}
