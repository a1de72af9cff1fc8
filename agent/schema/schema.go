// Package schema checks the arguments of tool calls against the JSON Schema that
// their tool describes them with.
//
// Models slip: a number comes as a string, a list as its JSON in a string, a scalar
// where a list is wanted, null for what may be left out. Where the meaning is beyond
// doubt the arguments are coerced (coerce.go), then they are checked (arguments.go),
// and nothing is guessed: what does not pass is told to the model with the place in
// the arguments and what was expected there.
//
// A schema is compiled once, see [Compile]. Those of hooks and servers are written
// by anybody: a keyword that cannot be resolved is left out, so that the others
// still count, and is listed for whoever warns of it.
package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Checker validates the arguments of one tool: a coercion pass guided by the
// schema's types, then the schema itself. It is immutable once made, so all its
// methods may be called concurrently.
type Checker struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	// Dropped are the keywords that do not resolve and were left out, as JSON
	// pointers into the schema.
	Dropped []string
}

// Compile parses the parameters of a tool, a JSON Schema; empty ones allow any
// object. A schema that does not resolve is used without the keywords that keep it
// from doing so, see Dropped. The error says that nothing usable is left.
func Compile(parameters json.RawMessage) (*Checker, error) {
	if len(bytes.TrimSpace(parameters)) == 0 {
		parameters = json.RawMessage(`{"type":"object"}`)
	}
	var tree any
	if err := json.Unmarshal(parameters, &tree); err != nil {
		return nil, fmt.Errorf("parameters are not JSON: %w", err)
	}
	c := &Checker{}
	for {
		var err error
		if c.schema, c.resolved, err = resolveSchema(tree); err == nil {
			return c, nil
		}
		keyword := dropOffender(tree)
		if keyword == "" {
			return nil, fmt.Errorf("parameters are no usable JSON schema: %w", err)
		}
		c.Dropped = append(c.Dropped, keyword)
	}
}

// resolveSchema builds a schema from decoded JSON. The tree is not changed. A type that there is
// not is an error, for nothing would fit it.
func resolveSchema(tree any) (*jsonschema.Schema, *jsonschema.Resolved, error) {
	for _, s := range keywordSpots(tree, "") {
		if s.key == "type" && !isType(s.in[s.key]) {
			return nil, nil, fmt.Errorf("%s: there is no type %v", s.path, s.in[s.key])
		}
	}
	b, err := json.Marshal(tree)
	if err != nil {
		return nil, nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, nil, err
	}
	s.Schema = "" // another draft's name is no reason to refuse what we understand
	r, err := s.Resolve(nil)
	return &s, r, err
}

// isType reports whether JSON Schema has a type, or each of a list of them.
func isType(value any) bool {
	if list, ok := value.([]any); ok {
		return !slices.ContainsFunc(list, func(v any) bool { return !isType(v) })
	}
	name, _ := value.(string)
	return slices.Contains([]string{"null", "boolean", "object", "array", "number", "string", "integer"}, name)
}

// dropOffender removes one keyword that keeps the schema from resolving, and returns its
// path; "" if it finds none. It prefers the smallest one without which the schema
// resolves. Otherwise it removes the first that fails by itself, and is called again for
// the rest.
func dropOffender(tree any) string {
	spots := keywordSpots(tree, "")
	offenders := suspects(spots)
	for _, s := range spots {
		if s.isAboveAny(offenders) {
			continue
		}
		value := s.in[s.key]
		delete(s.in, s.key)
		if _, _, err := resolveSchema(tree); err == nil {
			return s.path
		}
		s.in[s.key] = value
	}
	if len(offenders) == 0 {
		return ""
	}
	delete(offenders[0].in, offenders[0].key)
	return offenders[0].path
}

// keywordSpot is one keyword in a tree of schemas.
type keywordSpot struct {
	in        map[string]any
	key, path string
}

// isAboveAny reports whether one of others lies inside of the value of the keyword s.
func (s keywordSpot) isAboveAny(others []keywordSpot) bool {
	return slices.ContainsFunc(others, func(o keywordSpot) bool { return strings.HasPrefix(o.path, s.path+"/") })
}

// suspects returns the keywords that do not resolve even alone, the innermost ones only.
// References come last, for they cannot resolve alone though they may be right in their
// place.
func suspects(spots []keywordSpot) []keywordSpot {
	var found []keywordSpot
	for _, s := range spots {
		if s.isAboveAny(found) {
			continue
		}
		if _, _, err := resolveSchema(map[string]any{s.key: s.in[s.key]}); err != nil {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b keywordSpot) int {
		return cmp.Compare(strings.Count(a.key, "$ref"), strings.Count(b.key, "$ref"))
	})
	return found
}

// keywordSpots lists every keyword of a schema and of those below it, deepest
// first.
func keywordSpots(schema any, path string) (spots []keywordSpot) {
	object, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	keywords := slices.Sorted(maps.Keys(object))
	for _, k := range keywords {
		spots = append(spots, spotsBelow(k, object[k], path+"/"+k)...)
	}
	for _, k := range keywords {
		spots = append(spots, keywordSpot{object, k, path + "/" + k})
	}
	return spots
}

// spotsBelow lists the keywords of the schemas that the value of a keyword holds.
func spotsBelow(keyword string, value any, path string) (spots []keywordSpot) {
	switch keyword {
	case "enum", "const", "default", "examples", "dependentRequired":
		return nil
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		named, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			spots = append(spots, keywordSpots(named[name], path+"/"+pointerToken.Replace(name))...)
		}
		return spots
	}
	if list, ok := value.([]any); ok {
		for i, schema := range list {
			spots = append(spots, keywordSpots(schema, path+"/"+strconv.Itoa(i))...)
		}
		return spots
	}
	return keywordSpots(value, path)
}
