package provider

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestSchemasAreMadeStrictWhereTheyCanBe(t *testing.T) {
	const end = `,"additionalProperties":false}`
	cases := []struct{ name, in, want string }{ // want "": not strict
		{"nothing at all", ``, `{"type":"object","properties":{},"required":[]` + end},
		{"required stays", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]` + end},
		{"optional may be null, in the order of the properties", `{"type":"object","required":["z"],"properties":{"z":{"type":"string"},"a":{"type":"integer","description":"n < 3"}}}`,
			`{"type":"object","required":["z","a"],"properties":{"z":{"type":"string"},"a":{"type":["integer","null"],"description":"n < 3"}}` + end},
		{"null twice is once", `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]` + end},
		{"an optional word may be null", `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}`, `{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}},"required":["a"]` + end},
		{"inner objects", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}}},"required":["l"]}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]` + end + `}},"required":["l"]` + end},
		{"alternatives", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"object","properties":{}}]}},"required":["a"]}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"object","properties":{},"required":[]` + end + `]}},"required":["a"]` + end},
		{"notes are left out", `{"$schema":"x","type":"object","properties":{"a":{"type":"string","default":"x","examples":[1]}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]` + end},
		{"a property named like a keyword", `{"type":"object","properties":{"default":{"type":"string"},"not":{"type":"string"}},"required":["default","not"]}`,
			`{"type":"object","properties":{"default":{"type":"string"},"not":{"type":"string"}},"required":["default","not"]` + end},
		{"definitions", `{"type":"object","$defs":{"d":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/d"}},"required":["a"]}`, `{"type":"object","$defs":{"d":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/d"}},"required":["a"]` + end},

		{"a pattern", `{"type":"object","properties":{"a":{"type":"string","pattern":"^a+$"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string","pattern":"^a+$"}},"required":["a"]` + end},

		{"a pattern that looks ahead", `{"type":"object","properties":{"a":{"type":"string","pattern":"(?=a)b"}},"required":["a"]}`, ""},
		{"a described reference", `{"type":"object","$defs":{"d":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/d","description":"mine"}},"required":["a"]}`, ""},
		{"a choice of parameters", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"anyOf":[{"type":"object","properties":{}}]}`, ""},
		{"free keys", `{"type":"object","additionalProperties":{"type":"string"}}`, ""},
		{"free keys inside", `{"type":"object","properties":{"a":{"type":"object"}},"required":["a"]}`, ""},
		{"anything", `{"type":"object","properties":{"a":{}},"required":["a"]}`, ""},
		{"true", `{"type":"object","properties":{"a":true},"required":["a"]}`, ""},
		{"a list of anything", `{"type":"object","properties":{"a":{"type":"array"}},"required":["a"]}`, ""},
		{"an optional reference", `{"type":"object","$defs":{"d":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/d"}}}`, ""},
		{"an optional constant", `{"type":"object","properties":{"a":{"type":"string","const":"x"}}}`, ""},
		{"optional alternatives", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}}}`, ""},
		{"optional in a definition", `{"type":"object","$defs":{"d":{"type":"object","properties":{"a":{"type":"string"}}}},"properties":{"a":{"$ref":"#/$defs/d"}},"required":["a"]}`, ""},
		{"optional in an alternative", `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"b":{"type":"string"}}}]}},"required":["a"]}`, ""},
		{"a rule that strict schemas have not", `{"type":"object","properties":{"a":{"type":"string","minLength":3}},"required":["a"]}`, ""},
		{"an unknown format", `{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"]}`, ""},
		{"all of", `{"type":"object","properties":{"a":{"allOf":[{"type":"string"}]}},"required":["a"]}`, ""},
		{"too deep", deep(12), ""},
		{"nonsense", `{"type":"object","properties":[]}`, ""},
		{"more nonsense", `{"type":"object","properties":{"a":{"type":"string"}},"required":"a"}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := StrictSchema(json.RawMessage(c.in))
			want := c.want
			if want == "" {
				want = string(Schema(json.RawMessage(c.in)))
			}
			if string(got) != want || ok != (c.want != "") {
				t.Errorf("%v\ngot  %s\nwant %s", ok, got, want)
			}
		})
	}
}

func deep(n int) string {
	if n == 0 {
		return `{"type":"string"}`
	}
	return `{"type":"object","properties":{"a":` + deep(n-1) + `},"required":["a"]}`
}

func FuzzStrictSchemasAreClosedAndStable(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"b":{"type":"array","items":{"type":"object","properties":{}}}},"required":["a"]}`)
	f.Add(`{"properties":{"a":{"anyOf":[{"type":["string","null"]}]}},"required":["a"]}`)
	f.Add(`{"type":"object","properties":{"a":{"type":[]}}}`)
	f.Add(`{"type":"object","properties":{"a":{"type":1}}}`)
	f.Add(`{"type":"object","properties":null}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"string","enum":[]}}}`)
	f.Add(` { "type" : "object" , "properties" : { "a" : { "type" : [ "string" ] } } } `)
	f.Fuzz(func(t *testing.T, in string) {
		out, ok := StrictSchema(json.RawMessage(in))
		if !json.Valid(out) {
			t.Fatalf("%s", out)
		}
		if !ok {
			return
		}
		again, ok := StrictSchema(out)
		if !ok || !bytes.Equal(again, out) {
			t.Fatalf("not stable:\n%s\n%s", out, again)
		}
		var v any
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatal(err)
		}
		if why := open(v); why != "" {
			t.Fatalf("%s: %s", why, out)
		}
	})
}

// open names an object of a schema that is not closed.
func open(schema any) string {
	s, ok := schema.(map[string]any)
	if !ok {
		return ""
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if properties != nil && (s["additionalProperties"] != false || len(required) < len(properties)) {
		return "it is open"
	}
	for name, p := range properties {
		if why := open(p); why != "" {
			return name + ": " + why
		}
	}
	return open(s["items"])
}
