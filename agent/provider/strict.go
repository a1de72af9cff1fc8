package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
)

// StrictSchema converts the parameters of a tool to what strict tools want:
// every object is closed and requires all its properties, and one that was
// optional may be null. It reports false for a schema of which that cannot be
// made without losing a rule, such as an object with free keys; that one is
// returned as [Schema] does.
func StrictSchema(parameters json.RawMessage) (json.RawMessage, bool) {
	schema := Schema(parameters)
	strict, err := strictNode(schema, place{})
	if err != nil {
		return schema, false
	}
	return strict, true
}

// errNotStrict is a schema that has no strict form.
var errNotStrict = errors.New("no strict form")

// Keywords of strict schemas, and those that say nothing a model needs.
const (
	strictKeywords = " type description title enum const properties required additionalProperties items anyOf $defs definitions $ref" +
		" minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern format minItems maxItems "
	strictIgnored = " $schema $id $comment default examples deprecated readOnly writeOnly "
	strictFormats = ` "date-time" "time" "date" "duration" "email" "hostname" "ipv4" "ipv6" "uuid" `
	strictDepth   = 10
)

func among(list string, word []byte) bool {
	return bytes.Contains([]byte(list), append(append([]byte(" "), word...), ' '))
}

// place is where a node is in a schema.
type place struct {
	depth int
	// hidden: among definitions or alternatives. A null that means absent is not looked
	// for there when the arguments are read, so nothing may be optional.
	hidden bool
}

func (p place) inner() place { return place{p.depth + 1, p.hidden} }
func (p place) hide() place  { return place{p.depth, true} }

// strictNode returns the strict form of one schema, without the keywords that say
// nothing to a model. It fails with errNotStrict if there is none.
func strictNode(schema json.RawMessage, at place) (json.RawMessage, error) {
	if at.depth > strictDepth || len(schema) == 0 || schema[0] != '{' {
		return nil, errNotStrict
	}
	fields, err := ReadFields(schema)
	if err != nil {
		return nil, err
	}
	fields = slices.DeleteFunc(fields, func(f Field) bool { return among(strictIgnored, []byte(f.Name)) })
	for i := range fields {
		f := &fields[i]
		if f.Value, err = strictKeyword(f, at); err != nil {
			return nil, err
		}
	}
	// Nodes whose keywords are fine one by one: a list of anything, a reference with
	// something beside it, and parameters that are a choice as a whole.
	if hasType(fields.Get("type"), "array") && fields.Get("items") == nil ||
		fields.Get("$ref") != nil && len(fields) > 1 ||
		fields.Get("anyOf") != nil && at.depth == 0 {
		return nil, errNotStrict
	}
	if hasType(fields.Get("type"), "object") || fields.Get("properties") != nil {
		if err := closeObject(&fields, at); err != nil {
			return nil, err
		}
	} else if fields.Get("type") == nil && fields.Get("anyOf") == nil && fields.Get("$ref") == nil && fields.Get("enum") == nil {
		return nil, errNotStrict // anything at all
	}
	return fields.JSON(), nil
}

// strictKeyword returns the strict form of a keyword's value, and fails for keywords
// that strict schemas do not have.
func strictKeyword(f *Field, at place) (json.RawMessage, error) {
	switch f.Name {
	case "properties":
		return eachField(f.Value, at.inner())
	case "$defs", "definitions":
		return eachField(f.Value, at.inner().hide())
	case "items":
		return strictNode(f.Value, at.inner())
	case "anyOf":
		return eachElement(f.Value, at.inner().hide())
	case "format":
		if !among(strictFormats, f.Value) {
			return nil, errNotStrict
		}
	case "pattern":
		// What Go's engine lacks, such as looking ahead, that of a server may lack too.
		var p string
		if json.Unmarshal(f.Value, &p) != nil {
			return nil, errNotStrict
		}
		if _, err := regexp.Compile(p); err != nil {
			return nil, errNotStrict
		}
	}
	if !among(strictKeywords, []byte(f.Name)) {
		return nil, errNotStrict
	}
	return f.Value, nil
}

// eachField returns an object of schemas with each in its strict form; it fails if one
// has none.
func eachField(object json.RawMessage, at place) (json.RawMessage, error) {
	fields, err := ReadFields(object)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		if fields[i].Value, err = strictNode(fields[i].Value, at); err != nil {
			return nil, err
		}
	}
	return fields.JSON(), nil
}

// eachElement returns a list of schemas with each in its strict form; it fails if one
// has none.
func eachElement(list json.RawMessage, at place) (json.RawMessage, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(list, &elements); err != nil {
		return nil, err
	}
	for i := range elements {
		var err error
		if elements[i], err = strictNode(elements[i], at); err != nil {
			return nil, err
		}
	}
	return Encode(elements)
}

// closeObject requires all properties of an object and allows no others. One that was
// optional may be null from then on.
func closeObject(object *Fields, at place) error {
	if more := object.Get("additionalProperties"); more != nil && string(more) != "false" || object.Get("properties") == nil {
		return errNotStrict
	}
	properties, err := ReadFields(object.Get("properties"))
	if err != nil {
		return err
	}
	var required []string
	if r := object.Get("required"); r != nil {
		if err := json.Unmarshal(r, &required); err != nil {
			return err
		}
	}
	all := []string{}
	for i := range properties {
		p := &properties[i]
		all = append(all, p.Name)
		if slices.Contains(required, p.Name) {
			continue
		}
		if at.hidden {
			return errNotStrict
		}
		if p.Value, err = nullable(p.Value); err != nil {
			return err
		}
	}
	names, err := Encode(all)
	object.Set("properties", properties.JSON())
	object.Set("required", names)
	object.Set("additionalProperties", json.RawMessage("false"))
	return err
}

// nullable makes a schema with a type accept null as well. Others have no strict
// form as an optional property: null for them would not be taken for absent.
func nullable(schema json.RawMessage) (json.RawMessage, error) {
	fields, err := ReadFields(schema)
	if err != nil {
		return nil, err
	}
	kinds := fields.Get("type")
	if len(kinds) == 0 || fields.Get("const") != nil {
		return nil, errNotStrict
	}
	if hasType(kinds, "null") {
		return schema, nil
	}
	if kinds, err = appendNull(kinds, `"null"`); err != nil {
		return nil, err
	}
	fields.Set("type", kinds)
	if values := fields.Get("enum"); len(values) > 0 {
		if values, err = appendNull(values, "null"); err != nil {
			return nil, err
		}
		fields.Set("enum", values)
	}
	return fields.JSON(), nil
}

// appendNull adds null, written as given, to a list or to a single word.
func appendNull(list json.RawMessage, null string) (json.RawMessage, error) {
	var elements []json.RawMessage
	if list[0] == '"' {
		elements = []json.RawMessage{list}
	} else if err := json.Unmarshal(list, &elements); err != nil {
		return nil, err
	}
	return Encode(append(elements, json.RawMessage(null)))
}

// hasType reports whether a type keyword, one name or a list, has a name.
func hasType(kinds json.RawMessage, name string) bool {
	var list []string
	if json.Unmarshal(kinds, &list) != nil {
		var one string
		return json.Unmarshal(kinds, &one) == nil && one == name
	}
	return slices.Contains(list, name)
}
