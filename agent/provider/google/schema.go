package google

import (
	"bytes"
	"encoding/json"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pi/agent/provider"
)

// schema is what the service reads of JSON Schema: a type with the rules that go
// with it, or a choice of schemas and nothing beside it. Everything else in a
// tool's parameters is turned into that as well as can be:
//
//   - references are followed; a schema that contains itself ends in free-form JSON;
//   - allOf is merged, oneOf is a choice like anyOf, const is an enum of one;
//   - "null" among types, choices or enums makes the schema nullable;
//   - the keywords beside a choice move into each of its schemas;
//   - an enum may only list texts; other values are named in the description;
//   - objects need properties and lists need items: an object without is a text
//     with JSON in it, which is read before the tool gets its arguments;
//   - the other keywords (additionalProperties, default, not, if, …) are left out.
//
// Arguments are checked against the tool's own schema when they come, so nothing
// that is left out here stays unchecked.
type schema struct {
	Type          string     `json:"type,omitempty"`
	Format        string     `json:"format,omitempty"`
	Description   string     `json:"description,omitempty"`
	Nullable      bool       `json:"nullable,omitempty"`
	Enum          []string   `json:"enum,omitempty"`
	Items         *schema    `json:"items,omitempty"`
	MinItems      *int64     `json:"minItems,omitempty"`
	MaxItems      *int64     `json:"maxItems,omitempty"`
	Properties    properties `json:"properties,omitempty"`
	Required      []string   `json:"required,omitempty"`
	MinProperties *int64     `json:"minProperties,omitempty"`
	MaxProperties *int64     `json:"maxProperties,omitempty"`
	MinLength     *int64     `json:"minLength,omitempty"`
	MaxLength     *int64     `json:"maxLength,omitempty"`
	Pattern       string     `json:"pattern,omitempty"`
	Minimum       *float64   `json:"minimum,omitempty"`
	Maximum       *float64   `json:"maximum,omitempty"`
	AnyOf         []*schema  `json:"anyOf,omitempty"`
}

// properties keep the order of the tool's author.
type properties []property

type property struct {
	name   string
	schema *schema
}

// MarshalJSON writes the properties as one object, in their order.
func (p properties) MarshalJSON() ([]byte, error) {
	var fields provider.Fields
	for i := range p {
		raw, err := provider.Encode(p[i].schema)
		if err != nil {
			return nil, err
		}
		fields = append(fields, provider.Field{Name: p[i].name, Value: raw})
	}
	return fields.JSON(), nil
}

func (p properties) has(name string) bool {
	return slices.ContainsFunc(p, func(q property) bool { return q.name == name })
}

// parameters converts the parameters of a tool. A tool without any has none:
// the service refuses an object without properties.
func parameters(raw json.RawMessage) *schema {
	x := &converter{root: provider.Object(raw), left: mostSchemas}
	k, open, ok := x.resolve(x.root, nil)
	if !ok {
		return nil
	}
	props, required := x.members(k, open)
	if len(props) == 0 {
		return nil
	}
	s := &schema{Type: "OBJECT", Description: k.text("description")}
	s.setProperties(props, required)
	return s
}

// What a schema may grow to by its references, and how deep it may be nested.
const (
	mostSchemas = 2000
	deepest     = 32
)

// converter converts one schema.
type converter struct {
	root  json.RawMessage
	left  int // schemas that may still be read
	depth int
}

// convert makes a schema of raw. open are the references that were followed to raw: one
// of them in raw would have no end. What cannot be described becomes JSON in a text.
func (x *converter) convert(raw json.RawMessage, open []string) *schema {
	k, open, ok := x.resolve(raw, open)
	x.depth++
	defer func() { x.depth-- }()
	if !ok || x.depth > deepest {
		return freeForm(k.text("description"))
	}
	if list := k.choices(); list != nil {
		return x.choice(k.without("anyOf", "oneOf"), list, open)
	}
	types, nullable := k.types()
	if len(types) > 1 {
		return x.choice(k.without("type", "nullable"), splitTypes(types, nullable), open)
	}
	kind := ""
	if len(types) == 1 {
		kind = types[0]
	}
	s := x.typed(k, kind, open)
	if nullable {
		s.orNull()
	}
	return s
}

// splitTypes makes alternatives of a list of types, one schema for each; null is one
// more if the value may be that.
func splitTypes(types []string, nullable bool) []json.RawMessage {
	if nullable {
		types = append(types, "null")
	}
	var list []json.RawMessage
	for _, t := range types {
		list = append(list, json.RawMessage(`{"type":"`+t+`"}`))
	}
	return list
}

