package rawjson

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzFieldsAndElementsAreWhatJSONSays holds every part of a text, down to the last
// string, against what encoding/json makes of it.
func FuzzFieldsAndElementsAreWhatJSONSays(f *testing.F) {
	for _, text := range []string{
		`{"a":1,"a":2,"b":{"c":[true,null,"}"]}}`, ` [ 1 , "x\"]" , { } , [ ] ] `, `{"\u0061\\":"\ud83d\ude00\ud800 é"}`,
		`"\b\f\n\r\t\/"`, `{"a":"\\","b":"\\\""}`, `-1.5e+7`, `{"":""}`, `[[[]],{"x":[{}]}]`, "{\"\xff\":\"\xff\"}", `{"a"`, `[1,`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !Valid(text) {
			for range Fields(text) { // that it ends and does not panic is all there is to ask
			}
			for range Elements(text) {
			}
			return
		}
		if utf8.Valid(text) && len(text) < 2000 { // the oracle reads each level again
			same(t, text)
		}
	})
}

// same holds a valid value against encoding/json, and the values in it.
func same(t *testing.T, text []byte) {
	t.Helper()
	switch text = bytes.TrimSpace(text); text[0] {
	case '{':
		var want map[string]json.RawMessage
		if json.Unmarshal(text, &want) != nil {
			return // a number that no float holds is none of ours
		}
		last := map[string][]byte{} // of equal keys encoding/json takes the last
		for k, v := range Fields(text) {
			if first := Field(text, string(k)); len(first) == 0 {
				t.Fatalf("%s: key %q is not found", text, k)
			}
			last[string(k)] = v
			same(t, v)
		}
		if len(last) != len(want) {
			t.Fatalf("%s has %d keys, want %d", text, len(last), len(want))
		}
		for key, v := range want {
			if !bytes.Equal(last[key], v) {
				t.Fatalf("%s: %q is %s, want %s", text, key, last[key], v)
			}
		}
	case '[':
		var want []json.RawMessage
		if json.Unmarshal(text, &want) != nil {
			return
		}
		n := 0
		for v := range Elements(text) {
			if n >= len(want) || !bytes.Equal(v, want[n]) {
				t.Fatalf("%s: element %d is %s", text, n, v)
			}
			same(t, v)
			n++
		}
		if n != len(want) {
			t.Fatalf("%s has %d elements, want %d", text, n, len(want))
		}
	case '"':
		var want string
		if err := json.Unmarshal(text, &want); err != nil || Unquote(text) != want {
			t.Fatalf("%s is %q, want %q, %v", text, Unquote(text), want, err)
		}
	}
}

func TestAnObjectKeepsTheBytesOfWhatDoesNotChange(t *testing.T) {
	object := func(fields ...string) (o Object) {
		for i := 0; i < len(fields); i += 2 {
			o.Put(fields[i], []byte(fields[i+1]))
		}
		return o
	}
	for _, c := range []struct {
		base     string
		was, now Object
		want     string
	}{
		{`{"a":1.0,"x":[1, 2],"b":2}`, object("a", "1", "b", "2"), object("a", "1", "b", "3"), `{"a":1.0,"x":[1, 2],"b":3}`},
		{`{"a":1,"x":0}`, object("a", "1"), nil, `{"x":0}`},
		{`{"x":0}`, nil, object("a", "1", "b", "2"), `{"x":0,"a":1,"b":2}`},
		{`{"a":1,"a":2}`, object("a", "1"), object("a", "1"), `{"a":1}`},
		{`{"x":0}`, object("a", "0"), object("a", "0"), `{"x":0}`}, // it was read as 0 because it is missing
		{``, nil, object("a", "1"), `{"a":1}`},
		{``, nil, nil, `{}`},
	} {
		if got := string(Overlay([]byte(c.base), c.was, c.now)); got != c.want {
			t.Errorf("%s, %s, %s: %s, want %s", c.base, c.was.Bytes(), c.now.Bytes(), got, c.want)
		}
	}
}

func TestWhatIsNoJSONBreaksNoLine(t *testing.T) {
	for v, want := range map[string]string{"": "null", " \n": "null", "{ \"a\" : 1 }": `{"a":1}`, "{\n": `"{\n"`, "\xff": "\"\uFFFD\""} {
		if got := string(OrNull(json.RawMessage(v))); got != want {
			t.Errorf("%q is written as %s, want %s", v, got, want)
		}
	}
}
