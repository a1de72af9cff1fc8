package acp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestAChangeIsShownInWholeRows(t *testing.T) {
	t.Parallel()
	const text = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"
	for _, c := range []struct{ name, text, was, is, before, after string }{
		{"a word", text, "iv", "IV", "2\n3\n4\nfive\n6\n7\n8\n", "2\n3\n4\nfIVe\n6\n7\n8\n"},
		{"a row", text, "five\n", "", "2\n3\n4\nfive\n6\n7\n8\n", "2\n3\n4\n6\n7\n8\n"},
		{"two rows", text, "4\nfive", "x", "1\n2\n3\n4\nfive\n6\n7\n8\n", "1\n2\n3\nx\n6\n7\n8\n"},
		{"the first", text, "1", "one", "1\n2\n3\n4\n", "one\n2\n3\n4\n"},
		{"the last", text, "9\n", "nine\n", "6\n7\n8\n9\n", "6\n7\n8\nnine\n"},
		{"without an end", "a\nb", "b", "c", "a\nb", "a\nc"},
		{"CR LF", "a\r\nb\r\nc\r\n", "b\nc", "x", "a\nb\nc\n", "a\nx\n"},
		{"what is there twice", "a\na\n", "a", "b", "a", "b"},
		{"what is not there", text, "ten", "10", "ten", "10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			input, err := json.Marshal(object{"oldText": c.was, "newText": c.is})
			if err != nil {
				t.Fatal(err)
			}
			diffs := wouldChange(toolCall{Name: "edit", RawInput: input, Locations: []location{{Path: path}}})
			if len(diffs) != 1 {
				t.Fatalf("%v", diffs)
			}
			if d := diffs[0].(diff); *d.OldText != c.before || d.NewText != c.after {
				t.Errorf("%q became %q", *d.OldText, d.NewText)
			}
		})
	}
}
