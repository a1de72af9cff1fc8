package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// Fields are the members of a JSON object in their order.
type Fields []Field

// Field is one member of an object.
type Field struct {
	Name  string
	Value json.RawMessage
}

var errNoObject = errors.New("not a JSON object")

// ReadFields takes an object apart.
func ReadFields(object []byte) (Fields, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, cmp.Or(err, errNoObject)
	}
	var fields Fields
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		text, _ := name.(string)
		fields = append(fields, Field{text, value})
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

// JSON writes the object.
func (f Fields) JSON() (json.RawMessage, error) {
	out := []byte("{")
	for i, m := range f {
		name, err := Encode(m.Name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), m.Value...)
	}
	return append(out, '}'), nil
}

// WithFields adds the fields of a table to a request, in the order of their
// names; they take the place of fields that are there already.
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
	return fields.JSON()
}
