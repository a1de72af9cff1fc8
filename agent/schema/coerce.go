package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// coerce makes of v what s asks for, where models are known to slip and the
// meaning is beyond doubt: a number or boolean written as a string, an array or
// object written as JSON in a string, a scalar where a list of them is wanted,
// null for an optional property. Nothing else is guessed. v is changed in place
// where it is an object or array.
func coerce(s *jsonschema.Schema, v any) (_ any, changed bool) {
	want := schemaTypes(s)
	if len(want) > 0 && !typeFits(want, jsonType(v)) {
		if better, ok := convert(want, v); ok {
			v, changed = better, true
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return v, coerceObject(s, v) || changed
	case []any:
		for i := range v {
			if s.Items != nil {
				var c bool
				v[i], c = coerce(s.Items, v[i])
				changed = changed || c
			}
		}
	}
	return v, changed
}

// coerceObject coerces the properties of an object in place.
func coerceObject(s *jsonschema.Schema, object map[string]any) (changed bool) {
	for name, sub := range s.Properties {
		v, ok := object[name]
		if !ok {
			continue
		}
		want := schemaTypes(sub)
		if v == nil && !slices.Contains(s.Required, name) && len(want) > 0 && !slices.Contains(want, "null") {
			delete(object, name)
			changed = true
			continue
		}
		better, c := coerce(sub, v)
		if c {
			object[name], changed = better, true
		}
	}
	return changed
}

// convert returns v as a value of one of the types in want, if there is one that v can
// only mean: a string that has the value in it, or a single value where a list is wanted.
func convert(want []string, v any) (any, bool) {
	if text, ok := v.(string); ok {
		if better, ok := convertString(want, text); ok {
			return better, true
		}
	}
	if slices.Contains(want, "array") {
		switch v.(type) {
		case string, bool, json.Number:
			return []any{v}, true
		}
	}
	return nil, false
}

// convertString parses text as the first type in want for which that is possible.
func convertString(want []string, text string) (any, bool) {
	trimmed := strings.TrimSpace(text)
	var parsed any
	for _, t := range want {
		switch t {
		case "number", "integer":
			if n, ok := number(trimmed, t); ok {
				return n, true
			}
		case "boolean":
			if trimmed == "true" || trimmed == "false" {
				return trimmed == "true", true
			}
		case "array", "object":
			if decodeNumbers([]byte(trimmed), &parsed) == nil && jsonType(parsed) == t {
				return parsed, true
			}
		}
	}
	return nil, false
}

// number parses text as a number of type want, "number" or "integer". An integer is
// returned without fraction and exponent, for tools decode it into an int; one that has no
// exact value is refused.
func number(text, want string) (json.Number, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !json.Valid([]byte(text)) {
		return "", false
	}
	if want == "number" || !strings.ContainsAny(text, ".eE") {
		return json.Number(text), true
	}
	if f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return "", false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}
