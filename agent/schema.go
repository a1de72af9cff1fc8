package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// argChecker validates the arguments of one tool: a coercion pass guided by the
// schema's types, then the schema itself.
type argChecker struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	dropped  []string // keywords that do not resolve and were left out
}

// newArgChecker compiles a tool's parameters. A schema that does not resolve is
// used without the keywords that keep it from doing so.
func newArgChecker(parameters json.RawMessage) (*argChecker, error) {
	if len(bytes.TrimSpace(parameters)) == 0 {
		parameters = json.RawMessage(`{"type":"object"}`)
	}
	var tree any
	if err := json.Unmarshal(parameters, &tree); err != nil {
		return nil, fmt.Errorf("parameters are not JSON: %w", err)
	}
	c := &argChecker{}
	for {
		err := c.compile(tree)
		if err == nil {
			return c, nil
		}
		keyword := dropOffender(tree)
		if keyword == "" {
			return nil, fmt.Errorf("parameters are no usable JSON schema: %w", err)
		}
		c.dropped = append(c.dropped, keyword)
	}
}

func (c *argChecker) compile(tree any) error {
	schema, resolved, err := resolveSchema(tree)
	if err == nil {
		c.schema, c.resolved = schema, resolved
	}
	return err
}

func resolveSchema(tree any) (*jsonschema.Schema, *jsonschema.Resolved, error) {
	b, err := json.Marshal(tree)
	if err != nil {
		return nil, nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, nil, err
	}
	if s.Schema != "" {
		s.Schema = "" // another draft's name is no reason to refuse what we understand
	}
	r, err := s.Resolve(nil)
	return &s, r, err
}

// dropOffender takes one keyword out of the schema tree: the one without which
// it resolves, else the first that cannot stand alone. It returns where it
// stood, or "" if there is nothing left to take out.
func dropOffender(tree any) string {
	spots := keywordSpots(tree, "")
	for _, s := range spots {
		value := s.in[s.key]
		delete(s.in, s.key)
		if _, _, err := resolveSchema(tree); err == nil {
			return s.path
		}
		s.in[s.key] = value
	}
	for _, s := range spots {
		if _, _, err := resolveSchema(map[string]any{s.key: s.in[s.key]}); err != nil {
			delete(s.in, s.key)
			return s.path
		}
	}
	return ""
}

type keywordSpot struct {
	in        map[string]any
	key, path string
}

// keywordSpots lists every member of every object below v, deepest first, so
// that the smallest part that offends is found before what holds it.
func keywordSpots(v any, path string) (spots []keywordSpot) {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			spots = append(spots, keywordSpots(v[k], path+"/"+k)...)
		}
		for _, k := range keys {
			spots = append(spots, keywordSpot{v, k, path + "/" + k})
		}
	case []any:
		for i, e := range v {
			spots = append(spots, keywordSpots(e, path+"/"+strconv.Itoa(i))...)
		}
	}
	return spots
}

// check returns the arguments to run with. They are the bytes given unless
// something had to be coerced. The error is for the model: it names the place
// in the arguments and what was expected there.
func (c *argChecker) check(args json.RawMessage) (json.RawMessage, error) {
	var value any
	if err := decodeNumbers(args, &value); err != nil {
		return nil, fmt.Errorf("arguments are not JSON: %w", err)
	}
	value, changed := coerce(c.schema, value)
	if err := c.resolved.Validate(plain(value)); err != nil {
		where, what := c.locate(value, err)
		return nil, fmt.Errorf("invalid arguments: %s: %s", where, what)
	}
	if !changed {
		return args, nil
	}
	return encode(value)
}

func decodeNumbers(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("more than one value")
	}
	return nil
}

func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
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

// locate finds the smallest part of the arguments that its schema refuses, for
// the validator names the schema's side only.
func (c *argChecker) locate(value any, err error) (where, what string) {
	return descend(c.schema, value, "", err)
}

func descend(s *jsonschema.Schema, v any, path string, err error) (string, string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(s.Properties) {
			if sub, ok := v[name]; ok {
				if e := validateAlone(s.Properties[name], sub); e != nil {
					return descend(s.Properties[name], sub, path+"/"+name, e)
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

// validateAlone checks a part against its own schema; a schema that only makes
// sense inside the whole (references) is taken to be content.
func validateAlone(s *jsonschema.Schema, v any) error {
	r, err := s.CloneSchemas().Resolve(nil)
	if err != nil {
		return nil
	}
	return r.Validate(plain(v))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
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
			return fmt.Sprintf("unknown property %q, known are %s", extra, strings.Join(sortedKeys(s.Properties), ", "))
		}
	}
	if want := schemaTypes(s); len(want) > 0 && !typeFits(want, jsonType(v)) {
		return fmt.Sprintf("expected %s, got %s", strings.Join(want, " or "), jsonType(v))
	}
	if s.Enum != nil {
		b, _ := json.Marshal(s.Enum)
		return fmt.Sprintf("expected one of %s", b)
	}
	text := err.Error()
	if i := strings.LastIndex(text, "validating "); i >= 0 {
		if _, rest, ok := strings.Cut(text[i:], ": "); ok {
			text = rest
		}
	}
	return text
}

func unknownProperty(s *jsonschema.Schema, object map[string]any) string {
	if s.AdditionalProperties == nil || s.AdditionalProperties.Not == nil || len(s.PatternProperties) > 0 {
		return ""
	}
	for _, name := range sortedKeys(object) {
		if s.Properties[name] == nil {
			return name
		}
	}
	return ""
}

func schemaTypes(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

func typeFits(want []string, got string) bool {
	return slices.Contains(want, got) || got == "integer" && slices.Contains(want, "number")
}

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
		if f, err := v.Float64(); err == nil && f == float64(int64(f)) {
			return "integer"
		}
	}
	return "number"
}
