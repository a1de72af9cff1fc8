package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzWhateverTheFileSaysItIsTheSameTreeWithOneEntryMoreAfterwards(f *testing.F) {
	whole := strings.Join(story("u1 a2 u3 c4:2 u5^2"), "\n")
	f.Add([]byte(whole), uint16(0), []byte("}"))
	f.Add([]byte(whole), uint16(40), []byte("}}"))
	f.Add([]byte(whole), uint16(400), []byte("\x00\x00\n{\"type\":\"message\",\"id\":\"1\"}"))
	f.Add([]byte(strings.Join(versionOne, "\n")), uint16(20), []byte("\n{\"type\":\"message\"}"))
	ofOne := strings.Join(story("u1 a2 u2^1 a3 u3"), "\n") // says that it is of version 1, with ids, some of them twice
	f.Add([]byte(strings.Replace(ofOne, `"version":3,`, "", 1)), uint16(0), []byte("\n"))
	f.Add([]byte(headerLine+"\n{\"type\":\"x\",\"id\":\"1\",\"parentId\":\"2\"}\n{\"type\":\"x\",\"id\":\"2\",\"parentId\":\"1\"}"), uint16(0), []byte{})
	f.Fuzz(func(t *testing.T, text []byte, cut uint16, tail []byte) {
		text = append(text[:len(text)-min(int(cut), len(text))], tail...)
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(path)
		if err != nil || s.ReadOnly() && s.Header().Version > Version {
			return
		}
		before := len(s.Entries())
		goesOn(t, path)
		if got := len(read(t, path).Entries()); got != before+1 {
			t.Errorf("%d entries, then %d", before, got)
		}
	})
}
