package google

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pi/agent/provider"
	"pi/internal/testing/wiretest"
)

// converted is what becomes of the property x of a tool; "" if nothing does.
func converted(t *testing.T, x string) string {
	t.Helper()
	s := parameters([]byte(`{"type":"object","properties":{"x":` + x + `},"$defs":{"A":{"type":"string","description":"an A"},` +
		`"Tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/Tree"},"n":{"type":"integer"}}},"a/b~c":{"type":"boolean"},` +
		`"Loop":{"$ref":"#/$defs/Loop"},"Pair":{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A"}]}}}`))
	b, err := provider.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := wiretest.CheckGeminiSchema(b); s != nil && err != nil {
		t.Errorf("%s is refused: %v", b, err)
	}
	b, _ = bytes.CutPrefix(b, []byte(`{"type":"OBJECT","properties":{"x":`))
	return strings.TrimSuffix(string(b), "}}")
}

func TestSchemasBecomeTheSubsetThatIsRead(t *testing.T) {
	const anything = `{"anyOf":[{"type":"STRING"},{"type":"NUMBER"},{"type":"BOOLEAN"}]}`
	const json = `{"type":"STRING","description":"as JSON"}`
	cases := []struct{ name, in, want string }{
		{"text", `{"type":"string","description":"what <it> is","minLength":1,"maxLength":9,"pattern":"^a+$","format":"date-time"}`,
			`{"type":"STRING","format":"date-time","description":"what <it> is","minLength":1,"maxLength":9,"pattern":"^a+$"}`},
		{"what is not read goes", `{"$schema":"s","$id":"i","$comment":"c","title":"t","type":"string","default":"d","examples":["e"],"format":"uri","deprecated":true,"not":{},"x-more":1}`,
			`{"type":"STRING"}`},
		{"patterns that not every engine takes go", `{"type":"string","pattern":"(?=a)b"}`, `{"type":"STRING"}`},
		{"numbers", `{"type":"number","minimum":-0.5,"maximum":1e3,"multipleOf":2,"format":"double"}`, `{"type":"NUMBER","format":"double","minimum":-0.5,"maximum":1000}`},
		{"bounds that are no bounds", `{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10,"format":"uint8"}`, `{"type":"INTEGER","minimum":1,"maximum":9}`},
		{"boolean", `{"type":"boolean"}`, `{"type":"BOOLEAN"}`},
		{"list", `{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3,"uniqueItems":true}`, `{"type":"ARRAY","items":{"type":"STRING"},"minItems":1,"maxItems":3}`},
		{"list of anything", `{"type":"array"}`, `{"type":"ARRAY","items":` + anything + `}`},
		{"list by places", `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"},{"type":"string"}],"items":false}`,
			`{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}}`},
		{"object", `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}},"required":["a","c","a"],"additionalProperties":false,"minProperties":1}`,
			`{"type":"OBJECT","properties":{"b":{"type":"STRING"},"a":{"type":"NUMBER"}},"required":["a"],"minProperties":1}`},
		{"free object", `{"type":"object","description":"the env","additionalProperties":{"type":"string"}}`, `{"type":"STRING","description":"the env (as JSON)"}`},
		{"properties that cannot be", `{"type":"object","properties":{"a":false,"b":true}}`, `{"type":"OBJECT","properties":{"b":` + anything + `}}`},
		{"a property twice", `{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"number"}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`},
		{"no schema at all", `{}`, anything},
		{"described anything", `{"description":"d"}`, `{"anyOf":[{"type":"STRING","description":"d"},{"type":"NUMBER","description":"d"},{"type":"BOOLEAN","description":"d"}]}`},
		{"type left out", `{"properties":{"a":{"minLength":2}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING","minLength":2}}}`},
		{"type or null", `{"type":["string","null"],"description":"d"}`, `{"type":"STRING","description":"d","nullable":true}`},
		{"several types", `{"type":["string","integer","null"],"description":"d","minimum":1}`,
			`{"anyOf":[{"type":"STRING","description":"d","nullable":true},{"type":"INTEGER","description":"d","nullable":true,"minimum":1}]}`},
		{"nullable", `{"type":"integer","nullable":true}`, `{"type":"INTEGER","nullable":true}`},
		{"only null", `{"type":"null"}`, `{"anyOf":[{"type":"STRING","nullable":true},{"type":"NUMBER","nullable":true},{"type":"BOOLEAN","nullable":true}]}`},
		{"enum", `{"enum":["a","b","a",null]}`, `{"type":"STRING","nullable":true,"enum":["a","b"]}`},
		{"const", `{"const":"a"}`, `{"type":"STRING","enum":["a"]}`},
		{"enum of numbers", `{"type":"integer","enum":[1,2],"description":"d"}`, `{"type":"INTEGER","description":"d (one of: 1, 2)"}`},
		{"enum with an empty text", `{"type":"string","enum":["","a"]}`, `{"type":"STRING","description":"one of: \"\", \"a\""}`},
		{"mixed enum", `{"enum":["a",1]}`, anything},
		{"choice", `{"oneOf":[{"type":"string","description":"s"},{"type":"number"}],"description":"d"}`,
			`{"anyOf":[{"type":"STRING","description":"s"},{"type":"NUMBER","description":"d"}]}`},
		{"choice of one or null", `{"anyOf":[{"type":"string"},{"type":"null"}],"description":"d","default":null}`, `{"type":"STRING","description":"d","nullable":true}`},
		{"choice of choices", `{"anyOf":[{"anyOf":[{"type":"string"},{"type":"number"}]},{"type":"string"},{"type":"boolean"}]}`,
			`{"anyOf":[{"type":"STRING"},{"type":"NUMBER"},{"type":"BOOLEAN"}]}`},
		{"what stands beside a choice holds for each", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"anyOf":[{"properties":{"b":{"type":"string"}},"required":["b"]},{"properties":{"c":{"type":"string"}}}]}`,
			`{"anyOf":[{"type":"OBJECT","properties":{"b":{"type":"STRING"},"a":{"type":"STRING"}},"required":["b","a"]},{"type":"OBJECT","properties":{"c":{"type":"STRING"},"a":{"type":"STRING"}},"required":["a"]}]}`},
		{"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{"minLength":1},"b":{"type":"number"}},"required":["b"]}],"description":"d"}`,
			`{"type":"OBJECT","description":"d","properties":{"a":{"type":"STRING","minLength":1},"b":{"type":"NUMBER"}},"required":["a","b"]}`},
		{"reference", `{"$ref":"#/$defs/A"}`, `{"type":"STRING","description":"an A"}`},
		{"described reference", `{"$ref":"#/$defs/A","description":"mine"}`, `{"type":"STRING","description":"mine"}`},
		{"the same reference twice is no loop", `{"$ref":"#/$defs/Pair"}`, `{"type":"STRING","description":"an A"}`},
		{"reference with escapes", `{"$ref":"#/$defs/a~1b~0c"}`, `{"type":"BOOLEAN"}`},
		{"reference into the properties", `{"type":"array","items":{"$ref":"#/$defs/Tree/properties/n"}}`, `{"type":"ARRAY","items":{"type":"INTEGER"}}`},
		{"reference to elsewhere", `{"$ref":"https://x.example/s.json"}`, anything},
		{"reference to nothing", `{"$ref":"#/$defs/B"}`, anything},
		{"a schema that contains itself ends", `{"$ref":"#/$defs/Tree"}`, `{"type":"OBJECT","properties":{"left":` + json + `,"n":{"type":"INTEGER"}}}`},
		{"a schema that is itself", `{"$ref":"#/$defs/Loop"}`, json},
		{"the whole contains itself", `{"type":"array","items":{"$ref":"#"}}`,
			`{"type":"ARRAY","items":{"type":"OBJECT","properties":{"x":{"type":"ARRAY","items":` + json + `}}}}`},
		{"nonsense", `{"type":7,"description":[],"enum":"a","required":{},"properties":[],"anyOf":{},"minimum":"1"}`, json},
		{"no UTF-8", "{\"type\":\"string\",\"description\":\"\xff\"}", `{"type":"STRING","description":"` + "\uFFFD" + `"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := converted(t, c.in); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTheParametersOfAToolAreAnObjectOrNone(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"none", ``, `null`},
		{"no properties", `{"type":"object","properties":{},"additionalProperties":false}`, `null`},
		{"no object", `[]`, `null`},
		{"what stands beside the properties", `{"description":"d","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
			`{"type":"OBJECT","description":"d","properties":{"a":{"type":"STRING"}},"required":["a"]}`},
		{"by reference", `{"$ref":"#/$defs/P","$defs":{"P":{"type":"object","properties":{"a":{"type":"string"}}}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`},
		{"a choice becomes all that occurs", `{"properties":{"a":{"type":"string"}},"required":["a"],"oneOf":[{"properties":{"b":{"type":"number"},"c":{"type":"string"}},"required":["b","c"]},{"properties":{"b":{"type":"number"}},"required":["b"]}]}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"NUMBER"},"c":{"type":"STRING"}},"required":["a","b"]}`},
	}
	for _, c := range cases {
		got, err := provider.Encode(parameters([]byte(c.in)))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestASchemaThatIsTooDeepEndsInJSON(t *testing.T) {
	deep := `{"type":"string"}`
	for range 3 * deepest {
		deep = `{"type":"object","properties":{"a":` + deep + `}}`
	}
	b, err := provider.Encode(parameters([]byte(deep)))
	if n := bytes.Count(b, []byte(`"OBJECT"`)); err != nil || n > deepest+1 || !bytes.Contains(b, []byte("as JSON")) {
		t.Errorf("%d levels, %v", n, err)
	}
	if err := wiretest.CheckGeminiSchema(b); err != nil {
		t.Error(err)
	}
}

func TestReferencesCannotMakeASchemaGrowWithoutBounds(t *testing.T) {
	defs := ""
	for _, c := range "bcdefghijklmnopqrstuvwxyz" {
		defs += `"` + string(c-1) + `":{"type":"object","properties":{"l":{"$ref":"#/$defs/` + string(c) + `"},"r":{"$ref":"#/$defs/` + string(c) + `"}}},`
	}
	b, err := provider.Encode(parameters([]byte(`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{` + defs + `"z":{"type":"string"}}}`)))
	if err != nil || len(b) > 1<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if err := wiretest.CheckGeminiSchema(b); err != nil {
		t.Error(err)
	}
}

// FuzzSchema holds that what comes out is taken, whatever goes in, is the same
// each time, and is left as it is when its own form goes in again.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"null"},{"enum":[1,"",null]}]}},"required":["a"]}`,
		`{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#/properties/a"},"c":{"allOf":[{"$ref":"#/properties/b"},true,false]}}}`,
		`{"properties":{"a":{"type":"array","items":[{"const":1.5},{}]},"":{"not":{}},"é":{"type":"object","additionalProperties":true}}}`,
		`{"allOf":[{"properties":{"a":{"oneOf":[]}}},{"anyOf":[{"properties":{"a":{"type":"null"}}},7]}],"nullable":true}`,
		"{\"properties\":{\"a\":{\"enum\":[\"\xff\",\"\\ud800\"],\"description\":\"\\ud800\"}}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := provider.Encode(parameters(raw))
		if err != nil || !json.Valid(once) {
			t.Fatalf("%s: %v", once, err)
		}
		if again, _ := provider.Encode(parameters(raw)); !bytes.Equal(again, once) {
			t.Errorf("%s, and then %s", once, again)
		}
		if string(once) == "null" {
			return
		}
		if err := wiretest.CheckGeminiSchema(once); err != nil {
			t.Errorf("%s is refused: %v", once, err)
		}
		if again, _ := provider.Encode(parameters(once)); !bytes.Equal(again, once) {
			t.Errorf("%s\nbecomes\n%s", once, again)
		}
	})
}

func BenchmarkSchema(b *testing.B) {
	raw := []byte(`{"type":"object","properties":{"path":{"type":"string","description":"the file"},"edits":{"type":"array","items":{"type":"object",` +
		`"properties":{"oldText":{"type":"string"},"newText":{"type":"string"},"all":{"type":["boolean","null"]}},"required":["oldText","newText"]}}},"required":["path"]}`)
	b.ReportAllocs()
	for b.Loop() {
		parameters(raw)
	}
}
