package api

import (
	"strings"
	"testing"
)

// A table of fields is no JSON Schema, and would give the model a tool without arguments.
// Whatever a schema of an object may have is taken.
func TestTheParametersOfAToolAreASchema(t *testing.T) {
	l := newLab(t, func(l *lab) part {
		l.Tools = &labBox{l: l}
		return (&tools{bridge: l.bridge, contexts: new(contexts), signals: &signals{bridge: l.bridge}}).part()
	})
	for parameters, want := range map[string]string{
		`{ path = { type = "string" } }`:                                  `"path" is no keyword of JSON Schema, did you mean schema.object { path = … }?`,
		`{ type = "object", path = { type = "string" } }`:                 `"path" is no keyword`,
		`{ description = "d", mode = { enum = { "a" } } }`:                `"mode" is no keyword`,
		`{ path = "string" }`:                                             `"path" is no keyword`,
		`{ pattern = { type = "string" } }`:                               `"pattern" of a JSON Schema is no schema, did you mean schema.object { pattern = … }?`,
		`{ type = { type = "string" } }`:                                  `"type" of a JSON Schema is no schema`,
		`{ { type = "string" } }`:                                         `a JSON Schema, not a list`,
		`{ type = "string" }`:                                             `of the type object, not string`,
		`{}`:                                                              "",
		`{ type = "object" }`:                                             "",
		`{ properties = { path = { type = "string" } } }`:                 "",
		`{ type = { "object", "null" }, title = "t", description = "d" }`: "",
		`{ anyOf = { { required = { "a" } } }, additionalProperties = { type = "string" }, ["$defs"] = { a = { type = "string" } } }`: "",
		`{ ["$schema"] = "s", ["$ref"] = "#/$defs/a", examples = { {} }, default = { type = "a" }, ["x-own"] = { type = "a" } }`:      "",
		`{ type = "object", strict = true, hint = { text = "kept" } }`:                                                                "",
		`{ type = "object", ["if"] = { properties = {} }, ["then"] = { type = "object" }, propertyNames = { type = "string" } }`:      "",
	} {
		got := l.lua(`api.tool{ name = "t", description = "d", parameters = ` + parameters + `, execute = function() end }`)
		if want == "" && got != "nil" || !strings.Contains(got, want) {
			t.Errorf("%s\nsays %q\nwant %q", parameters, got, want)
		}
	}
}
