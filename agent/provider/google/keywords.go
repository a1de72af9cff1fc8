package google

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pi/agent/provider"
)

// keywords are the fields of a JSON Schema, in their order.
type keywords struct{ list []keyword }

type keyword struct {
	name  string
	value json.RawMessage
}

// parseKeywords reads a schema. The schema true has no keywords; false is none.
func parseKeywords(raw json.RawMessage) (*keywords, bool) {
	k := &keywords{}
	if string(bytes.TrimSpace(raw)) == "true" {
		return k, true
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return k, false
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return k, false
		}
		k.set(provider.CleanText(name), value)
	}
	return k, true
}

func (k *keywords) index(name string) int {
	return slices.IndexFunc(k.list, func(w keyword) bool { return w.name == name })
}

func (k *keywords) set(name string, value json.RawMessage) {
	if i := k.index(name); i >= 0 {
		k.list[i].value = value
		return
	}
	k.list = append(k.list, keyword{name, value})
}

func (k *keywords) get(name string) (json.RawMessage, bool) {
	if i := k.index(name); i >= 0 {
		return k.list[i].value, true
	}
	return nil, false
}

func (k *keywords) has(name string) bool { return k.index(name) >= 0 }

func (k *keywords) raw(name string) json.RawMessage {
	value, _ := k.get(name)
	return value
}

// text is a keyword that is a text; "" if it is not.
func (k *keywords) text(name string) string {
	var s string
	if json.Unmarshal(k.raw(name), &s) != nil {
		return ""
	}
	return provider.CleanText(s)
}

// number is a keyword that is a number; nil if it is not.
func (k *keywords) number(name string) *float64 {
	var n *float64
	if json.Unmarshal(k.raw(name), &n) != nil {
		return nil
	}
	return n
}

// count is a keyword that counts something.
func (k *keywords) count(name string) *int64 {
	n := k.number(name)
	if n == nil || *n < 0 || *n > 1<<53 || *n != math.Trunc(*n) {
		return nil
	}
	return new(int64(*n))
}

// names is a keyword that lists texts.
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

// schemas is a keyword that lists schemas, or other values.
func (k *keywords) schemas(name string) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(k.raw(name), &list) != nil {
		return nil
	}
	return list
}

// choices are the alternatives of a schema; nil if it has none.
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
	if list[0] == "" && json.Unmarshal(k.raw("type"), &list) != nil {
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
	if json.Unmarshal(k.raw("nullable"), &flag) == nil && flag {
		nullable = true
	}
	return types, nullable
}

// values are what an enum or a const allows, without null, and whether null is
// among them.
func (k *keywords) values() (values []json.RawMessage, null bool) {
	list := k.schemas("enum")
	if c, ok := k.get("const"); ok {
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

// guess is the type of a schema that does not say: by the keywords it has, or by
// the values it allows; "" if it can be anything.
func (k *keywords) guess(values []json.RawMessage) string {
	for _, g := range [][2]string{
		{"properties", "object"}, {"items", "array"}, {"prefixItems", "array"}, {"pattern", "string"},
		{"minLength", "string"}, {"maxLength", "string"}, {"minimum", "number"}, {"maximum", "number"},
		{"additionalProperties", "object"}, {"required", "object"},
	} {
		if k.has(g[0]) {
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
	rest := &keywords{}
	for _, w := range k.list {
		if !slices.Contains(names, w.name) {
			rest.list = append(rest.list, w)
		}
	}
	return rest
}

// joined is a schema of which raw and k both hold.
func (k *keywords) joined(raw json.RawMessage) json.RawMessage {
	if len(k.list) == 0 {
		return raw
	}
	beside, err := provider.Encode(k)
	if err != nil {
		return raw
	}
	return join([]byte(`{"allOf":[`), raw, []byte(","), beside, []byte("]}"))
}

func join(pieces ...[]byte) json.RawMessage { return bytes.Join(pieces, nil) }

// MarshalJSON writes the keywords in their order.
func (k *keywords) MarshalJSON() ([]byte, error) {
	b := []byte("{")
	for i, w := range k.list {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := provider.Encode(w.name)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), w.value...)
	}
	return append(b, '}'), nil
}

// merge adds the keywords of another schema that holds too. Properties and what
// is required add up; of other keywords the first counts.
func (k *keywords) merge(other *keywords) {
	for _, w := range other.list {
		mine, have := k.get(w.name)
		switch {
		case !have:
			k.set(w.name, w.value)
		case w.name == "properties":
			k.set(w.name, mergeProperties(mine, w.value))
		case w.name == "required":
			k.set(w.name, concat(mine, w.value))
		case w.name == "type":
			k.set(w.name, narrower(mine, w.value))
		}
	}
}

func mergeProperties(a, b json.RawMessage) json.RawMessage {
	props, ok := parseKeywords(a)
	more, _ := parseKeywords(b)
	if !ok {
		return b
	}
	for _, w := range more.list {
		if mine, have := props.get(w.name); have && !bytes.Equal(mine, w.value) {
			w.value = join([]byte(`{"allOf":[`), mine, []byte(","), w.value, []byte("]}"))
		}
		props.set(w.name, w.value)
	}
	merged, err := provider.Encode(props)
	if err != nil {
		return a
	}
	return merged
}

// concat joins two lists.
func concat(a, b json.RawMessage) json.RawMessage {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if len(b) <= len("[]") || b[0] != '[' {
		return a
	}
	if len(a) <= len("[]") || a[0] != '[' {
		return b
	}
	return join(a[:len(a)-1], []byte(","), b[1:])
}

// narrower prefers one type to a list of them.
func narrower(a, b json.RawMessage) json.RawMessage {
	if bytes.HasPrefix(bytes.TrimSpace(a), []byte("[")) {
		return b
	}
	return a
}

// resolve follows the references of a schema and merges its allOf. inside are
// the references that it stands in then. It reports false for a schema that
// contains itself, and for what is none.
func (x *converter) resolve(raw json.RawMessage, open []string) (k *keywords, inside []string, ok bool) {
	all, ok := parseKeywords(raw)
	k, inside = all.without("$ref", "allOf"), open
	if x.left--; x.left < 0 || !ok {
		return k, inside, false
	}
	add := func(raw json.RawMessage, open []string) {
		more, further, fine := x.resolve(raw, open)
		k.merge(more)
		inside = append(slices.Clip(inside), further...)
		ok = ok && fine
	}
	if ref := all.text("$ref"); slices.Contains(open, ref) {
		return k, inside, false
	} else if ref != "" {
		add(x.find(ref), append(slices.Clip(open), ref))
	}
	for _, part := range all.schemas("allOf") {
		add(part, open)
	}
	return k, inside, ok
}

// find looks up a reference within the schema; what is elsewhere may be anything.
func (x *converter) find(ref string) json.RawMessage {
	anything := json.RawMessage("true")
	path, local := strings.CutPrefix(ref, "#")
	path, err := url.PathUnescape(path)
	if !local || err != nil || path != "" && path[0] != '/' {
		return anything
	}
	at, unescape := x.root, strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		if at = child(at, unescape.Replace(step)); at == nil {
			return anything
		}
	}
	return at
}

func child(raw json.RawMessage, name string) json.RawMessage {
	if i, err := strconv.Atoi(name); err == nil {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && i >= 0 && i < len(list) {
			return list[i]
		}
	}
	k, _ := parseKeywords(raw)
	return k.raw(name)
}
