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

func TestWordsOfASession(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"x","cwd":"/p"}`
	prompt := func(text string) string {
		return `{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"` + text + `"}}`
	}
	answer := func(blocks string) string {
		return `{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[` + blocks + `]}}`
	}
	const call = `{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"text"}}`
	for _, c := range []struct {
		name  string
		lines []string
		want  Words
	}{
		{"nothing", nil, Words{}},
		{"all prompts", []string{prompt("one"), answer(`{"type":"text","text":"yes\nit is\n"}`), prompt("two")},
			Words{Prompts: "one\ntwo\n", Last: "it is"}},
		{"an answer that only calls", []string{prompt("one"), answer(`{"type":"text","text":"first"}`), answer(call)},
			Words{Prompts: "one\n", Last: "first"}},
		{"the role behind the text", []string{`{"type":"message","message":{"content":"` + strings.Repeat("x", 1000) + `","role":"user"}}`},
			Words{Prompts: strings.Repeat("x", 1000) + "\n"}},
		{"labels", []string{`{"type":"label","targetId":"1","label":"best"}`, `{"type":"label","targetId":"1"}`}, Words{Labels: "best\n"}},
		{"long", []string{prompt(strings.Repeat("é", 3000)), prompt("end")}, Words{Prompts: strings.Repeat("é", mostOfPrompt/2) + "\nend\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if err := os.WriteFile(path, []byte(header+"\n"+strings.Join(c.lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := describeWords(path)
			if err != nil || got.Words != c.want {
				t.Errorf("%+v, %v; want %+v", got.Words, err, c.want)
			}
			plain, err := Describe(path)
			if got.Words = (Words{}); err != nil || got != plain {
				t.Errorf("%+v, %v; without words %+v", got, err, plain)
			}
		})
	}
}
