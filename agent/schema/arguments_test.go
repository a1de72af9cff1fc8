package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const everything = `{
	"type": "object",
	"properties": {
		"count":  {"type": "integer", "minimum": 0},
		"ratio":  {"type": "number"},
		"on":     {"type": "boolean"},
		"name":   {"type": "string"},
		"tags":   {"type": "array", "items": {"type": "string"}},
		"sizes":  {"type": "array", "items": {"type": "integer"}},
		"opts":   {"type": "object", "properties": {"deep": {"type": "boolean"}}},
		"either": {"type": ["string", "null"]},
		"mode":   {"enum": ["a", "b"]},
		"a/b":    {"type": "string"},
		"edits":  {"type": "array", "items": {"type": "object", "required": ["oldText"], "additionalProperties": false,
			"properties": {"oldText": {"type": "string"}, "all": {"type": "boolean"}}}}
	},
	"additionalProperties": false
}`

func checkerFor(t testing.TB, schema string) *Checker {
	t.Helper()
	c, err := Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestArgumentsAreCoercedWhereTheMeaningIsBeyondDoubt(t *testing.T) {
	c := checkerFor(t, everything)
	for _, tt := range []struct{ in, want string }{
		{`{"count":"5"}`, `{"count":5}`},
		{`{"count":" -0 "}`, `{"count":-0}`},
		{`{"count":"5.0"}`, `{"count":5}`},
		{`{"count":"1e3"}`, `{"count":1000}`},
		{`{"count":"12345678901234567890"}`, `{"count":12345678901234567890}`},
		{`{"ratio":"0.5"}`, `{"ratio":0.5}`},
		{`{"on":"true"}`, `{"on":true}`},
		{`{"on":"false"}`, `{"on":false}`},
		{`{"tags":"[\"x\",\"y\"]"}`, `{"tags":["x","y"]}`},
		{`{"tags":"x"}`, `{"tags":["x"]}`},
		{`{"sizes":"3"}`, `{"sizes":[3]}`},
		{`{"sizes":3}`, `{"sizes":[3]}`},
		{`{"sizes":["3",4]}`, `{"sizes":[3,4]}`},
		{`{"opts":"{\"deep\":\"true\"}"}`, `{"opts":{"deep":true}}`},
		{`{"name":null}`, `{}`},
		{`{"edits":"[{\"oldText\":\"<a>\",\"all\":null}]"}`, `{"edits":[{"oldText":"<a>"}]}`},
	} {
		got, err := c.Check(json.RawMessage(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s gave %s, %v; want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestArgumentsThatNeedNothingKeepTheirBytes(t *testing.T) {
	c := checkerFor(t, everything)
	for _, in := range []string{
		`{}`, ` { "name" : "\u003c" , "count":1.0 }`, `{"either":null}`, `{"tags":[]}`, `{"count":90071992547409931}`, `{"name":"5","mode":"a"}`,
	} {
		got, err := c.Check(json.RawMessage(in))
		if err != nil || string(got) != in {
			t.Errorf("%s became %s, %v", in, got, err)
		}
	}
}

func TestInvalidArgumentsNameThePlaceAndWhatWasExpected(t *testing.T) {
	c := checkerFor(t, everything)
	for _, tt := range []struct{ in, want string }{
		{`{"count":"5x"}`, "/count: expected integer, got string"},
		{`{"count":"5.5"}`, "/count: expected integer, got string"},
		{`{"count":"1e300"}`, "/count: expected integer, got string"},
		{`{"edits":[{"oldText":null}]}`, "/edits/0/oldText: expected string, got null"},
		{`{"ratio":"1e999"}`, "/ratio: expected number, got string"},
		{`{"count":5.5}`, "/count: expected integer, got number"},
		{`{"count":"0x10"}`, "/count: expected integer, got string"},
		{`{"count":-1}`, "/count: expected at least 0, got -1"},
		{`{"ratio":"Inf"}`, "/ratio: expected number, got string"},
		{`{"on":"yes"}`, "/on: expected boolean, got string"},
		{`{"on":1}`, "/on: expected boolean, got integer"},
		{`{"name":5}`, "/name: expected string, got integer"},
		{`{"tags":{"x":1}}`, "/tags: expected array, got object"},
		{`{"either":5}`, "/either: expected string or null, got integer"},
		{`{"mode":"c"}`, `/mode: expected one of ["a","b"]`},
		{`{"a/b":5}`, "/a~1b: expected string, got integer"},
		{`{"colour":1}`, `/: unknown property "colour", known are a/b, count`},
		{`{"edits":[{"oldText":"x"},{"oldText":7}]}`, "/edits/1/oldText: expected string, got integer"},
		{`{"edits":[{"oldText":"x"},{}]}`, `/edits/1: required property "oldText" is missing`},
		{`{"edits":[{"oldText":"x","new":1}]}`, `/edits/0: unknown property "new", known are all, oldText`},
		{`[]`, "/: expected object, got array"},
		{`"{}"`, ""}, // an object written as a string
	} {
		_, err := c.Check(json.RawMessage(tt.in))
		if tt.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "invalid arguments: "+tt.want) {
			t.Errorf("%s: %v, want %s", tt.in, err, tt.want)
		}
	}
	for _, in := range []string{``, `{`, `{} {}`, `{}}`} {
		if _, err := c.Check(json.RawMessage(in)); err == nil || !strings.HasPrefix(err.Error(), "arguments are not JSON") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestSchemaThatDoesNotResolveIsUsedWithoutTheOffender(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		dropped      []string
		bad          string // still refused
	}{
		{"fine", `{"type":"object","properties":{"n":{"type":"integer"}}}`, nil, `{"n":"x"}`},
		{"none", ``, nil, `[]`},
		{"draft", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"type":"integer"}}}`, nil, `{"n":"x"}`},
		{"lookahead", `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string","pattern":"(?!x)"}}}`, []string{"/properties/s/pattern"}, `{"s":1}`},
		{"two", `{"type":"object","properties":{"n":{"type":"integer","$ref":"#/$defs/no"},"s":{"type":"string","pattern":"("}}}`,
			[]string{"/properties/s/pattern", "/properties/n/$ref"}, `{"n":"x"}`},
		{"property named like a keyword", `{"type":"object","additionalProperties":false,"properties":{"pattern":{"type":"string"},"n":{"type":"integer"},"s":{"type":"string","pattern":"(","format":"("},"t":{"pattern":"["}}}`,
			[]string{"/properties/s/pattern", "/properties/t/pattern"}, `{"pattern":1}`},
		{"a reference that is right stays", `{"$defs":{"i":{"type":"integer"}},"type":"object","properties":{"n":{"$ref":"#/$defs/i"},"s":{"pattern":"("},"t":{"pattern":"["}}}`,
			[]string{"/properties/s/pattern", "/properties/t/pattern"}, `{"n":"x"}`},
		{"conflict of two keywords", `{"type":"object","properties":{"definitions":{"type":"object"},"n":{"type":"integer","definitions":{},"$defs":{}}}}`, []string{"/properties/n/$defs"}, `{"n":"x"}`},
		{"type of a wrong type", `{"type":"object","properties":{"s":{"type":5},"n":{"type":"integer"}}}`, []string{"/properties/s/type"}, `{"n":"x"}`},
		{"type that there is not", `{"type":"object","dependentRequired":{"type":["n"]},"properties":{"s":{"type":"strng"},"t":{"type":["string","nil"]},"n":{"type":["integer"]}}}`,
			[]string{"/properties/s/type", "/properties/t/type"}, `{"n":"x"}`},
		{"reference to elsewhere", `{"type":"object","properties":{"n":{"type":"integer"},"r":{"$ref":"https://example.com/x.json"}}}`, []string{"/properties/r/$ref"}, `{"n":"x"}`},
	} {
		c, err := Compile(json.RawMessage(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !reflect.DeepEqual(c.Dropped, tt.dropped) {
			t.Errorf("%s: dropped %q, want %q", tt.name, c.Dropped, tt.dropped)
		}
		if _, err := c.Check(json.RawMessage(tt.bad)); err == nil {
			t.Errorf("%s: %s passes", tt.name, tt.bad)
		}
		if _, err := c.Check(json.RawMessage(`{"s":"x"}`)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := Compile(json.RawMessage(`{"type":`)); err == nil {
		t.Error("broken JSON is a schema")
	}
}

// What passes the check passes it again as it stands.
func FuzzCheckedArgumentsAreValid(f *testing.F) {
	c := checkerFor(f, everything)
	for _, s := range []string{`{}`, `{"count":"5"}`, `{"sizes":"[\"1\"]"}`, `{"edits":[{"oldText":"x","all":"true"}]}`, `{"name":null}`, `[1]`, `{"count":1e400}`, `{"tags":"[[]]"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got, err := c.Check(json.RawMessage(args))
		if err != nil {
			return
		}
		again, err := c.Check(got)
		if err != nil || string(again) != string(got) {
			t.Errorf("%q gave %s, which gives %s, %v", args, got, again, err)
		}
		if err := c.Validate(got); err != nil {
			t.Errorf("%q gave %s, which is not valid: %v", args, got, err)
		}
	})
}

func TestValuesAreTheSameHoweverTheyAreWritten(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[true]}`, ` { "b" : [ true ], "a" : 1 } `, true},
		{`{"a":"\u0041"}`, `{"a":"A"}`, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":9007199254740992}`, `{"a":9007199254740993}`, false},
		{`{"a":null}`, `{}`, false},
		{`{`, `{}`, false},
	} {
		if got := IsSame(json.RawMessage(c.a), json.RawMessage(c.b)); got != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}
