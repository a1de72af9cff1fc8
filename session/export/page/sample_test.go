package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/session"
)

// builder makes a session file entry by entry.
type builder struct {
	lines []string
	leaf  string
	n     int
}

type fields = map[string]any

func newBuilder() *builder {
	b := &builder{}
	b.line(fields{"type": "session", "version": 3, "id": "0198c2f1-7a3e-7d4c-9b1a-2f6d8e0c4a55", "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/home/u/token"})
	return b
}

func (b *builder) line(f fields) {
	raw, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	b.lines = append(b.lines, string(raw))
}

// add adds an entry to the leaf and returns its id.
func (b *builder) add(kind string, f fields) string {
	b.n++
	id := fmt.Sprintf("%08x", b.n)
	all := fields{"type": kind, "id": id, "parentId": nil, "timestamp": fmt.Sprintf("2026-01-02T%02d:%02d:%02d.000Z", 3+b.n/3600%20, b.n/60%60, b.n%60)}
	if b.leaf != "" {
		all["parentId"] = b.leaf
	}
	for k, v := range f {
		all[k] = v
	}
	b.line(all)
	b.leaf = id
	return id
}

func (b *builder) user(text string) string {
	return b.add("message", fields{"message": fields{"role": "user", "content": text, "timestamp": 1767323045000 + b.n}})
}

func (b *builder) answer(input, output, cached int, blocks ...fields) string {
	stop := "stop"
	for _, block := range blocks {
		if block["type"] == "toolCall" {
			stop = "toolUse"
		}
	}
	cost := float64(input)*3e-6 + float64(output)*15e-6 + float64(cached)*3e-7
	return b.add("message", fields{"message": fields{"role": "assistant", "content": blocks, "api": "anthropic-messages", "provider": "anthropic", "model": "claude-opus-4-6",
		"usage": fields{"input": input, "output": output, "cacheRead": cached, "cacheWrite": 0, "totalTokens": input + output + cached,
			"cost": fields{"input": float64(input) * 3e-6, "output": float64(output) * 15e-6, "cacheRead": float64(cached) * 3e-7, "cacheWrite": 0, "total": cost}},
		"stopReason": stop, "timestamp": 1767323045000 + b.n}})
}

func (b *builder) result(call, tool, text string, failed bool, details any) string {
	m := fields{"role": "toolResult", "toolCallId": call, "toolName": tool, "content": []fields{{"type": "text", "text": text}}, "isError": failed, "timestamp": 1767323045000 + b.n}
	if details != nil {
		m["details"] = details
	}
	return b.add("message", fields{"message": m})
}

func text(s string) fields    { return fields{"type": "text", "text": s} }
func thought(s string) fields { return fields{"type": "thinking", "thinking": s} }
func call(id, tool string, args fields) fields {
	return fields{"type": "toolCall", "id": id, "name": tool, "arguments": args}
}

