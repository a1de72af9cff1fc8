package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
