package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// StrictSchema converts the parameters of a tool to what strict tools want:
// every object is closed and requires all its properties, and one that was
// optional may be null. It reports false for a schema of which that cannot be
// made without losing a rule, such as an object with free keys; that one is
// returned as [Schema] does.
func StrictSchema(parameters json.RawMessage) (json.RawMessage, bool) {
	schema := Schema(parameters)
	strict, err := strictNode(schema, 0)
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

func strictNode(schema json.RawMessage, depth int) (json.RawMessage, error) {
	if depth > strictDepth || len(schema) == 0 || schema[0] != '{' {
		return nil, errNotStrict
	}
	fields, err := ReadFields(schema)
	if err != nil {
		return nil, err
	}
	fields = slices.DeleteFunc(fields, func(f Field) bool { return among(strictIgnored, []byte(f.Name)) })
	for i := range fields {
		f := &fields[i]
		if f.Value, err = strictKeyword(f, depth); err != nil {
			return nil, err
		}
	}
	if hasType(fields.Get("type"), "array") && fields.Get("items") == nil {
		return nil, errNotStrict
	}
	if hasType(fields.Get("type"), "object") || fields.Get("properties") != nil {
		if err := closeObject(&fields); err != nil {
			return nil, err
		}
	} else if fields.Get("type") == nil && fields.Get("anyOf") == nil && fields.Get("$ref") == nil && fields.Get("enum") == nil {
		return nil, errNotStrict // anything at all
	}
	return fields.JSON()
}

func strictKeyword(f *Field, depth int) (json.RawMessage, error) {
	switch f.Name {
	case "properties", "$defs", "definitions":
		return eachField(f.Value, depth)
	case "items":
		return strictNode(f.Value, depth+1)
	case "anyOf":
		return eachElement(f.Value, depth)
	case "format":
		if !among(strictFormats, f.Value) {
			return nil, errNotStrict
		}
	}
	if !among(strictKeywords, []byte(f.Name)) {
		return nil, errNotStrict
	}
	return f.Value, nil
}

func eachField(object json.RawMessage, depth int) (json.RawMessage, error) {
	fields, err := ReadFields(object)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		if fields[i].Value, err = strictNode(fields[i].Value, depth+1); err != nil {
			return nil, err
		}
	}
	return fields.JSON()
}

func eachElement(list json.RawMessage, depth int) (json.RawMessage, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(list, &elements); err != nil {
		return nil, err
	}
	for i := range elements {
		var err error
		if elements[i], err = strictNode(elements[i], depth+1); err != nil {
			return nil, err
		}
	}
	return Encode(elements)
}

// closeObject requires all properties and allows no others.
func closeObject(object *Fields) error {
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
		if p.Value, err = nullable(p.Value); err != nil {
			return err
		}
	}
	return setObject(object, properties, all)
}

func setObject(object *Fields, properties Fields, required []string) error {
	p, err := properties.JSON()
	if err != nil {
		return err
	}
	r, err := Encode(required)
	if err != nil {
		return err
	}
	object.Set("properties", p)
	object.Set("required", r)
	object.Set("additionalProperties", json.RawMessage("false"))
	return nil
}

// nullable lets a schema accept null as well.
func nullable(schema json.RawMessage) (json.RawMessage, error) {
	const null = `{"type":"null"}`
	fields, err := ReadFields(schema)
	if err != nil {
		return nil, err
	}
	if list := fields.Get("anyOf"); list != nil {
		fields.Set("anyOf", appendElement(list, null))
		return fields.JSON()
	}
	kinds := fields.Get("type")
	if kinds == nil || fields.Get("const") != nil {
		return json.RawMessage(`{"anyOf":[` + string(schema) + `,` + null + `]}`), nil
	}
	if hasType(kinds, "null") {
		return schema, nil
	}
	if kinds[0] == '"' {
		kinds = json.RawMessage("[" + string(kinds) + "]")
	}
	fields.Set("type", appendElement(kinds, `"null"`))
	if values := fields.Get("enum"); values != nil {
		fields.Set("enum", appendElement(values, "null"))
	}
	return fields.JSON()
}

// appendElement adds to a JSON list that has elements.
func appendElement(list json.RawMessage, element string) json.RawMessage {
	list = bytes.TrimSpace(list)
	return json.RawMessage(string(list[:len(list)-1]) + "," + element + "]")
}

// hasType reports whether a type keyword, one name or a list, holds a name.
func hasType(kinds json.RawMessage, name string) bool {
	var list []string
	if json.Unmarshal(kinds, &list) != nil {
		var one string
		return json.Unmarshal(kinds, &one) == nil && one == name
	}
	return slices.Contains(list, name)
}