// session writes the file and reads it.
func (b *builder) session(t testing.TB) *session.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(b.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := session.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (b *builder) size() (n int) {
	for _, line := range b.lines {
		n += len(line) + 1
	}
	return n
}

func written(t testing.TB, s *session.Session) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := Write(&out, s, Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// pixels is a PNG of four by three pixels.
const pixels = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmRAAAAGElEQVR4nGP4z8DwHxkzMDAwMKAJMDAwAABwOwr5Sm1NYwAAAABJRU5ErkJggg=="

// sample is a session as people have them: two branches, tools, an edit, a failure, a summary.
func sample() *builder {
	b := newBuilder()
	b.add("model_change", fields{"provider": "anthropic", "modelId": "claude-opus-4-6"})
	b.add("thinking_level_change", fields{"thinkingLevel": "medium"})
	b.user("The test `TestResume` fails since yesterday. Find out why and mend it.\n\nIt is in session/resume_test.go; do not change the test.")
	b.answer(2100, 140, 0, thought("I should run the test first,\nthen look at the code."), text("I will run the test and look at what it says."),
		call("c1", "bash", fields{"command": "go test ./session -run TestResume"}), call("c2", "read", fields{"path": "session/resume.go", "offset": 1, "limit": 40}))
	b.result("c1", "bash", "--- FAIL: TestResume (0.02s)\n    resume_test.go:31: got 3, want 4\nFAIL\nFAIL\tpi/session\t0.034s\nexit status 1", true, nil)
	b.result("c2", "read", "package session\n\n// Resume goes on from the last entry.\nfunc Resume(entries []Entry) int {\n\treturn len(entries) - 1\n}\n", false, nil)
	fork := b.answer(900, 420, 2100, text("## The cause\n\n`Resume` counts from **zero**, the test from *one*:\n\n```go\nfunc Resume(entries []Entry) int {\n\treturn len(entries) - 1 // the last one\n}\n```\n\nThere are two ways to mend it:\n\n| way | changes | risk |\n|---|--:|:-:|\n| `len(entries)` | 1 line | low |\n| a new type for positions | 14 lines | none |\n\n1. The first is what the test asks for.\n2. The second is better in the long run; see <https://go.dev/ref/spec#Index_expressions>.\n\n> A position is no count.\n\nWhich one?"))
	b.user("The first.")
	b.answer(300, 90, 3400, call("c3", "edit", fields{"path": "session/resume.go", "oldText": "len(entries) - 1", "newText": "len(entries)"}))
	b.result("c3", "edit", "Edited session/resume.go", false, fields{"diff": "  4  func Resume(entries []Entry) int {\n- 5  \treturn len(entries) - 1\n+ 5  \treturn len(entries)\n  6  }", "firstChangedLine": 5})
	b.add("usage", fields{"kind": "hook", "provider": "anthropic", "model": "claude-haiku", "note": "title", "usage": fields{"input": 400, "output": 12, "cost": fields{"total": 0.0005}}})
	b.answer(120, 60, 3800, call("c4", "bash", fields{"command": "go test ./session -run TestResume\ngo vet ./session"}))
	b.result("c4", "bash", "ok  \tpi/session\t0.031s\n", false, nil)
	b.answer(200, 40, 3900, text("The test passes now."))
	b.leaf = fork
	second := b.user("The second, and show me a picture of the result.")
	b.answer(350, 800, 3400, thought("A type `Position` then."), text("Here it is."), call("c5", "write", fields{"path": "session/position.go", "content": "package session\n\n// Position is the place of an entry.\ntype Position int\n\nfunc (p Position) Count() int { return int(p) + 1 }\n"}))
	b.result("c5", "write", "Wrote 5 lines to session/position.go", false, nil)
	b.add("message", fields{"message": fields{"role": "bashExecution", "command": "git diff --stat", "output": " session/position.go | 6 ++++++\n 1 file changed, 6 insertions(+)\n", "exitCode": 0, "cancelled": false, "truncated": false, "timestamp": 1}})
	b.add("custom_message", fields{"customType": "todo", "content": "Write a test for Position.", "display": true})
	b.add("custom", fields{"customType": "todo", "data": fields{"items": []string{"test", "docs"}, "open": 2}})
	b.add("compaction", fields{"summary": "### Goal\n\nMend `TestResume` with a type for positions.\n\n- `session/position.go` was written", "firstKeptEntryId": second, "tokensBefore": 124000})
	b.add("message", fields{"message": fields{"role": "user", "content": []fields{text("Is this the picture?"), {"type": "image", "data": pixels, "mimeType": "image/png"}}, "timestamp": 2}})
	b.answer(4000, 300, 0, text("Yes. What is left:\n\n- [x] the type\n- [ ] its test\n- [ ] the ~~word~~ name of the field"))
	last := b.user("Thanks. بسيط עברית 日本語 👩‍💻")
	b.add("message", fields{"message": fields{"role": "assistant", "content": []fields{}, "provider": "anthropic", "model": "claude-opus-4-6", "stopReason": "error", "errorMessage": "529 overloaded_error: try again later", "timestamp": 3}})
	b.add("label", fields{"targetId": last, "label": "good place"})
	b.add("session_info", fields{"name": "Mend TestResume"})
	return b
}

// large is a session of so many entries, of the kinds and lengths that coding has.
func large(n int) *builder {
	b := newBuilder()
	code := "func total(items []Item) (sum int) {\n\tfor _, i := range items { // each of them\n\t\tsum += i.Price * 100\n\t}\n\treturn sum, \"done\"\n}\n"
	for i := 0; b.n < n; i++ {
		b.user(fmt.Sprintf("Prompt %d: please look at file%d.go and tell me what the function total does, & whether it is right.", i, i))
		for j := 0; j < 4 && b.n < n; j++ {
			id := fmt.Sprintf("call_%d_%d", i, j)
			b.answer(500+i%900, 120, 20000+i%7000, thought("The file is the next thing to read.\nThen the test."), text("I will read the *file* and run `go test`."), call(id, "bash", fields{"command": fmt.Sprintf("sed -n %d,%dp file%d.go", j, j+40, i)}))
			b.result(id, "bash", strings.Repeat(code, 4)+"ok  \tpi/session\t0.031s <cached>\n", j == 3, nil)
		}
		b.answer(400, 500, 21000, text(fmt.Sprintf("## Answer %d\n\nIt adds up the prices. **Two** things are wrong:\n\n1. it returns a string\n2. it never checks `items`\n\n```go\n%s```\n\nSee https://go.dev/ref/spec for the rest.", i, code)))
	}
	return b
}

func TestAPageIsTitledAsTheSessionIsKnown(t *testing.T) {
	for _, c := range []struct {
		prompt, name, want string
	}{
		{"", "", "Session 0198c2f1-7a3e-7d4c-9b1a-2f6d8e0c4a55"},
		{"\n\nwhat <b> is it?\nmore", "", "what &lt;b&gt; is it?"},
		{"what is it?", "my\nwork", "my work"},
		{strings.Repeat("x", 200), "", strings.Repeat("x", mostTitle-1) + "…"},
	} {
		b := newBuilder()
		if c.prompt != "" {
			b.answer(1, 1, 0, text("first"))
			b.user(c.prompt)
		}
		if c.name != "" {
			b.add("session_info", fields{"name": c.name})
		}
		if html := written(t, b.session(t)); !strings.Contains(html, "<title>"+c.want+"</title>") || !strings.Contains(html, "<h1>"+c.want+"</h1>") {
			t.Errorf("no %q in %.900s", c.want, html[strings.Index(html, "</style>"):])
		}
	}
}
