package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzValidIsWhatJSONSays(f *testing.F) {
	for _, l := range []string{
		`{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":"plain é <b> & \u2028","timestamp":1735787045006,"futureField":[1,2.50,1e3]}}`,
		`{"content":[{"type":"thinking","redacted":true},{"type":"toolCall","arguments":{"path":"a","n":12345678901234567890}}],"total":0.30000000000000004}`,
	} {
		f.Add([]byte(l))
		f.Add([]byte(l[:len(l)-1]))
	}
	for _, l := range []string{
		`0`, `-0`, `01`, `-`, `1.`, `.5`, `1.5e`, `1e+`, `1E-07`, `-1.25e10`, `1e5x`, `+1`, `tru`, `true`, `truee`, `nul`, `null `, ` false`,
		`""`, `"`, `"\\"`, `"\"`, `"\u12fG"`, `"\uABcd"`, `"\u12`, `"\x"`, `"\n\t\/"`, "\"\x1f\"", "\"\x7f\xff\"", "\"\n\"",
		`[]`, `[ ]`, `[1,]`, `[,1]`, `[1 2]`, `{}`, `{ }`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a" : [ {"b":null} , 1 ] } `, `{a:1}`, `[`, `{`, `]`, ``, ` `, "\x00", "1\x00",
		strings.Repeat("[", 10000) + strings.Repeat("]", 10000), strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	} {
		f.Add([]byte(l))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := Valid(text), json.Valid(text); got != want {
			t.Errorf("%q is valid: %v, encoding/json says %v", text, got, want)
		}
	})
}

func TestTheCheckerSaysWhetherAStringStandsThere(t *testing.T) {
	for text, length := range map[string]int{
		`""`: 2, `"a"x`: 3, `"\""`: 4, `"\u00e9"`: 8, "\"é\"": 4,
		"\"a\nb\"": -1, "\"\x00\"": -1, "\"\x1f\"": -1, `"\x"`: -1, `"\u12"`: -1, `"\u12g4"`: -1, `"a`: -1, `"`: -1, `"\"`: -1, `"\`: -1,
	} {
		c := checker{b: []byte(text)}
		if ok := c.str(); ok != (length >= 0) || ok && c.i != length {
			t.Errorf("%q: %v, up to %d; want %d", text, ok, c.i, length)
		}
	}
}
