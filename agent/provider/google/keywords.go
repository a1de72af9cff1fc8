package google

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"pi/agent/provider"
)

// keywords are the fields of a JSON Schema.
type keywords struct{ provider.Fields }

// parseKeywords reads a schema. The schema true has no keywords; false is none.
func parseKeywords(raw json.RawMessage) (*keywords, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return &keywords{}, string(raw) == "true"
	}
	fields, err := provider.ReadFields(raw)
	if err != nil {
		return &keywords{}, false
	}
	return &keywords{fields}, true
}

// text returns the value of a keyword of the schema as valid UTF-8; "" if it is absent
// or no string.
func (k *keywords) text(name string) string {
	var s string
	if json.Unmarshal(k.Get(name), &s) != nil {
		return ""
	}
	return provider.CleanText(s)
}

// number returns the value of a keyword of the schema; nil if it is absent or no number.
func (k *keywords) number(name string) *float64 {
	var n *float64
	if json.Unmarshal(k.Get(name), &n) != nil {
		return nil
	}
	return n
}

// count returns the value of a keyword that is a whole number, not negative; nil if it
// is absent or anything else.
func (k *keywords) count(name string) *int64 {
	n := k.number(name)
	if n == nil || *n < 0 || *n > 1<<53 || *n != math.Trunc(*n) {
		return nil
	}
	return new(int64(*n))
}

// names returns the strings in the list of a keyword; other elements are left out.
func (k *keywords) names(name string) []string {
	var list []string
	for _, raw := range k.schemas(name) {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			list = append(list, provider.CleanText(s))
		}
	}
	return list
}

// schemas returns the elements of a keyword's list, schemas or other values; nil if it
// is absent or no list.
func (k *keywords) schemas(name string) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(k.Get(name), &list) != nil {
		return nil
	}
	return list
}

// choices are the alternatives of a schema, those of anyOf or else of oneOf; nil if it
// has none.
func (k *keywords) choices() []json.RawMessage {
	if list := k.schemas("anyOf"); len(list) > 0 {
		return list
	}
	if list := k.schemas("oneOf"); len(list) > 0 {
		return list
	}
	return nil
}

var knownTypes = []string{"string", "number", "integer", "boolean", "array", "object"}

// types are the types of a schema that are known, and whether null is among
// them.
func (k *keywords) types() (types []string, nullable bool) {
	list := []string{k.text("type")}
	if list[0] == "" && json.Unmarshal(k.Get("type"), &list) != nil {
		list = nil
	}
	for _, t := range list {
		t = strings.ToLower(t)
		nullable = nullable || t == "null"
		if slices.Contains(knownTypes, t) && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	var flag bool
	if json.Unmarshal(k.Get("nullable"), &flag) == nil && flag {
		nullable = true
	}
	return types, nullable
}

// values are the values that an enum or a const allows, without null; null reports
// whether that is allowed too.
func (k *keywords) values() (values []json.RawMessage, null bool) {
	list := k.schemas("enum")
	if c := k.Get("const"); c != nil {
		list = []json.RawMessage{c}
	}
	for _, raw := range list {
		if string(bytes.TrimSpace(raw)) == "null" {
			null = true
			continue
		}
		values = append(values, raw)
	}
	return values, null
}

// guess is the JSON type of a schema that does not say: by the keywords it has, or by
// the values it allows; "" if it can be of several types.
func (k *keywords) guess(values []json.RawMessage) string {
	for _, g := range [][2]string{
		{"properties", "object"}, {"items", "array"}, {"prefixItems", "array"}, {"pattern", "string"},
		{"minLength", "string"}, {"maxLength", "string"}, {"minimum", "number"}, {"maximum", "number"},
		{"additionalProperties", "object"}, {"required", "object"},
	} {
		if k.Get(g[0]) != nil {
			return g[1]
		}
	}
	kind := ""
	for i, raw := range values {
		t := typeOf(raw)
		if i > 0 && t != kind {
			return ""
		}
		kind = t
	}
	return kind
}

// typeOf is the JSON type of a value that is not null.
func typeOf(raw json.RawMessage) string {
	switch bytes.TrimSpace(raw)[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case '{':
		return "object"
	case '[':
		return "array"
	}
	if bytes.ContainsAny(raw, ".eE") {
		return "number"
	}
	return "integer"
}

// without returns the keywords but those of the names.
func (k *keywords) without(names ...string) *keywords {
	named := func(f provider.Field) bool { return slices.Contains(names, f.Name) }
	return &keywords{slices.DeleteFunc(slices.Clone(k.Fields), named)}
}

// both is a schema that demands what two schemas demand.
func both(a, b json.RawMessage) json.RawMessage {
	return bytes.Join([][]byte{[]byte(`{"allOf":[`), a, []byte(","), b, []byte("]}")}, nil)
}

// merge adds the keywords of another schema that has to match too. Properties and what
// is required add up; of other keywords the first counts.
func (k *keywords) merge(other *keywords) {
	for _, f := range other.Fields {
		mine := k.Get(f.Name)
		switch {
		case mine == nil:
			k.Set(f.Name, f.Value)
		case f.Name == "properties":
			k.Set(f.Name, mergeProperties(mine, f.Value))
		case f.Name == "required":
			k.Set(f.Name, concat(mine, f.Value))
		case f.Name == "type":
			if bytes.HasPrefix(bytes.TrimSpace(mine), []byte("[")) { // one type is narrower than a list
				k.Set(f.Name, f.Value)
			}
		}
	}
}

// mergeProperties joins the properties of two schemas; one that both have has to match
// both.
func mergeProperties(a, b json.RawMessage) json.RawMessage {
	props, ok := parseKeywords(a)
	more, _ := parseKeywords(b)
	if !ok {
		return b
	}
	for _, f := range more.Fields {
		if mine := props.Get(f.Name); mine != nil && !bytes.Equal(mine, f.Value) {
			f.Value = both(mine, f.Value)
		}
		props.Set(f.Name, f.Value)
	}
	return props.JSON()
}

// concat joins two JSON lists; what is no list or empty adds nothing.
func concat(a, b json.RawMessage) json.RawMessage {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if len(b) <= len("[]") || b[0] != '[' {
		return a
	}
	if len(a) <= len("[]") || a[0] != '[' {
		return b
	}
	return bytes.Join([][]byte{a[:len(a)-1], b[1:]}, []byte(","))
}
