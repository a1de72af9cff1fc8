package session

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/session/rawjson"
)

// oracle reads the head of a line with encoding/json alone. Of a key that
// stands twice the first counts.
func oracle(line []byte) (map[string]string, bool) {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	found := map[string]string{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, false
		}
		k := key.(string)
		if _, ok := found[k]; !ok {
			found[k] = string(v)
		}
	}
	return found, strings.HasPrefix(found["type"], `"`)
}

func FuzzHeadIsWhatJSONSaysItIs(f *testing.F) {
	for _, l := range everyEntry {
		f.Add([]byte(l))
	}
	for _, l := range []string{
		`{}`, `{"type":"a"}`, ` { "id" : 1 , "type" : "x" } `, `{"type":"a","type":"b"}`, `{"\u0074ype":"a\"}","id":"\ud800"}`,
		`{"x":{"type":"no"},"y":["}",{"a":[]}],"type":"yes","id":null,"parentId":"p","timestamp":""}`, `{"a":"\\","type":"t"}`, `{"a":"\\\"","type":"t"}`,
		`{"type":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud83d\u0041\udc00\ud800\ud800\udc00"}`, `{"type":"\x"}`, `{"type":"\u12"}`,
		`{"type":"t"`, `{"type":}`, `{"type":"t",}`, `[]`, `"type"`, ``,
	} {
		f.Add([]byte(l))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		h, ok := scanHead(line)
		if !json.Valid(line) {
			return // that it does not panic is all there is to ask
		}
		want, wantOK := oracle(line)
		if ok != wantOK {
			t.Fatalf("scanHead says %v, encoding/json %v", ok, wantOK)
		}
		if !ok {
			return
		}
		for key, got := range map[string][]byte{"type": h.typ, "id": h.id, "parentId": h.parent, "timestamp": h.time} {
			if string(got) != want[key] {
				t.Errorf("%s is %s, want %s", key, got, want[key])
			}
			var s string
			if rawjson.IsString(got) && json.Unmarshal(got, &s) == nil && s != rawjson.Unquote(got) {
				t.Errorf("%s decodes to %q, want %q", got, rawjson.Unquote(got), s)
			}
		}
	})
}

func FuzzLoadingNeverPanicsAndNeverChangesTheFile(f *testing.F) {
	f.Add([]byte(strings.Join(everyEntry, "\n")), uint16(0))
	f.Add([]byte(strings.Join(everyEntry, "\n")), uint16(50))
	f.Add([]byte(strings.Join(versionOne, "\n")+"\n"), uint16(1))
	for _, path := range exchanged(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint16(100))
	}
	f.Add(recorded(f), uint16(300))
	for _, words := range []string{"u1^3 u2^1 u3^2", "u1 u1 u1", "u1 a2 c3:1 e4:1=null k5^2", "u1^9 u2^8"} {
		f.Add([]byte(strings.Join(story(words), "\n")), uint16(10))
	}
	f.Add([]byte(headerLine+"\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":[1,null,{}]}}"), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, buffer uint16) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		s := newSession(Options{})
		s.setFile(path)
		s.readOnly, s.loader.testOnlyBuffer = true, int(buffer)
		if s.load(file) == nil && s.loader.header.ID != "" {
			checkLoaded(t, s)
			if s.loader.header.Version >= Version {
				checkRaw(t, s, text)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, text) {
			t.Error("the file has changed")
		}
	})
}

// checkLoaded holds what is true of every session, however damaged.
func checkLoaded(t *testing.T, s *Session) {
	entries, ids := s.Entries(), map[string]bool{}
	for _, e := range entries {
		if ids[e.ID] || e.ID == "" {
			t.Errorf("id %q is not unique", e.ID)
		}
		ids[e.ID] = true
		if path := s.Path(e.ID); len(path) > len(entries) || path[len(path)-1] != e {
			t.Errorf("entry %q has no way to the root", e.ID)
		}
		if p := e.parent; (p == nil) != (e.ParentID == "") || p != nil && s.Entry(e.ParentID) != p {
			t.Errorf("entry %q has parent %q", e.ID, e.ParentID)
		}
	}
	sent := ForModel(s.Context())
	if why := unpaired(sent); why != "" {
		t.Errorf("what is sent is not paired: %s", why)
	}
	for _, m := range sent {
		b, err := m.MarshalJSON()
		if err != nil || !json.Valid(b) || !utf8.ValidString(m.Text()) {
			t.Errorf("message %s: %v", b, err)
		}
	}
	if shown, err := s.Show(); err != nil || !json.Valid(shown) {
		t.Errorf("shown as %s, %v", shown, err)
	}
	s.Problems()
	s.UnknownTypes(nil)
}
