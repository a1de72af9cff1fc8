package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// Fault is one thing that is wrong with a value.
type Fault struct {
	Path string // a JSON pointer into the value; "/" is the whole
	What string
}

// maxFaults is how many of the faults of a value are told.
const maxFaults = 100

// Faults lists what is wrong with a value, which is JSON of any type: of each part the smallest
// that its schema refuses, in the order of the value's lists and of the names of properties; none
// if it fits. Nothing is coerced, but an empty object is an empty list where that is wanted: Lua
// does not tell them apart.
func (c *Checker) Faults(raw json.RawMessage) ([]Fault, error) {
	var value any
	if err := decodeNumbers(raw, &value); err != nil {
		return nil, err
	}
	value = withLists(c.schema, value)
	err := c.resolved.Validate(plain(value))
	if err == nil {
		return nil, nil
	}
	f := faults{alone: map[*jsonschema.Schema]*jsonschema.Resolved{}}
	f.below(c.schema, value, "", err)
	return f.found, nil
}

// withLists returns a value with empty lists in the place of empty objects where its schema wants
// a list.
func withLists(s *jsonschema.Schema, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if want := schemaTypes(s); len(v) == 0 && slices.Contains(want, "array") && !slices.Contains(want, "object") {
			return []any{}
		}
		for name, sub := range s.Properties {
			if have, ok := v[name]; ok {
				v[name] = withLists(sub, have)
			}
		}
	case []any:
		for i := range v {
			if s.Items != nil {
				v[i] = withLists(s.Items, v[i])
			}
		}
	}
	return v
}

// faults collects what is wrong.
type faults struct {
	alone map[*jsonschema.Schema]*jsonschema.Resolved // parts that can be used alone; nil: not
	found []Fault
}

func (f *faults) add(path, what string) {
	if path == "" {
		path = "/"
	}
	if len(f.found) < maxFaults {
		f.found = append(f.found, Fault{path, what})
	}
}

// below adds what is wrong with v, which its schema refuses with err: with its parts, or else
// with the whole.
func (f *faults) below(s *jsonschema.Schema, v any, path string, err error) {
	before := len(f.found)
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if sub, ok := v[name]; ok {
				f.part(s.Properties[name], sub, path+"/"+pointerToken.Replace(name))
			}
		}
		f.names(s, v, path)
	case []any:
		for i := 0; i < len(v) && s.Items != nil && len(f.found) < maxFaults; i++ {
			f.part(s.Items, v[i], path+"/"+strconv.Itoa(i))
		}
	}
	if len(f.found) == before {
		f.add(path, reason(s, v, err))
	}
}

// part adds what is wrong with a part of a value. A schema that cannot be used outside of the
// whole, because of a reference, refuses nothing.
func (f *faults) part(s *jsonschema.Schema, v any, path string) {
	r, known := f.alone[s]
	if !known {
		r, _ = s.CloneSchemas().Resolve(nil)
		f.alone[s] = r
	}
	if r == nil {
		return
	}
	if err := r.Validate(plain(v)); err != nil {
		f.below(s, v, path, err)
	}
}

// names adds the properties that are missing or unknown.
func (f *faults) names(s *jsonschema.Schema, object map[string]any, path string) {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			f.add(path, fmt.Sprintf("required property %q is missing", name))
		}
	}
	if unknownProperty(s, object) == "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if s.Properties[name] == nil {
			f.add(path, fmt.Sprintf("unknown property %q", name))
		}
	}
}