// orNull allows null: in each alternative of a choice, for nothing may be beside it.
func (s *schema) orNull() {
	for _, one := range s.AnyOf {
		one.Nullable = true
	}
	s.Nullable = s.AnyOf == nil
}

// choice makes a schema that allows each of the alternatives in list. As nothing may be
// beside a choice, each of them also gets the keywords beside the list. null is no
// alternative but makes the schema nullable.
func (x *converter) choice(beside *keywords, list []json.RawMessage, open []string) *schema {
	nullable := false
	var all []*schema
	common := beside.JSON()
	for _, raw := range list {
		if k, ok := parseKeywords(raw); ok && (k.text("type") == "null" || string(bytes.TrimSpace(k.Get("const"))) == "null") {
			nullable = true
			continue
		}
		if len(beside.Fields) > 0 {
			raw = both(raw, common)
		}
		s := x.convert(raw, open)
		if s.AnyOf != nil {
			all = append(all, s.AnyOf...)
		} else {
			all = append(all, s)
		}
	}
	s := &schema{AnyOf: distinct(all)}
	switch len(s.AnyOf) {
	case 0:
		s = x.typed(beside, "", open)
	case 1:
		s = s.AnyOf[0]
	}
	if nullable {
		s.orNull()
	}
	return s
}

// distinct leaves out schemas that are equal to earlier ones.
func distinct(list []*schema) []*schema {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s *schema) bool {
		b, err := provider.Encode(s)
		again := err != nil || seen[string(b)]
		seen[string(b)] = true
		return again
	})
}

// typed makes a schema of the JSON type kind; if that is "", of one that its keywords
// or values suggest, or else of any simple type.
func (x *converter) typed(k *keywords, kind string, open []string) *schema {
	values, null := k.values()
	s := &schema{Description: k.text("description"), Nullable: null}
	if kind == "" {
		kind = k.guess(values)
	}
	switch kind {
	case "object":
		return x.object(s, k, open)
	case "array":
		s.Type = "ARRAY"
		s.Items = x.items(k, open)
		s.MinItems, s.MaxItems = k.count("minItems"), k.count("maxItems")
	case "string":
		s.text(k)
	case "integer", "number":
		s.number(k, kind)
	case "boolean":
		s.Type = "BOOLEAN"
	default:
		return anything(s)
	}
	s.list(values)
	return s
}

// text fills in the schema of a string: its length, and those formats and patterns that
// the service reads.
func (s *schema) text(k *keywords) {
	s.Type = "STRING"
	s.MinLength, s.MaxLength = k.count("minLength"), k.count("maxLength")
	if f := k.text("format"); f == "date-time" {
		s.Format = f
	}
	if p := k.text("pattern"); p != "" {
		if _, err := regexp.Compile(p); err == nil { // what Go lacks, such as looking ahead, the service may lack too
			s.Pattern = p
		}
	}
}

// number fills in the schema of a number, or of an integer, whose exclusive limits
// become inclusive ones.
func (s *schema) number(k *keywords, kind string) {
	s.Type = strings.ToUpper(kind)
	formats := []string{"float", "double"}
	if kind == "integer" {
		formats = []string{"int32", "int64"}
	}
	if f := k.text("format"); slices.Contains(formats, f) {
		s.Format = f
	}
	s.Minimum, s.Maximum = k.number("minimum"), k.number("maximum")
	if kind != "integer" {
		return
	}
	if n := k.number("exclusiveMinimum"); n != nil && s.Minimum == nil {
		s.Minimum = new(math.Floor(*n) + 1)
	}
	if n := k.number("exclusiveMaximum"); n != nil && s.Maximum == nil {
		s.Maximum = new(math.Ceil(*n) - 1)
	}
}

// list sets the values that are allowed. The service reads them for strings only; for
// others they are named in the description.
func (s *schema) list(values []json.RawMessage) {
	if len(values) == 0 {
		return
	}
	var texts []string
	for _, raw := range values {
		var text string
		if s.Type != "STRING" || json.Unmarshal(raw, &text) != nil || text == "" {
			var all []string
			for _, raw := range values {
				all = append(all, string(provider.CleanJSON(raw)))
			}
			s.describe("one of: " + strings.Join(all, ", "))
			return
		}
		texts = append(texts, provider.CleanText(text))
	}
	s.Enum = unique(texts)
}

