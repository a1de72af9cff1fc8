package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"pi/session/rawjson"

	"github.com/google/jsonschema-go/jsonschema"
)

// Check returns the arguments to run with: the bytes given, unless something had
// to be coerced. Whatever it returns passes Validate. The error is written for the
// model: it names the place in the arguments and what was expected there.
func (c *Checker) Check(args json.RawMessage) (json.RawMessage, error) {
	var value any
	if err := decodeNumbers(args, &value); err != nil {
		return nil, fmt.Errorf("arguments are not JSON: %w", err)
	}
	value, changed := coerce(c.schema, value)
	if err := c.valid(value); err != nil {
		return nil, err
	}
	if !changed {
		return args, nil
	}
	return rawjson.Encode(value)
}

// Validate checks args without coercing anything. Its errors are those of Check.
func (c *Checker) Validate(args json.RawMessage) error {
	var value any
	if err := decodeNumbers(args, &value); err != nil {
		return fmt.Errorf("arguments are not JSON: %w", err)
	}
	return c.valid(value)
}

// Find returns the first place in a JSON object that the schema refuses, by names and positions
// from 0, and what is wrong there; "" if nothing is.
func (c *Checker) Find(args json.RawMessage) (place []any, what string) {
	var value any
	if err := decodeNumbers(args, &value); err != nil {
		return nil, err.Error()
	}
	err := c.resolved.Validate(plain(value))
	if err == nil {
		return nil, ""
	}
	where, what := descend(c.schema, value, "", err)
	for part := range strings.SplitSeq(strings.Trim(where, "/"), "/") {
		switch v := value.(type) {
		case []any:
			i, _ := strconv.Atoi(part)
			place, value = append(place, i), v[i]
		case map[string]any:
			name := fromPointer.Replace(part)
			if below, ok := v[name]; ok {
				place, value = append(place, name), below
			}
		}
	}
	return place, what
}

// IsSame reports whether two texts are the same JSON value, however they are written.
func IsSame(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return decodeNumbers(a, &x) == nil && decodeNumbers(b, &y) == nil && reflect.DeepEqual(x, y)
}

// valid checks decoded arguments, which have to be an object. The error tells a model
// which value is wrong, and why.
func (c *Checker) valid(value any) error {
	if _, ok := value.(map[string]any); !ok {
		return fmt.Errorf("invalid arguments: /: expected object, got %s", jsonType(value))
	}
	if err := c.resolved.Validate(plain(value)); err != nil {
		where, what := descend(c.schema, value, "", err)
		return fmt.Errorf("invalid arguments: %s: %s", where, what)
	}
	return nil
}

// decodeNumbers decodes one JSON value, with its numbers as they are written.
func decodeNumbers(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// plain turns json.Number into float64, which is what the validator knows.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = plain(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = plain(e)
		}
		return l
	}
	return v
}

// descend returns the path of the smallest part of v that its schema s refuses, and what
// is wrong there. It is needed because err, which the validator returned for v, names
// places in the schema and not in the arguments.
func descend(s *jsonschema.Schema, v any, path string, err error) (string, string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if sub, ok := v[name]; ok {
				if e := validateAlone(s.Properties[name], sub); e != nil {
					return descend(s.Properties[name], sub, path+"/"+pointerToken.Replace(name), e)
				}
			}
		}
	case []any:
		for i, e := range v {
			if s.Items == nil {
				break
			}
			if bad := validateAlone(s.Items, e); bad != nil {
				return descend(s.Items, e, path+"/"+strconv.Itoa(i), bad)
			}
		}
	}
	if path == "" {
		path = "/"
	}
	return path, reason(s, v, err)
}

// validateAlone checks a part against its own schema. A schema that cannot be used outside
// of the whole, because of a reference, passes everything.
func validateAlone(s *jsonschema.Schema, v any) error {
	r, err := s.CloneSchemas().Resolve(nil)
	if err != nil {
		return nil
	}
	return r.Validate(plain(v))
}

// reason words the failure for a model: what stood there, what was expected.
func reason(s *jsonschema.Schema, v any, err error) string {
	if object, ok := v.(map[string]any); ok {
		for _, name := range s.Required {
			if _, ok := object[name]; !ok {
				return fmt.Sprintf("required property %q is missing", name)
			}
		}
		if extra := unknownProperty(s, object); extra != "" {
			return fmt.Sprintf("unknown property %q, known are %s", extra, strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
		}
	}
	if want := schemaTypes(s); len(want) > 0 && !typeFits(want, jsonType(v)) {
		return fmt.Sprintf("expected %s, got %s", strings.Join(want, " or "), jsonType(v))
	}
	if s.Enum != nil {
		b, _ := json.Marshal(s.Enum)
		return fmt.Sprintf("expected one of %s", b)
	}
	if limit := numberLimit(s, v); limit != "" {
		return limit
	}
	text := err.Error()
	if i := strings.LastIndex(text, "validating "); i >= 0 {
		if _, rest, ok := strings.Cut(text[i:], ": "); ok {
			text = rest
		}
	}
	return text
}

// numberLimit returns a sentence about the bound that a number is beyond; "" if it is
// within all bounds, or v is no number.
func numberLimit(s *jsonschema.Schema, v any) string {
	n, ok := v.(json.Number)
	if !ok {
		return ""
	}
	f, _ := n.Float64()
	for _, bound := range []struct {
		limit  *float64
		broken func(limit float64) bool
		words  string
	}{
		{s.Minimum, func(l float64) bool { return f < l }, "at least"},
		{s.Maximum, func(l float64) bool { return f > l }, "at most"},
		{s.ExclusiveMinimum, func(l float64) bool { return f <= l }, "more than"},
		{s.ExclusiveMaximum, func(l float64) bool { return f >= l }, "less than"},
	} {
		if bound.limit != nil && bound.broken(*bound.limit) {
			return fmt.Sprintf("expected %s %v, got %s", bound.words, *bound.limit, n)
		}
	}
	return ""
}

// pointerToken writes a name as part of a JSON pointer.
var (
	pointerToken = strings.NewReplacer("~", "~0", "/", "~1")
	fromPointer  = strings.NewReplacer("~1", "/", "~0", "~")
)

// unknownProperty returns the first property of object, by name, that s does not allow; ""
// if there is none, or s allows further properties.
func unknownProperty(s *jsonschema.Schema, object map[string]any) string {
	if s.AdditionalProperties == nil || s.AdditionalProperties.Not == nil || len(s.PatternProperties) > 0 {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if s.Properties[name] == nil {
			return name
		}
	}
	return ""
}

// schemaTypes returns the types that a schema allows; none means any.
func schemaTypes(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

// typeFits reports whether a value of type got is of one of the types in want.
func typeFits(want []string, got string) bool {
	return slices.Contains(want, got) || got == "integer" && slices.Contains(want, "number")
}

// jsonType is the JSON Schema type of a decoded value.
func jsonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) {
			return "integer"
		}
	}
	return "number"
}
