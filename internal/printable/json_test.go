package printable

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func FuzzJSONForATerminalMeansTheSame(f *testing.F) {
	for _, seed := range []string{"plain", "\u009b31m", "\U000e0041\u202e", "é\r\n\x1b[0m", "\xff\u2028", "👩\u200d💻\uffff"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		var raw bytes.Buffer
		e := json.NewEncoder(&raw)
		e.SetEscapeHTML(false)
		if err := e.Encode(map[string]string{text: text}); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		w := &JSONWriter{W: &out}
		cut = min(max(cut, 0), raw.Len())
		for _, part := range [][]byte{raw.Bytes()[:cut], raw.Bytes()[cut:]} {
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if strings.ContainsFunc(out.String(), commands) {
			t.Fatalf("a terminal is commanded: %q", out.String())
		}
		var before, after map[string]string
		if err := json.Unmarshal(raw.Bytes(), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(out.String()), &after); err != nil {
			t.Fatalf("%v: %q", err, out.String())
		}
		for k, v := range before {
			if after[k] != v {
				t.Fatalf("%q became %q", before, after)
			}
		}
	})
}