// unique leaves out texts that are equal to earlier ones.
func unique(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// describe adds to the description.
func (s *schema) describe(more string) {
	if s.Description != "" {
		more = s.Description + " (" + more + ")"
	}
	s.Description = more
}

// freeForm is the schema of a value of which nothing is known: a text with JSON in it,
// which the description says.
func freeForm(description string) *schema {
	const as = "as JSON"
	s := &schema{Type: "STRING", Description: description}
	if !strings.HasSuffix(strings.TrimSuffix(description, ")"), as) {
		s.describe(as)
	}
	return s
}

// anything is the schema of a text, a number, or true or false, with the description of
// s.
func anything(s *schema) *schema {
	a := &schema{}
	for _, t := range []string{"STRING", "NUMBER", "BOOLEAN"} {
		a.AnyOf = append(a.AnyOf, &schema{Type: t, Description: s.Description, Nullable: s.Nullable})
	}
	return a
}

// object completes s as the schema of an object. One without known properties becomes
// JSON in a text, for the service refuses it.
func (x *converter) object(s *schema, k *keywords, open []string) *schema {
	props, required := x.members(k, open)
	if len(props) == 0 {
		free := freeForm(s.Description)
		free.Nullable = s.Nullable
		return free
	}
	s.Type = "OBJECT"
	s.MinProperties, s.MaxProperties = k.count("minProperties"), k.count("maxProperties")
	s.setProperties(props, required)
	return s
}

// members returns the properties of an object, converted, and the names of those that
// it requires. The alternatives of an object add theirs, see union.
func (x *converter) members(k *keywords, open []string) (properties, []string) {
	own := &keywords{}
	own.merge(k)
	if list := k.choices(); list != nil {
		own.merge(x.union(list, open))
	}
	var props properties
	declared, _ := parseKeywords(own.Get("properties"))
	for _, f := range declared.Fields {
		name := provider.CleanText(f.Name)
		if string(bytes.TrimSpace(f.Value)) != "false" && !props.has(name) {
			props = append(props, property{name, x.convert(f.Value, open)})
		}
	}
	return props, own.names("required")
}

// union merges alternatives into one object, as the parameters of a tool cannot be a
// choice: it has the properties that any of them has, and requires those that all
// require.
func (x *converter) union(list []json.RawMessage, open []string) *keywords {
	all := &keywords{}
	var required []string
	for i, raw := range list {
		k, _, _ := x.resolve(raw, open)
		if props := k.Get("properties"); props != nil {
			all.merge(&keywords{provider.Fields{{Name: "properties", Value: props}}})
		}
		needs := k.names("required")
		if i == 0 {
			required = needs
		}
		required = slices.DeleteFunc(required, func(name string) bool { return !slices.Contains(needs, name) })
	}
	if raw, err := provider.Encode(required); err == nil && len(required) > 0 {
		all.Set("required", raw)
	}
	return all
}

// setProperties sets the properties; of the required ones those that do not exist are
// left out.
func (s *schema) setProperties(props properties, required []string) {
	s.Properties = props
	for _, name := range unique(required) {
		if props.has(name) {
			s.Required = append(s.Required, name)
		}
	}
}

// items makes the schema of a list's elements. A list with a schema for each
// place is one of any of them.
func (x *converter) items(k *keywords, open []string) *schema {
	for _, name := range []string{"items", "prefixItems"} {
		raw := bytes.TrimSpace(k.Get(name))
		if len(raw) > 0 && raw[0] == '{' {
			return x.convert(raw, open)
		}
		var each []json.RawMessage
		if json.Unmarshal(raw, &each) == nil && len(each) > 0 {
			return x.choice(&keywords{}, each, open)
		}
	}
	return anything(&schema{})
}

// resolve returns the keywords of a schema, with those of its references and of the
// schemas in its allOf merged in. inside are the references that were followed to
// there. ok is false for a schema that contains itself, for too many of them, and for
// what is no schema.
func (x *converter) resolve(raw json.RawMessage, open []string) (k *keywords, inside []string, ok bool) {
	all, ok := parseKeywords(raw)
	k, inside = all.without("$ref", "allOf"), open
	if x.left--; x.left < 0 || !ok {
		return k, inside, false
	}
	add := func(raw json.RawMessage, within []string) {
		more, further, fine := x.resolve(raw, within)
		k.merge(more)
		inside = append(slices.Clip(inside), further[len(open):]...)
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

// child is the element at a position of a list, or the value of a field of an object;
// nil if there is none.
func child(raw json.RawMessage, name string) json.RawMessage {
	if i, err := strconv.Atoi(name); err == nil {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && i >= 0 && i < len(list) {
			return list[i]
		}
	}
	k, _ := parseKeywords(raw)
	return k.Get(name)
}
