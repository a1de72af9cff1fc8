package stdlib

import (
	"fmt"
	"slices"
	"strings"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// WrongParameters says what is wrong with the parameters of a tool, a JSON Schema of an
// object: "" for nothing. A table of fields is none, though each of them is one, and the model
// would get a tool without arguments.
func WrongParameters(L *lua.LState, t *lua.LTable) string {
	luavm.Materialise(L, t)
	known := false
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		name, isText := k.(lua.LString)
		if !isText {
			return "they are a JSON Schema, not a list"
		}
		known = known || IsSchemaKeyword(string(name))
	}
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if name := k.String(); !known || isSchema(v) {
			if wrong := WrongKeyword(name); wrong != "" {
				return wrong
			}
		}
	}
	if of, ok := t.RawGetString("type").(lua.LString); ok && of != "object" {
		return fmt.Sprintf("they are a JSON Schema of the type object, not %s", string(of))
	}
	return ""
}

// WrongKeyword says what is wrong with a schema that is a field of a schema; "" if keywords of
// that name are schemas, or hold some.
func WrongKeyword(name string) string {
	of := "is no keyword of JSON Schema"
	switch {
	case slices.Contains(plainKeywords(), name):
		of = "of a JSON Schema is no schema"
	case IsSchemaKeyword(name):
		return ""
	}
	return fmt.Sprintf("%q %s, did you mean schema.object { %s = … }?", name, of, name)
}

// isSchema reports whether a value is surely a JSON Schema, or an optional one.
func isSchema(v lua.LValue) bool {
	switch v := v.(type) {
	case *lua.LUserData:
		_, ok := v.Value.(optional)
		return ok
	case *lua.LTable:
		_, typed := v.RawGetString("type").(lua.LString)
		return typed || slices.ContainsFunc([]string{"enum", "anyOf", "oneOf", "allOf", "properties", "items", "$ref"}, func(key string) bool {
			return v.RawGetString(key).Type() != lua.LTNil
		})
	}
	return false
}

// IsSchemaKeyword reports whether JSON Schema has a keyword, in any of its versions or as
// OpenAPI has it. Names with $ and those with x- are free.
func IsSchemaKeyword(name string) bool {
	return strings.HasPrefix(name, "$") || strings.HasPrefix(name, "x-") ||
		slices.Contains(plainKeywords(), name) || slices.Contains(schemaKeywords(), name)
}

// plainKeywords are those that are texts, numbers, booleans or lists of these.
func plainKeywords() []string {
	return []string{"type", "title", "description", "pattern", "format", "required", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
		"minContains", "maxContains", "contentEncoding", "contentMediaType", "deprecated", "readOnly", "writeOnly", "nullable", "id"}
}

// schemaKeywords are those that are schemas, hold some, or may be any value.
func schemaKeywords() []string {
	return []string{"properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames",
		"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "anyOf", "allOf", "oneOf", "not", "if", "then", "else",
		"dependentSchemas", "dependentRequired", "dependencies", "definitions", "contentSchema",
		"default", "const", "enum", "example", "examples", "discriminator", "externalDocs", "xml"}
}
