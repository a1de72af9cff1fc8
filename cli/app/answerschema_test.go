package app

import (
	"encoding/json"
	"testing"
)

func TestAPlaceInAJSONTextIsFound(t *testing.T) {
	const text = `{ "a": [1, {"b~/c": "x"}], "type" : "array" }`
	for pointer, want := range map[string]string{
		"/type":       `"array"`,
		"/a/0":        `1`,
		"/a/1/b~0~1c": `"x"`,
		"/a/1/gone":   `{"b~/c"`, // the last that is there
		"/gone/a":     `{ "a"`,
	} {
		at := offsetOf([]byte(text), pointer)
		if got := text[at:min(int(at)+len(want), len(text))]; got != want {
			t.Errorf("%s is at %d, %q; want %q", pointer, at, got, want)
		}
	}
}

func FuzzAPlaceInAJSONText(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`), "/a/1/b")
	f.Add([]byte(` [[]] `), "/0/0")
	f.Add([]byte(`"x"`), "/type")
	f.Fuzz(func(t *testing.T, text []byte, pointer string) {
		if !json.Valid(text) {
			return
		}
		if at := offsetOf(text, pointer); at < 0 || at >= int64(len(text)) {
			t.Errorf("%d of %d", at, len(text))
		}
	})
}
