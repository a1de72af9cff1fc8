package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/session/message"
)

// FuzzAnUpgradeLosesNothing holds for files of version 1 with any lines: what is
// written in their place says the same, and what was there lies beside it.
func FuzzAnUpgradeLosesNothing(f *testing.F) {
	f.Add(strings.Join(versionOne[1:], "\n"))
	f.Add(`{"type":"compaction","timestamp":"t","summary":"s","firstKeptEntryIndex":1,"tokensBefore":5}` + "\n" + versionOne[1])
	f.Add(versionOne[1] + "\n" + strings.Replace(versionOne[4], "3,", "99,", 1) + "\nno json\n" + `{"type":"custom","customType":"x","data":{"id":"a","n":1.50}}`)
	f.Add(`{"type":"message","id":"twice","message":{"role":"hookMessage","content":[1,null]}}` + "\n" + `{"type":"label","targetId":"twice","label":"l"}`)
	f.Fuzz(func(t *testing.T, lines string) {
		if len(lines) > 4<<10 {
			return
		}
		path := filepath.Join(t.TempDir(), "s.jsonl")
		before := versionOne[0] + "\n" + lines + "\n"
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			return
		}
		want := "more answer"
		if items := s.Context(); len(items) > 0 {
			want = gist(items) + " " + want
		}
		_, err = s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("more")}})
		if err == nil {
			_, err = s.AppendMessage(&message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("answer")}})
		}
		if closed := s.Close(); err != nil || closed != nil {
			t.Fatalf("%v, %v", err, closed)
		}
		if s.loader.header.Version != Version {
			t.Fatalf("the session has version %d", s.loader.header.Version)
		}
		if kept := contents(t, path+".v1.bak"); kept != before {
			t.Errorf("beside it lies\n%s\nnot\n%s", kept, before)
		}
		for line := range strings.Lines(contents(t, path)) {
			if !json.Valid([]byte(line)) {
				t.Errorf("the new file has the line %s", line)
			}
		}
		again := read(t, path)
		if got := gist(again.Context()); got != want || again.Header().Version != Version {
			t.Errorf("the new file says %q, want %q", got, want)
		}
	})
}

// FuzzWhateverAHintSaysTheSessionIsBusy holds for any bytes where the file that
// names the holder of a lock stands.
func FuzzWhateverAHintSaysTheSessionIsBusy(f *testing.F) {
	for _, seed := range []string{"", "{", "null", `{"path":"/x","pid":1,"host":"h","since":"2026-01-02T03:04:05Z"}`, `{"pid":-1}`, `{"pid":1e99}`, `{"pid":"1"}`,
		`{"since":"9999-99-99"}`, `{"host":"\u001b[2J"}`, `[1]`, `{"pid":99999999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, hint []byte) {
		dir := t.TempDir()
		st := &store{path: filepath.Join(dir, "s.jsonl"), lockDir: dir}
		if err := os.WriteFile(st.hintPath(), hint, 0o600); err != nil {
			t.Fatal(err)
		}
		h, ok := st.readHint()
		var want lockHint
		if known := json.Unmarshal(hint, &want) == nil; ok != known || ok && h != want {
			t.Errorf("%q is read as %+v, %v", hint, h, ok)
		}
		if text := (&BusyError{Path: st.path, PID: h.PID, Host: h.Host, Since: h.Since}).Error(); !strings.HasPrefix(text, "open session ") || !strings.Contains(text, "in use by") {
			t.Errorf("%q makes %q", hint, text)
		}
	})
}
