package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

// asRead is what a description has to say: what reading all of the session finds.
func asRead(t *testing.T, path string) (info Info, ok bool) {
	t.Helper()
	s, err := session.Read(path)
	if err != nil {
		return info, false
	}
	info = Info{ID: s.ID(), Cwd: s.Cwd(), Name: s.Name(), Parent: s.Header().ParentSession, Entries: len(s.Entries())}
	for _, e := range s.Entries() {
		if name, ok := e.OnGitBranch(); ok {
			info.Branch = name
		}
		if e.Type != session.TypeMessage {
			continue
		}
		info.Messages++
		if m := e.Message(); info.FirstPrompt == "" && m != nil && m.Role == message.RoleUser {
			info.FirstPrompt = m.Typed()
		}
	}
	return info, true
}

func FuzzADescriptionSaysWhatReadingTheSessionFinds(f *testing.F) {
	const header = `{"type":"session","version":3,"id":"x","cwd":"/p","parentSession":"/q"}` + "\n"
	const prompt = `{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"hi"}}` + "\n"
	for _, seed := range []string{
		"", "{", header, header + prompt, header + strings.TrimSpace(prompt), header + prompt[:40], header + "\n\r\n" + prompt,
		header + `{"type":"message","message":{"role":"user","content":[{"type":"image"}]}}` + "\n" + prompt,
		header + `{"type":"message","message":{"role":"user","content":[{"type":"text","text":"see @a"},{"type":"text","text":"<file name=\"a\">\nx\n</file>"}]}}` + "\n",
		header + `{"type":"session_info","id":"1","name":"a"}` + "\n" + `{"type":"session_info","id":"2","name":1}` + "\n",
		header + `{"type":"session_info","id":"1","name":"a"}` + "\n" + `{"type":"session_info","id":"2","name":" b\n"}` + "\n",
		header + `{"type":"custom","id":"1","customType":"pi.branch","data":{"name":"a"}}` + "\n" + `{"type":"custom","id":"2","customType":"pi.branch","data":"b"}` + "\n",
		header + `{"type":"custom","id":"1","customType":"mine","data":"pi.branch"}` + "\n" + `{"type":"pi.branch","id":"2"}` + "\n",
		strings.Replace(header, "3", "1", 1) + `{"type":"message",,}` + "\n" + prompt,
		header + `{"type":"message","id":"1",,,}` + "\n" + prompt + `{"type":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		want, ok := asRead(t, path)
		got, err := Describe(path)
		if ok != (err == nil) {
			t.Fatalf("described: %v; read: %v", err, ok)
		}
		got.Path, got.Size, got.Created, got.Modified = "", 0, want.Created, want.Modified
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		found, err := describeWords(path)
		found.Path, found.Size, found.Created, found.Modified, found.Words = "", 0, want.Created, want.Modified, Words{}
		if ok != (err == nil) || ok && found != want {
			t.Errorf("with words: %+v, %v", found, err)
		}
	})
}
