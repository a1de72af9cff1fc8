package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// argChecker validates the arguments of one tool: a coercion pass guided by the
// schema's types, then the schema itself.
//
// It is immutable once made.
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
	s.Schema = "" // another draft's name is no reason to refuse what we understand
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
		keys := slices.Sorted(maps.Keys(v))
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
